// A short form of gate_simulation, and histories that can deceive.
#include "gtest/gtest.h"
#include "tests/load/gate_runs.h"

namespace slipway::testing {
namespace {

GateCounts OnAllKinds(uint64_t seed, double ratio) {
  GateCounts all;
  for (const DeviceKind& kind : kDeviceKinds) all += RunGates(seed++, 70, kind, ratio);
  return all;
}

TEST(GateSimulationTest, UnchangedCodePassesAndThreePercentAreFound) {
  const GateCounts unchanged = OnAllKinds(101, 1);
  EXPECT_EQ(unchanged.histories, 210);
  EXPECT_LE(unchanged.gate.regressed, 2);
  EXPECT_LE(unchanged.history.regressed, 2);
  EXPECT_EQ(unchanged.gate.passed + unchanged.gate.regressed + unchanged.gate.undecided, 210);
  const GateCounts regressed = OnAllKinds(201, 1.03);
  EXPECT_GE(regressed.gate.regressed, 200);
  EXPECT_LE(regressed.history.passed, 6);
}

// Without this the other would show nothing of what days and neighbours do.
TEST(GateSimulationTest, TheNewestResultDeceives) {
  for (const DeviceKind& kind : kDeviceKinds) {
    EXPECT_GE(RunGates(301, 100, kind, 1).naive.regressed, 3) << kind.name;
  }
  EXPECT_GE(RunGates(302, 100, kDeviceKinds[2], 1).naive.regressed, 20);
  EXPECT_LE(RunGates(303, 100, kDeviceKinds[2], 1.03).naive.regressed, 80);
}

// Where it can tell, there is no need to measure.
TEST(GateSimulationTest, OnQuietDevicesTheHistoryIsOftenEnough) {
  EXPECT_GE(RunGates(401, 100, kDeviceKinds[0], 1).history.passed, 20);
}

}  // namespace
}  // namespace slipway::testing
