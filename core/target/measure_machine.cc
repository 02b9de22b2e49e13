#include "core/target/measure_machine.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "core/base/files.h"
#include "core/target/arithmetic_peaks.h"
#include "core/target/machine_description.h"
#include "core/target/memory_reading.h"
#include "core/target/target.h"

namespace slipway {
namespace {

// Of which the best of many short ones is taken, and then the best of the rounds.
constexpr absl::Duration kEach = absl::Milliseconds(5);
constexpr int kRounds = 3;

// Several times what the largest cache holds, within reason.
constexpr int64_t kLeastOfMemory = 32 << 20;
constexpr int64_t kMostOfMemory = 128 << 20;

constexpr int kMostProcessors = 1 << 16;

// The one line of a file; empty where there is none.
std::string LineOf(const std::string& folder, int index, const char* name) {
  const absl::StatusOr<std::string> text =
      ReadFile(absl::StrCat(folder, "/index", index, "/", name), 4096);
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
}

// "512K"; 0 for anything else.
int64_t ParseSize(absl::string_view text) {
  int64_t kib = 0;
  return absl::ConsumeSuffix(&text, "K") && absl::SimpleAtoi(text, &kib) && kib > 0 &&
                 kib < int64_t{1} << 40
             ? kib * 1024
             : 0;
}

// How many are in a list like "0-3,8"; 1 for what is none.
int CountProcessors(absl::string_view list) {
  int count = 0;
  for (const absl::string_view part : absl::StrSplit(list, ',')) {
    const std::vector<absl::string_view> ends = absl::StrSplit(part, '-');
    int first = 0;
    int last = 0;
    if (!absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last) ||
        first < 0 || last < first || last > kMostProcessors) {
      return 1;
    }
    count += last - first + 1;
  }
  return std::clamp(count, 1, kMostProcessors);
}

}  // namespace

CacheSizes CachesOf(const DeviceTarget& machine, const std::string& folder) {
  const MachineDescription least = DescribeMachine(machine);
  CacheSizes caches = {.l1 = {least.l1_bytes}, .l2 = {least.l2_bytes}, .l3 = {}};
  for (int i = 0; i < 8; ++i) {
    if (LineOf(folder, i, "type") == "Instruction") continue;
    const CacheSize cache = {ParseSize(LineOf(folder, i, "size")),
                             CountProcessors(LineOf(folder, i, "shared_cpu_list"))};
    if (cache.bytes == 0) continue;
    const std::string level = LineOf(folder, i, "level");
    if (level == "1") caches.l1 = cache;
    if (level == "2") caches.l2 = cache;
    if (level == "3") caches.l3 = cache;
  }
  return caches;
}

CacheSizes HostCaches() {
  return CachesOf(HostTarget().host(), "/sys/devices/system/cpu/cpu0/cache");
}

std::vector<MeasuredLevel> LevelsFor(const CacheSizes& caches, int threads) {
  const std::pair<const char*, CacheSize> all[] = {
      {"L1", caches.l1}, {"L2", caches.l2}, {"L3", caches.l3}};
  std::vector<MeasuredLevel> levels;
  int64_t below = 0;
  for (const auto& [name, cache] : all) {
    const int64_t bytes = cache.bytes * ((threads + cache.processors - 1) / cache.processors);
    // Half of it, as other data goes through it too: that must not fit below.
    if (bytes / 2 <= below) continue;
    levels.push_back({{name, bytes}, bytes / 2});
    below = bytes;
  }
  const int64_t most = std::max(kMostOfMemory, 2 * below);
  levels.push_back({{"memory", 0}, std::clamp(4 * below, kLeastOfMemory, most)});
  return levels;
}

MachinePeaks MeasureMachine(int threads, const Clock& clock) {
  MachinePeaks peaks{.threads = threads};
  for (const std::string& type : MeasuredTypes()) peaks.arithmetic.push_back({type});
  const std::vector<MeasuredLevel> levels = LevelsFor(HostCaches(), threads);
  for (const MeasuredLevel& level : levels) peaks.reading.push_back(level.level);
  for (int round = 0; round < kRounds; ++round) {
    for (ArithmeticPeak& peak : peaks.arithmetic) {
      const double rate = MeasureArithmetic(peak.type, threads, clock, kEach);
      peak.operations_per_second = std::max(peak.operations_per_second, rate);
    }
    for (size_t i = 0; i < levels.size(); ++i) {
      const absl::Duration time = MeasureReading(levels[i].read_bytes, threads, clock, kEach);
      const double rate = static_cast<double>(levels[i].read_bytes) / absl::ToDoubleSeconds(time);
      double& best = peaks.reading[i].bytes_per_second;
      best = std::max(best, rate);
    }
  }
  return peaks;
}

}  // namespace slipway
