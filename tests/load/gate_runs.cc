#include "tests/load/gate_runs.h"

#include <cmath>
#include <random>
#include <vector>

#include "client/gate.h"
#include "core/base/check.h"
#include "core/statistics/median.h"
#include "tests/load/simulated_device.h"

namespace slipway::testing {
namespace {

constexpr double kMaxRegression = 0.03;
constexpr double kMinutesApart = 5;

void Count(GateVerdict verdict, VerdictCounts& counts) {
  counts.passed += verdict == GateVerdict::kPassed;
  counts.regressed += verdict == GateVerdict::kRegressed;
  counts.undecided += verdict == GateVerdict::kUndecided;
}

TimedResult Timed(double day, const BenchmarkResult& result) {
  return {.time = absl::UnixEpoch() + absl::Hours(24 * day),
          .call_ns = Median({result.samples_ns.begin(), result.samples_ns.end()}) /
                     static_cast<double>(result.iterations_per_sample)};
}

GateVerdict Naive(const std::vector<TimedResult>& baseline, const TimedResult& newest) {
  std::vector<double> times;
  for (const TimedResult& result : baseline) times.push_back(result.call_ns);
  return newest.call_ns > Median(times) * (1 + kMaxRegression / 2) ? GateVerdict::kRegressed
                                                                   : GateVerdict::kPassed;
}

}  // namespace

void VerdictCounts::operator+=(const VerdictCounts& other) {
  passed += other.passed;
  regressed += other.regressed;
  undecided += other.undecided;
}

void GateCounts::operator+=(const GateCounts& other) {
  histories += other.histories;
  gate += other.gate;
  history += other.history;
  naive += other.naive;
  in_turns += other.in_turns;
  turns_s += other.turns_s;
}

GateCounts RunGates(uint64_t seed, int64_t histories, const DeviceKind& kind, double ratio) {
  std::mt19937_64 random(seed);
  const auto between = [&](double least, double most) {
    return std::uniform_real_distribution<>(least, most)(random);
  };
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution<>(least, most)(random);
  };
  GateCounts counts{.histories = histories};
  for (int64_t i = 0; i < histories; ++i) {
    const double call_ns = 1e4 * std::pow(1e3, between(0, 1));  // 10 us to 10 ms.
    const double days = between(3, 30);
    const int results = number(10, 40);
    const int at_once = between(0, 1) < 0.5 ? 1 : number(2, 5);
    const int of_candidate = number(1, 10);
    // Made when somebody wanted to know, or night by night as the baseline's.
    const bool is_one_sitting = between(0, 1) < 0.5;
    const double between_sittings = days * at_once / results;
    const double end = days + between_sittings * (of_candidate + 1);
    SimulatedDevice device(random(), RandomDeviceNoise(random, kind.severity), end + 1, call_ns,
                           ratio);

    std::vector<TimedResult> baseline;
    double day = 0;
    while (static_cast<int>(baseline.size()) < results) {
      const int in_sitting = static_cast<int>(baseline.size()) % at_once;
      if (in_sitting == 0) {
        day = between_sittings * (static_cast<double>(baseline.size()) / at_once + between(0, 0.8));
      }
      const double at = day + in_sitting * kMinutesApart / 1440;
      baseline.push_back(Timed(at, device.Benchmark(at, Side::kA)));
    }
    std::vector<TimedResult> candidate;
    for (int j = 0; j < of_candidate; ++j) {
      day = is_one_sitting ? days + j * kMinutesApart / 1440
                           : days + between_sittings * (j + between(0, 0.8));
      candidate.push_back(Timed(day, device.Benchmark(day, Side::kB)));
    }
    Count(Naive(baseline, candidate.back()), counts.naive);
    const double asked = day + 0.01;
    const absl::StatusOr<GateFinding> finding =
        RunGate({.baseline = baseline, .candidate = candidate, .max_regression = kMaxRegression},
                [&](double margin) { return device.Compare(asked, margin, counts.turns_s); });
    SLIPWAY_CHECK(finding.ok(), "a simulated device has no errors");
    Count(finding->history.verdict, counts.history);
    Count(finding->verdict, counts.gate);
    counts.in_turns += finding->turns.has_value();
  }
  return counts;
}

}  // namespace slipway::testing
