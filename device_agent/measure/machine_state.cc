#include "device_agent/measure/machine_state.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"

namespace slipway {
namespace {

constexpr int64_t kMaxBytes = 1 << 20;
constexpr int kMaxThermalZones = 64;

std::string ReadText(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxBytes);
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
}

// 0 when it is no number.
int64_t ReadNumber(const std::string& path) {
  int64_t number = 0;
  return absl::SimpleAtoi(ReadText(path), &number) ? number : 0;
}

int64_t FrequencyHz(int cpu) {
  const int64_t khz =
      ReadNumber(absl::StrCat("/sys/devices/system/cpu/cpu", cpu, "/cpufreq/scaling_cur_freq"));
  if (khz > 0) return khz * 1000;
  // Virtual machines have no cpufreq, but x86 tells here.
  return ParseCpuInfo(ReadText("/proc/cpuinfo"), cpu);
}

int64_t HighestTemperature() {
  int64_t highest = 0;
  for (int i = 0; i < kMaxThermalZones; ++i) {
    const std::string text = ReadText(absl::StrCat("/sys/class/thermal/thermal_zone", i, "/temp"));
    if (text.empty()) break;
    int64_t temperature = 0;
    if (absl::SimpleAtoi(text, &temperature)) highest = std::max(highest, temperature);
  }
  return highest;
}

int64_t LoadMillis() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? static_cast<int64_t>(load * 1000) : 0;
}

}  // namespace

v1::MachineState ReadMachineState() {
  v1::MachineState state;
  const int cpu = std::max(0, sched_getcpu());
  state.set_cpu_frequency_hz(FrequencyHz(cpu));
  state.set_governor(
      ReadText(absl::StrCat("/sys/devices/system/cpu/cpu", cpu, "/cpufreq/scaling_governor")));
  state.set_temperature_millicelsius(HighestTemperature());
  state.set_load_millis(LoadMillis());
  return state;
}

int64_t ParseCpuInfo(absl::string_view text, int cpu) {
  int processor = -1;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ':');
    if (parts.size() != 2) continue;
    const absl::string_view key = absl::StripAsciiWhitespace(parts[0]);
    if (key == "processor" && !absl::SimpleAtoi(parts[1], &processor)) processor = -1;
    double mhz = 0;
    if (key == "cpu MHz" && processor == cpu && absl::SimpleAtod(parts[1], &mhz)) {
      return static_cast<int64_t>(mhz * 1e6);
    }
  }
  return 0;
}

bool ParseProcStat(absl::string_view text, int64_t& busy_ticks, int& processors) {
  busy_ticks = 0;
  processors = 0;
  bool has_total = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, "cpu")) break;
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (fields[0] != "cpu") {
      ++processors;
      continue;
    }
    // user nice system idle iowait irq softirq steal; what follows is contained in user.
    if (fields.size() < 5) return false;
    for (size_t i = 1; i < std::min<size_t>(fields.size(), 9); ++i) {
      int64_t ticks = 0;
      if (!absl::SimpleAtoi(fields[i], &ticks)) return false;
      if (i != 4 && i != 5) busy_ticks += ticks;
    }
    has_total = true;
  }
  return has_total && processors > 0;
}

std::optional<CpuTimes> ReadCpuTimes() {
  CpuTimes times;
  int64_t ticks = 0;
  const absl::StatusOr<std::string> text = ReadFile("/proc/stat", kMaxBytes);
  if (!text.ok() || !ParseProcStat(*text, ticks, times.processors)) return std::nullopt;
  times.machine_ns = ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK));
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
    times.own_ns += int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_usec} * 1000;
  }
  return times;
}

int64_t ForeignShareMillis(const CpuTimes& before, const CpuTimes& after, int64_t wall_ns) {
  const int64_t foreign = (after.machine_ns - before.machine_ns) - (after.own_ns - before.own_ns);
  const int64_t all = wall_ns * after.processors;
  if (all <= 0) return 0;
  return std::clamp<int64_t>(foreign * 1000 / all, 0, 1000);
}

}  // namespace slipway
