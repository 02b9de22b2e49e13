// The NVIDIA GPUs of this machine, as libnvidia-ml.so.1 tells, which comes with their driver: what each is, and what state it is in.
#ifndef SLIPWAY_DEVICE_AGENT_ACCELERATORS_NVML_H_
#define SLIPWAY_DEVICE_AGENT_ACCELERATORS_NVML_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace slipway {

struct GpuState {
  int index = 0;  // Its place in the machine.
  std::string name;
  std::string driver;  // Its version.
  int capability = 0;  // 90 for 9.0.
  int64_t memory_bytes = 0;
  int64_t memory_free_bytes = 0;
  // Unset where the GPU does not tell.
  std::optional<int> sm_clock_mhz;
  std::optional<int> memory_clock_mhz;
  std::optional<int> power_milliwatts;
  std::optional<int64_t> energy_millijoules;  // That it has taken since its driver was loaded.
  std::optional<int> temperature_celsius;
  // By heat, or by what it may draw.
  std::optional<bool> is_slowed_down;
};

// In the order of their places in the machine. Loads the vendor's library: for a process that may crash. FAILED_PRECONDITION says
// what is not there.
absl::StatusOr<std::vector<GpuState>> ReadGpus();

// Some GPUs, looked at again and again. Not thread-safe.
class GpuWatch {
 public:
  virtual ~GpuWatch() = default;
  // Each as it is now, always in the same order; what does not change, and its memory, as it was in the beginning. It is some calls of the
  // library for each, of which some may take milliseconds.
  virtual std::vector<GpuState> Read() = 0;
};

// Those at these places of the PCI bus ("0000:3b:00.0") that the library knows. Loads the vendor's library: for a process that may crash.
// FAILED_PRECONDITION says what is not there; of no place it knows one.
absl::StatusOr<std::unique_ptr<GpuWatch>> WatchGpus(absl::Span<const std::string> pci_addresses);

// "NVIDIA H100, sm90, 79.6 GiB, driver 550.54": what does not change while an agent runs.
std::string DescribeGpu(const GpuState& gpu);
// "76.1 GiB free, SM 1980 MHz, memory 2619 MHz, 71.3 W, 34 °C, slowed down", of what it tells.
std::string DescribeGpuState(const GpuState& gpu);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ACCELERATORS_NVML_H_
