#include "device_agent/attached/attached_state.h"

#include <cstdint>
#include <cstring>

#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(AttachedStateTest, IsInTheUnitsOfResults) {
  slipway_bare_state state = {.frequency_khz = 2'400'000,
                              .temperature_millicelsius = 57'250,
                              .load_millis = 1'500,
                              .governor = "schedutil"};
  const v1::MachineState machine = StateOfAttached(state);
  EXPECT_EQ(machine.cpu_frequency_hz(), 2'400'000'000);
  EXPECT_EQ(machine.temperature_millicelsius(), 57'250);
  EXPECT_EQ(machine.load_millis(), 1'500);
  EXPECT_EQ(machine.governor(), "schedutil");
}

TEST(AttachedStateTest, LeavesOutWhatCannotBe) {
  slipway_bare_state state = {.frequency_khz = UINT64_MAX,
                              .temperature_millicelsius = INT64_MIN,
                              .load_millis = UINT64_MAX,
                              .governor = "\xff\n"};
  const v1::MachineState machine = StateOfAttached(state);
  EXPECT_EQ(machine.cpu_frequency_hz(), 0);
  EXPECT_EQ(machine.temperature_millicelsius(), 0);
  EXPECT_EQ(machine.load_millis(), 0);
  EXPECT_EQ(machine.governor(), "?\\n");
  state.temperature_millicelsius = INT64_MAX;
  EXPECT_EQ(StateOfAttached(state).temperature_millicelsius(), 0);
}

}  // namespace
}  // namespace slipway
