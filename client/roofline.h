// How far the steps of a program are from what their device does at most.
#ifndef SLIPWAY_CLIENT_ROOFLINE_H_
#define SLIPWAY_CLIENT_ROOFLINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/types.h"

namespace slipway {

// The least time that a step's work takes: all of its operations at the device's peak or all of its bytes at the rate of
// where they lie, whichever takes longer; a copy between host and accelerator at the rate of these.
struct StepLimit {
  double ns = 0;
  // Which of the two: the type of the operations, "f32", or the level that most of the time of the bytes goes to, "L2",
  // "memory"; or "from host", "to host".
  std::string what;
};

struct Roofline {
  // One for each step, unset where its work is not known.
  std::vector<std::optional<StepLimit>> steps;
  // Of the steps that are set: all limits, and all times. 0 where none is.
  double limit_ns = 0;
  double measured_ns = 0;
};

// What a device does with so many threads: as measured, or between the two numbers of threads that were, in proportion; of
// more threads than were, what the most do. REQUIRES: `peaks` is not empty, threads are at least 1.
MachinePeaks PeaksOn(absl::Span<const MachinePeaks> peaks, int threads);

// Where data of a step lies: what it reads and writes while it runs at the smallest level that holds all of that, but
// constants, which were last read a call ago, at the smallest level that holds the constants of all steps and the data of the
// largest one. No step has a limit where `peaks` is empty or `threads` 0. Products count by the model's operators, so that a
// convolution by transformed tiles may be faster than its limit. They are held against the peak of what they multiply, bf16 or
// bytes, or what it is rounded to, tf32 or f16; against f32's where that was not measured, and of any other type. A step of an accelerator is held against
// that one's peaks, its data lying in L2 or memory by the same rule, among the steps of that accelerator alone; without peaks of it it has no limit.
Roofline FindLimits(absl::Span<const StepTime> steps, absl::Span<const MachinePeaks> peaks,
                    int threads, absl::Span<const AcceleratorPeaks> accelerators = {});

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_ROOFLINE_H_
