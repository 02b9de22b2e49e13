// WorkPool: the threads on which calls are handled, so that none of gRPC's ever waits for a disk.
#ifndef SLIPWAY_SERVER_WORK_POOL_H_
#define SLIPWAY_SERVER_WORK_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace slipway::server {

// Thread-safe.
class WorkPool {
 public:
  WorkPool(int threads, size_t max_waiting);
  // Runs what was posted to its end.
  ~WorkPool();

  // Runs `work` on one of the threads. False, without running it, when too much waits already.
  bool TryPost(std::function<void()> work);
  // The same without a bound: for the continuation of a call that was let in.
  void Post(std::function<void()> work);

  // How much waits for a thread.
  int64_t waiting() const;

 private:
  void Loop();
  bool HasWorkOrEnds() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return !waiting_.empty() || ends_;
  }

  const size_t max_waiting_;
  mutable absl::Mutex mu_;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
  bool ends_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_WORK_POOL_H_
