#include "client/sample_conditions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

// Of the processor, and of each accelerator.
struct HighestFrequencies {
  int64_t cpu_hz = 0;
  std::vector<int64_t> accelerators_hz;
};

HighestFrequencies HighestOf(const BenchmarkResult& result) {
  HighestFrequencies highest;
  for (const SampleStamp& stamp : result.stamps) {
    highest.cpu_hz = std::max(highest.cpu_hz, stamp.cpu_frequency_hz);
    std::vector<int64_t>& accelerators = highest.accelerators_hz;
    accelerators.resize(std::max(accelerators.size(), stamp.accelerators.size()));
    for (size_t i = 0; i < stamp.accelerators.size(); ++i) {
      accelerators[i] = std::max(accelerators[i], stamp.accelerators[i].clock_hz);
    }
  }
  return highest;
}

bool IsSlow(int64_t hz, int64_t highest_hz) { return hz > 0 && hz < highest_hz - highest_hz / 10; }

bool IsAcceleratorThrottled(const SampleStamp& stamp, const HighestFrequencies& highest) {
  for (size_t i = 0; i < stamp.accelerators.size(); ++i) {
    const AcceleratorState& state = stamp.accelerators[i];
    if (state.throttled || IsSlow(state.clock_hz, highest.accelerators_hz[i])) return true;
  }
  return false;
}

bool IsThrottled(const SampleStamp& stamp, const HighestFrequencies& highest) {
  return stamp.throttled || IsSlow(stamp.cpu_frequency_hz, highest.cpu_hz) ||
         IsAcceleratorThrottled(stamp, highest);
}

// Where 0 is unknown.
void Extend(int64_t value, int64_t& least, int64_t& most) {
  if (value == 0) return;
  least = least == 0 ? value : std::min(least, value);
  most = std::max(most, value);
}

void ExtendAccelerators(const SampleStamp& stamp, SampleConditions& conditions) {
  std::vector<SampleConditions::Accelerator>& known = conditions.accelerators;
  known.resize(std::max(known.size(), stamp.accelerators.size()));
  for (size_t i = 0; i < stamp.accelerators.size(); ++i) {
    const AcceleratorState& state = stamp.accelerators[i];
    if (known[i].name.empty()) known[i].name = state.name;
    Extend(state.clock_hz, known[i].least_hz, known[i].most_hz);
    Extend(state.temperature_millicelsius, known[i].least_millicelsius, known[i].most_millicelsius);
    Extend(state.power_milliwatts, known[i].least_milliwatts, known[i].most_milliwatts);
  }
}

}  // namespace

SampleConditions ConditionsOf(const BenchmarkResult& result) {
  SampleConditions conditions;
  const HighestFrequencies highest = HighestOf(result);
  for (const SampleStamp& stamp : result.stamps) {
    conditions.samples += stamp.samples;
    if (stamp.disturbed) conditions.disturbed += stamp.samples;
    if (IsThrottled(stamp, highest)) conditions.throttled += stamp.samples;
    if (IsAcceleratorThrottled(stamp, highest)) conditions.throttled_accelerators += stamp.samples;
    ExtendAccelerators(stamp, conditions);
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
  const HighestFrequencies highest = HighestOf(result);
  BenchmarkResult kept = result;
  kept.samples_ns.clear();
  kept.stamps.clear();
  auto sample = result.samples_ns.begin();
  for (const SampleStamp& stamp : result.stamps) {
    const auto end = sample + stamp.samples;
    if (!(disturbed && stamp.disturbed) && !(throttled && IsThrottled(stamp, highest))) {
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
