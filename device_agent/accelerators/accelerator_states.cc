#include "device_agent/accelerators/accelerator_states.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "device_agent/accelerators/nvml.h"

namespace slipway {
namespace {

// Without its memory.
v1::AcceleratorState StateOf(const GpuState& gpu) {
  v1::AcceleratorState state;
  state.set_name(gpu.name);
  state.set_clock_hz(int64_t{gpu.sm_clock_mhz.value_or(0)} * 1'000'000);
  state.set_memory_clock_hz(int64_t{gpu.memory_clock_mhz.value_or(0)} * 1'000'000);
  state.set_power_milliwatts(gpu.power_milliwatts.value_or(0));
  state.set_temperature_millicelsius(int64_t{gpu.temperature_celsius.value_or(0)} * 1000);
  state.set_throttled(gpu.is_slowed_down.value_or(false));
  return state;
}

class NvmlWatch final : public AcceleratorWatch {
 public:
  explicit NvmlWatch(std::unique_ptr<GpuWatch> gpus) : gpus_(std::move(gpus)) {}

  std::vector<AcceleratorReading> Read() override {
    std::vector<AcceleratorReading> readings;
    for (const GpuState& gpu : gpus_->Read()) {
      readings.push_back({.state = StateOf(gpu), .counter = absl::StrCat("gpu-", gpu.index)});
      // Nobody believes more of a counter.
      constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 1000;
      if (gpu.energy_millijoules.value_or(kMost) < kMost) {
        readings.back().microjoules = *gpu.energy_millijoules * 1000;
      }
    }
    return readings;
  }

 private:
  const std::unique_ptr<GpuWatch> gpus_;
};

}  // namespace

void AddAcceleratorStates(v1::MachineState& machine) {
  const absl::StatusOr<std::vector<GpuState>> gpus = ReadGpus();
  if (!gpus.ok()) return;
  for (const GpuState& gpu : *gpus) {
    v1::AcceleratorState& state = *machine.add_accelerators();
    state = StateOf(gpu);
    state.set_memory_free_bytes(gpu.memory_free_bytes);
  }
}

std::unique_ptr<AcceleratorWatch> WatchAccelerators(absl::Span<const std::string> pci_addresses) {
  absl::StatusOr<std::unique_ptr<GpuWatch>> gpus = WatchGpus(pci_addresses);
  if (!gpus.ok()) return nullptr;
  return std::make_unique<NvmlWatch>(*std::move(gpus));
}

}  // namespace slipway
