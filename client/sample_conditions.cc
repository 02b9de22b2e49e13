#include "client/sample_conditions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

int64_t HighestFrequency(const BenchmarkResult& result) {
  int64_t highest = 0;
  for (const SampleStamp& stamp : result.stamps) {
    highest = std::max(highest, stamp.cpu_frequency_hz);
  }
  return highest;
}

bool IsThrottled(const SampleStamp& stamp, int64_t highest_hz) {
  return stamp.throttled ||
         (stamp.cpu_frequency_hz > 0 && stamp.cpu_frequency_hz < highest_hz - highest_hz / 10);
}

// Where 0 is unknown.
void Extend(int64_t value, int64_t& least, int64_t& most) {
  if (value == 0) return;
  least = least == 0 ? value : std::min(least, value);
  most = std::max(most, value);
}

}  // namespace

SampleConditions ConditionsOf(const BenchmarkResult& result) {
  SampleConditions conditions;
  const int64_t highest_hz = HighestFrequency(result);
  for (const SampleStamp& stamp : result.stamps) {
    conditions.samples += stamp.samples;
    if (stamp.disturbed) conditions.disturbed += stamp.samples;
    if (IsThrottled(stamp, highest_hz)) conditions.throttled += stamp.samples;
    Extend(stamp.cpu_frequency_hz, conditions.least_hz, conditions.most_hz);
    Extend(stamp.temperature_millicelsius, conditions.least_millicelsius,
           conditions.most_millicelsius);
    if (stamp.governor.empty()) continue;
    std::vector<std::string>& known = conditions.governors;
    if (std::find(known.begin(), known.end(), stamp.governor) == known.end()) {
      known.push_back(stamp.governor);
    }
  }
  return conditions;
}

absl::StatusOr<BenchmarkResult> LeaveOut(const BenchmarkResult& result, bool disturbed,
                                         bool throttled) {
  if (result.stamps.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the agent of device \"", result.device,
                     "\" does not tell in what state its machine was: update the agent, or leave "
                     "no samples out"));
  }
  const int64_t highest_hz = HighestFrequency(result);
  BenchmarkResult kept = result;
  kept.samples_ns.clear();
  kept.stamps.clear();
  auto sample = result.samples_ns.begin();
  for (const SampleStamp& stamp : result.stamps) {
    const auto end = sample + stamp.samples;
    if (!(disturbed && stamp.disturbed) && !(throttled && IsThrottled(stamp, highest_hz))) {
      kept.samples_ns.insert(kept.samples_ns.end(), sample, end);
      kept.stamps.push_back(stamp);
    }
    sample = end;
  }
  if (!kept.samples_ns.empty()) return kept;
  return absl::FailedPreconditionError(
      absl::StrCat("none of the ", result.samples_ns.size(),
                   " samples would be left: the machine was disturbed or throttled all along"));
}

}  // namespace slipway
