#include "tests/load/comparison_runs.h"

#include <cmath>
#include <random>

#include "client/comparison.h"
#include "core/base/check.h"
#include "tests/load/simulated_machine.h"

namespace slipway::testing {

ComparisonRates RunComparisons(uint64_t seed, int64_t runs, double ratio) {
  std::mt19937_64 random(seed);
  const auto share = [&] { return std::uniform_real_distribution<>(0, 1)(random); };
  ComparisonRates rates{.runs = runs};
  for (int64_t i = 0; i < runs; ++i) {
    const double true_ratio = i % 2 == 0 ? ratio : 1 / ratio;
    const double call_ns = 1e4 * std::pow(1e3, share());  // 10 us to 10 ms.
    const MachineNoise noise = RandomNoise(random);
    SimulatedMachine machine(random(), noise, call_ns, true_ratio);
    const absl::StatusOr<Comparison> comparison = ComparePrograms(
        [&](absl::Span<const Side> order, int samples) { return machine.Time(order, samples); },
        ComparisonOptions(), machine.clock());
    SLIPWAY_CHECK(comparison.ok(), "a simulated machine has no errors");
    const Verdict truth = true_ratio == 1  ? Verdict::kSame
                          : true_ratio > 1 ? Verdict::kWorse
                                           : Verdict::kBetter;
    rates.right += comparison->verdict == truth;
    rates.certain += comparison->is_certain;
    rates.simulated_s +=
        absl::ToDoubleSeconds(machine.clock().Monotonic()) / static_cast<double>(runs);
  }
  return rates;
}

}  // namespace slipway::testing
