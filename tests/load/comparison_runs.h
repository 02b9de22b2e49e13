// Many comparisons on simulated machines, and how often they are right.
#ifndef SLIPWAY_TESTS_LOAD_COMPARISON_RUNS_H_
#define SLIPWAY_TESTS_LOAD_COMPARISON_RUNS_H_

#include <cstdint>

namespace slipway::testing {

struct ComparisonRates {
  int64_t runs = 0;
  int64_t right = 0;       // Whose verdict is the true one.
  int64_t certain = 0;     // Comparison::is_certain.
  double simulated_s = 0;  // What one takes in the mean, on the machine.
};

// Compares A with a B that takes `ratio` times as long, or in every other run as much less, `runs` times, each on a
// machine of its own. With the default options.
ComparisonRates RunComparisons(uint64_t seed, int64_t runs, double ratio);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_COMPARISON_RUNS_H_
