// AcceleratorWatch: the accelerators that a program uses, looked at while samples of it are taken.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_ACCELERATOR_WATCH_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_ACCELERATOR_WATCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/runtime/device.h"
#include "core/target/machine_peaks.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// What one tells.
struct AcceleratorReading {
  v1::AcceleratorState state;  // What is not told, and the memory, is left out.
  std::string counter;         // What its energy is told as (v1::EnergyCount): "gpu-0".
  std::optional<int64_t> microjoules =
      {};  // That it counts since some time; unset where it does not.
};

// Not thread-safe.
class AcceleratorWatch {
 public:
  virtual ~AcceleratorWatch() = default;
  // Always of as many, in the same order. It may take some milliseconds.
  virtual std::vector<AcceleratorReading> Read() = 0;
};

// How a machine's accelerators are looked at. A value; all are null where they are not a program's to use.
struct AcceleratorLooks {
  // Adds the states of all that tell.
  void (*add_states)(v1::MachineState& machine) = nullptr;
  // Those at these places (ComputeDevice::pci_address) that tell; null where none does.
  std::unique_ptr<AcceleratorWatch> (*watch)(absl::Span<const std::string> pci_addresses) = nullptr;
  // What the one of this number does at most, as its driver numbers them; also null where no kind of them is measured. FAILED_PRECONDITION where it is not there.
  absl::StatusOr<AcceleratorPeaks> (*measure)(int number) = nullptr;
};

// Those among a program's devices that tell; null where none does.
std::unique_ptr<AcceleratorWatch> WatchDevices(
    absl::Span<const std::shared_ptr<ComputeDevice>> devices, const AcceleratorLooks& looks);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_ACCELERATOR_WATCH_H_
