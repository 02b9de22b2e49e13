#include "core/backends/cpu/strassen_choice.h"

#include <gtest/gtest.h>

#include "core/target/target.h"

namespace slipway {
namespace {

MachineDescription Machine(const char* target) {
  return DescribeMachine(ParseTarget(target)->host());
}

TEST(StrassenChoice, LargeProductsByHalves) {
  for (const char* target : {"x86-64-v2-linux", "x86-64-v3-linux", "x86-64-v4-linux"}) {
    const MachineDescription machine = Machine(target);
    EXPECT_TRUE(IsFasterByHalves(machine, 128, 768, 768)) << target;
    EXPECT_TRUE(IsFasterByHalves(machine, 197, 768, 3072)) << target;
  }
  EXPECT_TRUE(IsFasterByHalves(Machine("x86-64-v4-linux"), 196, 1024, 256));
}

// Sums of quarters cost as much as they save where depth or columns are few, and weights of 7/4 the bytes where rows are.
TEST(StrassenChoice, AsItIsWhereSumsAreMuchOfIt) {
  const MachineDescription machine = Machine("x86-64-v4-linux");
  EXPECT_FALSE(IsFasterByHalves(machine, 3136, 64, 256));
  EXPECT_FALSE(IsFasterByHalves(machine, 3136, 256, 64));
  EXPECT_FALSE(IsFasterByHalves(machine, 1, 4096, 4096));
  EXPECT_FALSE(IsFasterByHalves(machine, 16, 4096, 4096));
  EXPECT_FALSE(IsFasterByHalves(machine, 64, 64, 64));
}

TEST(StrassenChoice, CyclesAreSevenEighthsInTheLimit) {
  const MachineDescription machine = Machine("x86-64-v3-linux");
  const double ratio =
      HalvedCycles(machine, 8192, 8192, 8192) / WholeCycles(machine, 8192, 8192, 8192);
  EXPECT_GT(ratio, 0.875);
  EXPECT_LT(ratio, 0.885);
}

}  // namespace
}  // namespace slipway
