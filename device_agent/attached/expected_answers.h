// What a device may answer: it is held against what it was asked.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_EXPECTED_ANSWERS_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_EXPECTED_ANSWERS_H_

#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "device_agent/attached/attached.pb.h"
#include "device_agent/runner/runner.pb.h"

namespace slipway {

// Thread-safe.
class ExpectedAnswers {
 public:
  // A request that is about to be sent, whose data lies in the window.
  void Ask(const runner::Request& request, absl::Duration now);

  // Where in the window the data of a response belongs, which is the one to the oldest request. INVALID_ARGUMENT: nothing was
  // asked, or the request reads another number of bytes.
  absl::StatusOr<int64_t> Take(const attached::FromDevice& response, absl::Duration now);

  // The blob whose rest a device wants. INVALID_ARGUMENT: no request names it, or it has no such byte.
  absl::StatusOr<Digest> Give(const attached::FromDevice::Need::Rest& rest) const;

  // Waits until something is asked; returns since when it is waited for the oldest answer.
  absl::Duration AwaitAsked() const;

 private:
  struct Request {
    int64_t data_offset;
    int64_t read_bytes;
  };

  mutable absl::Mutex mutex_;
  std::deque<Request> asked_ ABSL_GUARDED_BY(mutex_);
  absl::Duration since_ ABSL_GUARDED_BY(mutex_);  // Of the oldest.
  absl::flat_hash_set<Digest> may_have_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_EXPECTED_ANSWERS_H_
