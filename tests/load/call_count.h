// CallCount: calls under way, for whose end the end of who made them waits.
#ifndef SLIPWAY_TESTS_LOAD_CALL_COUNT_H_
#define SLIPWAY_TESTS_LOAD_CALL_COUNT_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace slipway::testing {

// Thread-safe.
class CallCount {
 public:
  void Begin() {
    absl::MutexLock lock(&mutex_);
    ++count_;
  }
  // The last that a call does with what may be destroyed then.
  void End() {
    absl::MutexLock lock(&mutex_);
    --count_;
  }
  void AwaitNone() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](int64_t* count) { return *count == 0; }, &count_));
  }

 private:
  absl::Mutex mutex_;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_CALL_COUNT_H_
