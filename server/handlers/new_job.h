// What accepting a job of any kind has in common.
#ifndef SLIPWAY_SERVER_HANDLERS_NEW_JOB_H_
#define SLIPWAY_SERVER_HANDLERS_NEW_JOB_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "core/base/digest.h"
#include "core/base/tag.h"
#include "core/wire/tag_proto.h"
#include "server/caller.h"
#include "server/handlers/environment.h"
#include "server/jobs/job_record.pb.h"

namespace slipway::server {

// What a request says of its job, besides the work.
struct JobRequest {
  std::string request_id;
  std::string work_digest;  // Of everything else in the request.
  int64_t queue_deadline_ns = 0;
  int64_t run_deadline_ns = 0;
  int64_t total_deadline_ns = 0;
  int32_t priority = 0;
  std::vector<Tag> tags;  // Sorted by key.
};

// From a request of any kind. INVALID_ARGUMENT for a request_id that is missing or malformed, for deadlines
// or a priority out of range, and for what CheckTags refuses; PERMISSION_DENIED for a priority above what the caller may ask
// for.
template <typename Request>
absl::StatusOr<JobRequest> ReadJobRequest(const Caller& caller, const Environment& env,
                                          const Request& request);

// The id of the job this request made before, if any; ALREADY_EXISTS when it asked for other work. It needs no
// blob any more, so this comes before every check that does. RESOURCE_EXHAUSTED when it made none, and memory is short.
absl::StatusOr<absl::optional<std::string>> FindEarlier(const Caller& caller,
                                                        const Environment& env,
                                                        const JobRequest& request);

// A record with everything but the specification and facts. What the job is about is shortened to what lists show of it.
JobRecord NewRecord(const Caller& caller, const Environment& env, const JobRequest& request,
                    absl::string_view subject, absl::Span<const Digest> blobs);

// At most kMaxSubjectBytes of `text`, in which spaces stand for control characters; what was left out is "...". REQUIRES: IsUtf8(text).
std::string ShortSubject(absl::string_view text);

absl::Status CheckJobRequest(const Caller& caller, const Environment& env,
                             const JobRequest& request);
std::string WorkDigest(absl::string_view kind, std::string serialized);

template <typename Request>
absl::StatusOr<JobRequest> ReadJobRequest(const Caller& caller, const Environment& env,
                                          const Request& request) {
  Request work = request;
  work.clear_request_id();
  JobRequest read{
      .request_id = request.request_id(),
      .work_digest = WorkDigest(Request::descriptor()->name(), work.SerializeAsString()),
      .queue_deadline_ns = request.queue_deadline_ns(),
      .run_deadline_ns = request.run_deadline_ns(),
      .total_deadline_ns = request.total_deadline_ns(),
      .priority = request.priority()};
  absl::Status status = CheckJobRequest(caller, env, read);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<Tag>> tags = FromProto(request.tags());
  if (!tags.ok()) return tags.status();
  read.tags = *std::move(tags);
  return read;
}

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_NEW_JOB_H_
