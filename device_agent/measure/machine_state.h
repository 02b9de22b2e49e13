// What state the machine is in: frequency, temperature, load, and who uses its processors.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_MACHINE_STATE_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_MACHINE_STATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// From /proc and /sys; what cannot be read is left out. The frequency is that of the CPU the calling
// thread is on.
v1::MachineState ReadMachineState();

// Time that processors have spent working since the machine started, and since this process did.
struct CpuTimes {
  int64_t machine_ns = 0;
  int64_t own_ns = 0;
  int processors = 0;
};

// Unset when /proc/stat is not readable.
std::optional<CpuTimes> ReadCpuTimes();

// The frequency of a CPU in Hz from /proc/cpuinfo; 0 when that does not tell it.
int64_t ParseCpuInfo(absl::string_view text, int cpu);

// Parses /proc/stat: busy time (all but idle and waiting for disks) in ticks, and the number of
// processors. False when it is not in that form.
bool ParseProcStat(absl::string_view text, int64_t& busy_ticks, int& processors);

// Share of all processors' time that other processes took from `before` to `after`, `wall_ns` apart,
// in thousandths, 0 to 1000.
int64_t ForeignShareMillis(const CpuTimes& before, const CpuTimes& after, int64_t wall_ns);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_MACHINE_STATE_H_
