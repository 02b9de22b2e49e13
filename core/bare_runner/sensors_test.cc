#include "core/bare_runner/sensors.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

class SensorsTest : public ::testing::Test {
 protected:
  void SetCpu(int cpu, const std::string& khz, const std::string& governor) {
    const std::string folder = absl::StrCat("sys/devices/system/cpu/cpu", cpu, "/cpufreq/");
    tree_.Write(folder + "scaling_cur_freq", khz);
    tree_.Write(folder + "scaling_governor", governor);
  }
  void SetZone(int zone, const std::string& temperature) {
    tree_.Write(absl::StrCat("sys/class/thermal/thermal_zone", zone, "/temp"), temperature);
  }
  void Open() { bare_open_sensors(tree_.path().c_str(), &sensors_); }
  slipway_bare_state Read(uint32_t processor) {
    slipway_bare_state state;
    bare_read_sensors(&sensors_, processor, &state);
    return state;
  }

  testing::TempTree tree_;
  bare_sensors sensors_ = {};
};

TEST_F(SensorsTest, TellClockGovernorAndTheHottestZone) {
  SetCpu(0, "600000\n", "powersave\n");
  SetCpu(12, "2400000\n", "performance\n");
  SetZone(0, "41000\n");
  SetZone(3, "57250\n");
  SetZone(4, "-5000\n");
  Open();
  const slipway_bare_state slow = Read(0);
  EXPECT_EQ(slow.frequency_khz, 600000u);
  EXPECT_STREQ(slow.governor, "powersave");
  EXPECT_EQ(slow.temperature_millicelsius, 57250);
  const slipway_bare_state fast = Read(12);
  EXPECT_EQ(fast.frequency_khz, 2400000u);
  EXPECT_STREQ(fast.governor, "performance");
}

TEST_F(SensorsTest, ReadAgainWhatHasChanged) {
  SetCpu(0, "600000\n", "ondemand\n");
  SetZone(0, "41000\n");
  Open();
  ASSERT_EQ(Read(0).frequency_khz, 600000u);
  // In place, as sysfs does.
  for (const auto& [path, text] :
       {std::pair("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "900000\n"),
        std::pair("sys/class/thermal/thermal_zone0/temp", "62000\n")}) {
    FILE* const file = fopen(tree_.Path(path).c_str(), "r+");
    ASSERT_NE(file, nullptr);
    fputs(text, file);
    fclose(file);
  }
  EXPECT_EQ(Read(0).frequency_khz, 900000u);
  EXPECT_EQ(Read(0).temperature_millicelsius, 62000);
}

TEST_F(SensorsTest, SayNothingOfWhatIsNotThereOrCannotBe) {
  SetCpu(0, "fast\n", std::string(100, 'g'));
  SetCpu(1, "99999999999999999999\n", "");
  SetCpu(2, "-5\n", "x");
  SetZone(0, "999999999\n");
  SetZone(1, "\n");
  Open();
  for (const uint32_t processor : {0u, 1u, 2u, 3u, 64u, UINT32_MAX}) {
    EXPECT_EQ(Read(processor).frequency_khz, 0u) << processor;
    EXPECT_EQ(Read(processor).temperature_millicelsius, 0) << processor;
  }
  EXPECT_EQ(std::string(Read(0).governor), std::string(31, 'g'));
  EXPECT_STREQ(Read(3).governor, "");
}

}  // namespace
}  // namespace slipway
