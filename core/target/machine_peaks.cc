#include "core/target/machine_peaks.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/files.h"
#include "core/target/arithmetic_peaks.h"
#include "core/target/machine_description.h"
#include "core/target/memory_reading.h"
#include "core/target/target.h"

namespace slipway {
namespace {

// Of which the best of many short ones is taken.
constexpr absl::Duration kEach = absl::Milliseconds(15);

// Several times what the largest cache holds, within reason.
constexpr int64_t kLeastOfMemory = 32 << 20;
constexpr int64_t kMostOfMemory = 128 << 20;

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

}  // namespace

CacheSizes HostCaches(const std::string& folder) {
  const MachineDescription least = DescribeMachine(HostTarget().host());
  CacheSizes caches = {.l1_bytes = least.l1_bytes, .l2_bytes = least.l2_bytes};
  for (int i = 0; i < 8; ++i) {
    if (LineOf(folder, i, "type") == "Instruction") continue;
    const int64_t bytes = ParseSize(LineOf(folder, i, "size"));
    if (bytes == 0) continue;
    const std::string level = LineOf(folder, i, "level");
    if (level == "1") caches.l1_bytes = bytes;
    if (level == "2") caches.l2_bytes = bytes;
    if (level == "3") caches.l3_bytes = bytes;
  }
  return caches;
}

std::vector<MeasuredLevel> LevelsFor(const CacheSizes& caches, int threads) {
  const std::pair<const char*, int64_t> all[] = {{"L1", caches.l1_bytes * threads},
                                                 {"L2", caches.l2_bytes * threads},
                                                 {"L3", caches.l3_bytes}};
  std::vector<MeasuredLevel> levels;
  int64_t below = 0;
  for (const auto& [name, bytes] : all) {
    // Half of it, as other data goes through it too: that must not fit below.
    if (bytes / 2 <= below) continue;
    levels.push_back({{name, bytes}, bytes / 2});
    below = bytes;
  }
  levels.push_back({{"memory", 0}, std::clamp(4 * below, kLeastOfMemory, kMostOfMemory)});
  return levels;
}

MachinePeaks MeasureMachine(int threads, const Clock& clock) {
  MachinePeaks peaks{.threads = threads};
  for (const std::string& type : MeasuredTypes()) {
    peaks.arithmetic.push_back({type, MeasureArithmetic(type, threads, clock, kEach)});
  }
  for (MeasuredLevel& level : LevelsFor(HostCaches(), threads)) {
    const absl::Duration time = MeasureReading(level.read_bytes, threads, clock, kEach);
    level.level.bytes_per_second =
        static_cast<double>(level.read_bytes) / absl::ToDoubleSeconds(time);
    peaks.reading.push_back(std::move(level.level));
  }
  return peaks;
}

}  // namespace slipway
