#include "device_agent/measure/machine_state.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device_agent/measure/machine_files.h"

namespace slipway {
namespace {

constexpr int kMaxThermalZones = 64;
constexpr int kMaxCoolingDevices = 64;
// What no sensor that works says, thousandths of a degree Celsius.
constexpr int64_t kColdest = -100'000;
constexpr int64_t kHottest = 300'000;
constexpr int64_t kHighestFrequencyHz = 100'000'000'000;

std::string CpuFolder(const std::string& root, int cpu) {
  return absl::StrCat(root, "/sys/devices/system/cpu/cpu", cpu);
}

// 0 when it is no number, or none that can be.
int64_t ScalingFrequencyHz(const std::string& root, int cpu) {
  const int64_t khz =
      ReadMachineNumber(CpuFolder(root, cpu) + "/cpufreq/scaling_cur_freq").value_or(0);
  return khz > 0 && khz <= kHighestFrequencyHz / 1000 ? khz * 1000 : 0;
}

int64_t HighestTemperature(const std::string& root) {
  int64_t highest = 0;
  for (int i = 0; i < kMaxThermalZones; ++i) {
    const std::string path = absl::StrCat(root, "/sys/class/thermal/thermal_zone", i, "/temp");
    const absl::StatusOr<int64_t> temperature = ReadMachineNumber(path);
    if (absl::IsNotFound(temperature.status())) break;
    if (temperature.ok() && *temperature >= kColdest && *temperature <= kHottest) {
      highest = std::max(highest, *temperature);
    }
  }
  return highest;
}

int64_t LoadMillis() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? static_cast<int64_t>(load * 1000) : 0;
}

}  // namespace

v1::MachineState ReadCpuState(int cpu, const std::string& root) {
  v1::MachineState state;
  state.set_cpu_frequency_hz(ScalingFrequencyHz(root, cpu));
  state.set_governor(ReadMachineText(CpuFolder(root, cpu) + "/cpufreq/scaling_governor"));
  state.set_temperature_millicelsius(HighestTemperature(root));
  return state;
}

v1::MachineState ReadMachineState(const std::string& root) {
  const int cpu = std::max(0, sched_getcpu());
  v1::MachineState state = ReadCpuState(cpu, root);
  if (state.cpu_frequency_hz() == 0) {
    // Virtual machines have no cpufreq, but x86 tells here.
    state.set_cpu_frequency_hz(ParseCpuInfo(ReadMachineText(root + "/proc/cpuinfo"), cpu));
  }
  state.set_load_millis(LoadMillis());
  return state;
}

int64_t ReadThrottleCount(int cpu, const std::string& root) {
  int64_t count = 0;
  for (const char* what : {"core", "package"}) {
    const std::string path =
        absl::StrCat(CpuFolder(root, cpu), "/thermal_throttle/", what, "_throttle_count");
    count += std::clamp<int64_t>(ReadMachineNumber(path).value_or(0), 0, INT64_MAX / 4);
  }
  return count;
}

std::vector<std::string> FindProcessorCooling(const std::string& root) {
  std::vector<std::string> states;
  for (int i = 0; i < kMaxCoolingDevices; ++i) {
    const std::string device = absl::StrCat(root, "/sys/class/thermal/cooling_device", i);
    // "thermal-cpufreq-0" of older kernels, "cpufreq-cpu0" of newer ones.
    if (absl::StrContains(ReadMachineText(device + "/type"), "cpufreq")) {
      states.push_back(device + "/cur_state");
    }
  }
  return states;
}

bool IsCooling(absl::Span<const std::string> states) {
  return std::any_of(states.begin(), states.end(), [](const std::string& state) {
    return ReadMachineNumber(state).value_or(0) > 0;
  });
}

std::optional<int64_t> ReadWaitedNs(const std::string& root) {
  // Time on a processor, time waiting for one, and how often it was given one.
  const std::string text = ReadMachineText(root + "/proc/self/schedstat");
  const std::vector<absl::string_view> numbers = absl::StrSplit(text, ' ');
  int64_t waited = 0;
  if (numbers.size() != 3 || !absl::SimpleAtoi(numbers[1], &waited) || waited < 0) {
    return std::nullopt;
  }
  return waited;
}

int64_t ReadProportionalBytes(const std::string& root) {
  const std::string text = ReadMachineText(root + "/proc/self/smaps_rollup");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    int64_t kibibytes = 0;
    if (!absl::ConsumePrefix(&line, "Pss:") || !absl::ConsumeSuffix(&line, "kB")) continue;
    if (!absl::SimpleAtoi(line, &kibibytes) || kibibytes < 0 || kibibytes > INT64_MAX / 1024) {
      return 0;
    }
    return kibibytes * 1024;
  }
  return 0;
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

std::optional<CpuTimes> ReadCpuTimes(const std::string& root) {
  CpuTimes times;
  int64_t ticks = 0;
  if (!ParseProcStat(ReadMachineText(root + "/proc/stat"), ticks, times.processors)) {
    return std::nullopt;
  }
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
