// What state the machine is in: frequency, temperature, load, and who uses its processors.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_MACHINE_STATE_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_MACHINE_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// Each reads below `root`, which is in front of "/proc" and "/sys"; empty for this machine's own.

// What cannot be read, or is no number that can be, is left out. The frequency is that of the CPU the calling
// thread is on.
v1::MachineState ReadMachineState(const std::string& root = "");
// The same of a CPU, without the load. Cheap enough to be read while samples are taken: frequency and governor come from cpufreq alone.
v1::MachineState ReadCpuState(int cpu, const std::string& root = "");

// How often a CPU, and the package it is in, has throttled for heat since the machine started; 0 where that is not counted.
int64_t ReadThrottleCount(int cpu, const std::string& root = "");

// The files that say how far the processors are slowed down because of heat, on boards that count no throttling: the states of
// cpufreq's cooling devices. Sorted by the devices' numbers.
std::vector<std::string> FindProcessorCooling(const std::string& root = "");
// Whether one of them slows processors down at the moment.
bool IsCooling(absl::Span<const std::string> states);

// For how long the first thread of this process could have run while another one had the processor, since it began,
// nanoseconds. Unset where the system does not count it.
std::optional<int64_t> ReadWaitedNs(const std::string& root = "");

// Memory that this process holds, of pages that several share its part (PSS), bytes; 0 when unknown.
int64_t ReadProportionalBytes(const std::string& root = "");

// Time that processors have spent working since the machine started, and since this process did.
struct CpuTimes {
  int64_t machine_ns = 0;
  int64_t own_ns = 0;
  int processors = 0;
};

// Unset when /proc/stat is not readable. Of this process what the system says of it, whatever the root.
std::optional<CpuTimes> ReadCpuTimes(const std::string& root = "");

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
