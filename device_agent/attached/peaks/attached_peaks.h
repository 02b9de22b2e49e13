// What an attached device does at most, measured by a program that is sent there as any other.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_PEAKS_ATTACHED_PEAKS_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_PEAKS_ATTACHED_PEAKS_H_

#include "absl/status/statusor.h"
#include "core/runtime/device.h"
#include "core/target/machine_peaks.h"
#include "core/target/measure_machine.h"
#include "core/target/target.h"

namespace slipway {

// As MeasureMachine measures this machine's, by the device's clock. Takes some 0.5 s. UNIMPLEMENTED for a machine that this agent has no
// such program for; RESOURCE_EXHAUSTED where there is no memory to read; INTERNAL for a device whose clock stands still; its errors.
absl::StatusOr<MachinePeaks> MeasureAttachedPeaks(ComputeDevice& device,
                                                  const DeviceTarget& machine,
                                                  const CacheSizes& caches, int threads);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_PEAKS_ATTACHED_PEAKS_H_
