#include "device_agent/accelerators/accelerator_states.h"

#include <vector>

#include "absl/status/statusor.h"
#include "device_agent/accelerators/nvml.h"

namespace slipway {

void AddAcceleratorStates(v1::MachineState& machine) {
  const absl::StatusOr<std::vector<GpuState>> gpus = ReadGpus();
  if (!gpus.ok()) return;
  for (const GpuState& gpu : *gpus) {
    v1::AcceleratorState& state = *machine.add_accelerators();
    state.set_name(gpu.name);
    state.set_clock_hz(int64_t{gpu.sm_clock_mhz.value_or(0)} * 1'000'000);
    state.set_memory_clock_hz(int64_t{gpu.memory_clock_mhz.value_or(0)} * 1'000'000);
    state.set_power_milliwatts(gpu.power_milliwatts.value_or(0));
    state.set_temperature_millicelsius(int64_t{gpu.temperature_celsius.value_or(0)} * 1000);
    state.set_memory_free_bytes(gpu.memory_free_bytes);
    state.set_throttled(gpu.is_slowed_down.value_or(false));
  }
}

}  // namespace slipway
