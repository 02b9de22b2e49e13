// How long a step takes by a program's own launches and by a vendor's library, on the device that the program is loaded on.
#ifndef SLIPWAY_CORE_RUNTIME_MEASURE_STEP_H_
#define SLIPWAY_CORE_RUNTIME_MEASURE_STEP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/artifact/vendor_step.h"
#include "core/runtime/library_choice.h"
#include "core/runtime/resident_program.h"
#include "core/runtime/vendor_library.h"

namespace slipway {

// Runs the launches and each way in turns, with numbers of its own in place of what a call would bring, and takes the smallest time of each, by the device's
// clock. A way that fails, or whose result is another one, has none, and is a warning in the log. RESOURCE_EXHAUSTED where there is no memory for the tensors;
// errors of the program's launches; UNIMPLEMENTED where the device has no clock or the launches no fixed sizes. REQUIRES: the program's code and constants are
// loaded, and no work of it is queued.
absl::StatusOr<StepTimes> MeasureStep(const ResidentProgram& program, const VendorStep& step,
                                      absl::Span<const std::unique_ptr<LibraryWay>> ways);

// The descriptors that a step is prepared with.
class ValueTable;
LibraryArguments ArgumentsOf(const VendorStep& step, ValueTable& values);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_MEASURE_STEP_H_
