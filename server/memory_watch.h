// MemoryWatch: how much of the memory that it may have the server's process has, and what it does not begin any more therefore. Every single
// thing that callers make it hold is bounded; this bounds the sum, and what nobody has thought of.
#ifndef SLIPWAY_SERVER_MEMORY_WATCH_H_
#define SLIPWAY_SERVER_MEMORY_WATCH_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "server/limits.h"

namespace slipway::server {

// Thread-safe.
class MemoryWatch {
 public:
  struct Parts {
    std::function<int64_t()> read;    // Bytes that the process has.
    std::function<void()> give_back;  // Gives what was freed back to the system.
    const Clock* clock = nullptr;
  };
  MemoryWatch(int64_t limit_bytes, Parts parts) : limit_(limit_bytes), parts_(std::move(parts)) {}

  // Whether work may be begun that nobody has yet: jobs, transfers into the server. RESOURCE_EXHAUSTED above kSoftMemoryShare of the limit.
  // What is under way goes on, and so do agents and workers.
  absl::Status MayBegin() { return Share() < kSoftMemoryShare ? absl::OkStatus() : Refusal(); }
  // Whether another connection may be taken: below the limit.
  bool MayConnect() { return Share() < 1; }

  // What the process has now, and may have, bytes.
  int64_t bytes() const { return parts_.read(); }
  int64_t limit_bytes() const { return limit_; }

 private:
  // What it has of the limit; as it was kMemoryReadEvery ago at most.
  double Share();
  absl::Status Refusal() const;

  const int64_t limit_;
  const Parts parts_;
  absl::Mutex mu_;
  double share_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Duration read_next_ ABSL_GUARDED_BY(mu_) = -absl::InfiniteDuration();
  absl::Duration give_back_next_ ABSL_GUARDED_BY(mu_) = -absl::InfiniteDuration();
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_MEMORY_WATCH_H_
