// LogLines: what a process writes, as whole lines that wait until somebody takes them.
//
// Bounded: what comes while enough waits is dropped, and a line says how much.
#ifndef SLIPWAY_CORE_BASE_LOG_LINES_H_
#define SLIPWAY_CORE_BASE_LOG_LINES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace slipway {

// Thread-safe.
class LogLines {
 public:
  // A longer line becomes several.
  static constexpr size_t kMaxLineBytes = 4 << 10;

  // At most `max_bytes` wait.
  explicit LogLines(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Whether there is something to take now where there was nothing.
  bool Add(absl::string_view text);
  // Ends the line that is not ended, if there is one: nobody will. The same.
  bool EndLine();

  bool is_empty() const;
  // All that waits, in the order in which it came; bytes that are no UTF-8 become "?".
  std::string Take();

 private:
  bool HasNone() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return lines_.empty() && dropped_ == 0;
  }
  void FinishLine() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t max_bytes_;
  mutable absl::Mutex mutex_;
  std::string lines_ ABSL_GUARDED_BY(mutex_);
  std::string begun_ ABSL_GUARDED_BY(mutex_);  // The last line, not ended yet.
  int64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_LOG_LINES_H_
