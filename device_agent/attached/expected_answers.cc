#include "device_agent/attached/expected_answers.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"
#include "device_agent/attached/blobs_of_request.h"

namespace slipway {

void ExpectedAnswers::Ask(const runner::Request& request, absl::Duration now) {
  absl::MutexLock lock(&mutex_);
  for (Digest& digest : BlobsOf(request)) may_have_.insert(std::move(digest));
  if (asked_.empty()) since_ = now;
  asked_.push_back(
      {request.data_offset(), request.operation().has_read() ? request.data_size() : 0});
}

absl::StatusOr<int64_t> ExpectedAnswers::Take(const attached::FromDevice& response,
                                              absl::Duration now) {
  absl::MutexLock lock(&mutex_);
  if (asked_.empty()) return absl::InvalidArgumentError("a response to nothing");
  const Request request = asked_.front();
  asked_.pop_front();
  since_ = now;
  const int64_t wanted = response.response().result().code() == 0 ? request.read_bytes : 0;
  if (static_cast<int64_t>(response.data().size()) != wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("a response with ", response.data().size(), " bytes, not ", wanted));
  }
  return request.data_offset;
}

absl::StatusOr<Digest> ExpectedAnswers::Give(const attached::FromDevice::Need::Rest& rest) const {
  SLIPWAY_ASSIGN_OR_RETURN(Digest digest, FromProto(rest.blob()));
  absl::MutexLock lock(&mutex_);
  if (!may_have_.contains(digest)) {
    return absl::InvalidArgumentError("it wants a blob that nothing it was sent names");
  }
  if (rest.offset() < 0 || rest.offset() > digest.size_bytes()) {
    return absl::InvalidArgumentError("it wants bytes that a blob does not have");
  }
  return digest;
}

absl::Duration ExpectedAnswers::AwaitAsked() const {
  absl::MutexLock lock(&mutex_);
  const auto is_asked = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !asked_.empty(); };
  mutex_.Await(absl::Condition(&is_asked));
  return since_;
}

}  // namespace slipway
