// A short form of compare_simulation, and a simulated machine that can deceive.
#include <random>

#include "client/comparison.h"
#include "gtest/gtest.h"
#include "tests/load/comparison_runs.h"
#include "tests/load/simulated_machine.h"

namespace slipway::testing {
namespace {

TEST(CompareSimulationTest, TheSameIsSame) { EXPECT_GE(RunComparisons(101, 100, 1).right, 99); }

TEST(CompareSimulationTest, ThreePercentAreFound) {
  const ComparisonRates rates = RunComparisons(102, 100, 1.03);
  EXPECT_GE(rates.right, 95);
  EXPECT_LE(rates.simulated_s, 30);
}

// Without this the others would show nothing of what drift and neighbours do.
TEST(CompareSimulationTest, TheMachineDeceivesWhoMeasuresOnceAfterTheOther) {
  std::mt19937_64 random(103);
  int deceived = 0;
  for (int i = 0; i < 100; ++i) {
    const MachineNoise noise = RandomNoise(random);
    SimulatedMachine machine(random(), noise, 1e6, 1);
    const auto mean = [&](Side side) {
      const auto blocks = machine.Time({side}, 100);
      double sum = 0;
      for (const int64_t ns : blocks->front().samples_ns) sum += static_cast<double>(ns);
      return sum;
    };
    const double a = mean(Side::kA);
    const double b = mean(Side::kB);
    deceived += b > 1.01 * a || a > 1.01 * b;
  }
  EXPECT_GE(deceived, 30);
}

}  // namespace
}  // namespace slipway::testing
