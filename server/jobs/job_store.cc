#include "server/jobs/job_store.h"

#include "absl/strings/str_cat.h"

namespace slipway::server {

EndedJob EndedJobOf(const JobRecord& record) {
  return {.owner = record.job().owner(),
          .held_kind = HeldKindOf(record),
          .held = absl::Nanoseconds(record.held_ns()),
          .end = absl::FromUnixNanos(record.job().end_time_ns())};
}

absl::Status NoSuchJob(absl::string_view id) {
  return absl::NotFoundError(absl::StrCat("no job '", id,
                                          "': it was never accepted, or it ended so long "
                                          "ago that it has been forgotten"));
}

absl::Status ChangedMeanwhile(absl::string_view id) {
  return absl::AbortedError(absl::StrCat("job '", id, "' has changed meanwhile"));
}

absl::Status CheckSameWork(const JobRecord& earlier, absl::string_view work_digest) {
  if (earlier.work_digest() == work_digest) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("request_id '", earlier.job().request_id(),
                                               "' was used for different work, job '",
                                               earlier.job().id(), "': choose another"));
}

}  // namespace slipway::server
