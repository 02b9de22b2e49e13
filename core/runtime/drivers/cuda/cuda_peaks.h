// Measures what a GPU does at most, by loops of our own (peak_loops.h) and the driver's events.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_PEAKS_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_PEAKS_H_

#include "absl/status/statusor.h"
#include "core/base/clock.h"
#include "core/target/machine_peaks.h"

namespace slipway {

// Of the device that MakeCudaDriver numbers so: "f32", and what its tensor cores multiply; reading from its L2, where it tells how large that is, and from
// its memory, of which it takes an eighth at most; copies from and to page-locked memory of the host. Each is the best of several rounds of some milliseconds,
// in which all take turns, since a GPU needs a while to raise its clocks; all together take less than a second. Errors of the driver; a loop that the driver is too old for is left out.
absl::StatusOr<AcceleratorPeaks> MeasureCudaPeaks(int ordinal, const Clock& clock);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_PEAKS_H_
