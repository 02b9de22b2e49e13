// StepTiming: what was measured of one step of a profiled call.
#ifndef SLIPWAY_CORE_RUNTIME_STEP_TIMING_H_
#define SLIPWAY_CORE_RUNTIME_STEP_TIMING_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace slipway {

// What one thread did in parallel loops. Times are nanoseconds from an origin that the recording has.
struct ThreadTiming {
  int64_t begin_ns = 0;  // Of its first task.
  int64_t end_ns = 0;    // Of its last.
  int64_t busy_ns = 0;   // Within tasks.
  int64_t tasks = 0;     // 0: the times mean nothing.
};

// Where threads write what they do, the caller of the loops first. Each writes its own element, and has written it when the loop
// returns.
struct ThreadRecording {
  int64_t origin_ns = 0;  // On the monotonic clock.
  absl::Span<ThreadTiming> threads;
};

// Of a step that is run several times in a call, the sum; its threads' times as if the runs followed each other without a pause.
struct StepTiming {
  int64_t duration_ns = 0;
  int64_t runs = 0;
  std::vector<ThreadTiming> threads;  // As many as kernels may run on; none with one.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_STEP_TIMING_H_
