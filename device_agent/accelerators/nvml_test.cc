#include "device_agent/accelerators/nvml.h"

#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "device_agent/accelerators/accelerator_states.h"
#include "device_agent/measure/accelerator_watch.h"
#include "device_agent/measure/pacer.h"
#include "device_agent/measure/settle.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(NvmlTest, TellsWhatGpusAreAndHowTheyDo) {
  ASSERT_OK_AND_ASSIGN(const std::vector<GpuState> gpus, ReadGpus());
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(DescribeGpu(gpus[0]), "Fake H100, sm90, 80.0 GiB, driver 550.54.15");
  EXPECT_EQ(DescribeGpuState(gpus[0]),
            "40.0 GiB free, SM 1980 MHz, memory 2619 MHz, 71.2 W, 30 °C");
}

TEST(NvmlTest, TellsThatAGpuIsSlowedDown) {
  setenv("SLIPWAY_FAKE_NVML_HOT", "1", 1);
  ASSERT_OK_AND_ASSIGN(const std::vector<GpuState> gpus, ReadGpus());
  EXPECT_THAT(DescribeGpuState(gpus[0]), EndsWith(", 30 °C, slowed down"));
  // Being idle is no such reason.
  unsetenv("SLIPWAY_FAKE_NVML_HOT");
  EXPECT_FALSE((*ReadGpus())[0].is_slowed_down.value());
  EXPECT_FALSE((*ReadGpus())[1].is_slowed_down.has_value());
}

// As it stands in results.
TEST(NvmlTest, StatesAreToldInTheirUnits) {
  v1::MachineState machine;
  AddAcceleratorStates(machine);
  ASSERT_EQ(machine.accelerators_size(), 2);
  const v1::AcceleratorState& state = machine.accelerators(0);
  EXPECT_EQ(state.name(), "Fake H100");
  EXPECT_EQ(state.clock_hz(), 1'980'000'000);
  EXPECT_EQ(state.memory_clock_hz(), 2'619'000'000);
  EXPECT_GT(state.power_milliwatts(), 71'000);
  EXPECT_EQ(state.temperature_millicelsius(), 30'000);
  EXPECT_EQ(state.memory_free_bytes(), int64_t{40} << 30);
  EXPECT_FALSE(state.throttled());
  EXPECT_EQ(machine.accelerators(1).clock_hz(), 0);
  setenv("SLIPWAY_FAKE_NVML", "9", 1);
  machine.Clear();
  AddAcceleratorStates(machine);
  EXPECT_EQ(machine.accelerators_size(), 0);
  unsetenv("SLIPWAY_FAKE_NVML");
}

TEST(NvmlTest, WatchesThoseGpusThatItIsTold) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<GpuWatch> one,
                       WatchGpus({"0000:FF:00.0", "0000:1B:00.0"}));
  ASSERT_EQ(one->Read().size(), 1u);
  EXPECT_EQ(one->Read()[0].name, "Fake L4");
  EXPECT_EQ(one->Read()[0].index, 1);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<GpuWatch> both,
                       WatchGpus({"0000:1B:00.0", "0000:1A:00.0"}));
  EXPECT_EQ(both->Read()[1].name, "Fake H100");
  EXPECT_FALSE(both->Read()[1].is_slowed_down.value());
  setenv("SLIPWAY_FAKE_NVML_HOT", "1", 1);
  EXPECT_TRUE(both->Read()[1].is_slowed_down.value());
  EXPECT_FALSE(both->Read()[0].is_slowed_down.has_value());
  unsetenv("SLIPWAY_FAKE_NVML_HOT");
  EXPECT_THAT(WatchGpus({"0000:FF:00.0"}), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                    HasSubstr("knows no GPU at 0000:FF:00.0")));
}

// As it stands in stamps.
TEST(NvmlTest, WhatIsWatchedIsToldInItsUnits) {
  const std::unique_ptr<AcceleratorWatch> watch = WatchAccelerators({"0000:1A:00.0"});
  ASSERT_NE(watch, nullptr);
  const std::vector<AcceleratorReading> readings = watch->Read();
  ASSERT_EQ(readings.size(), 1u);
  const v1::AcceleratorState& state = readings[0].state;
  EXPECT_EQ(state.name(), "Fake H100");
  EXPECT_EQ(state.clock_hz(), 1'980'000'000);
  EXPECT_EQ(state.power_milliwatts(), 71'250);
  EXPECT_EQ(state.temperature_millicelsius(), 30'000);
  EXPECT_EQ(state.memory_free_bytes(), 0);
  EXPECT_EQ(readings[0].counter, "gpu-0");
  ASSERT_TRUE(readings[0].microjoules.has_value());
  EXPECT_EQ(watch->Read()[0].microjoules, *readings[0].microjoules + 1'000'000);
  const std::unique_ptr<AcceleratorWatch> silent = WatchAccelerators({"0000:1B:00.0"});
  EXPECT_EQ(silent->Read()[0].counter, "gpu-1");
  EXPECT_FALSE(silent->Read()[0].microjoules.has_value());
  EXPECT_EQ(WatchAccelerators({"0000:FF:00.0"}), nullptr);
  setenv("SLIPWAY_FAKE_NVML", "9", 1);
  EXPECT_EQ(WatchAccelerators({"0000:1A:00.0"}), nullptr);
  unsetenv("SLIPWAY_FAKE_NVML");
}

TEST(NvmlTest, LeavesOutWhatAGpuDoesNotTell) {
  ASSERT_OK_AND_ASSIGN(const std::vector<GpuState> gpus, ReadGpus());
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(DescribeGpu(gpus[1]), "Fake L4, sm89, 24.0 GiB, driver 550.54.15");
  EXPECT_EQ(DescribeGpuState(gpus[1]), "12.0 GiB free, 39 °C");
}

TEST(NvmlTest, SaysWhyThereIsNone) {
  setenv("SLIPWAY_FAKE_NVML", "9", 1);
  EXPECT_THAT(ReadGpus(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("nvmlInit gives error 9")));
  unsetenv("SLIPWAY_FAKE_NVML");
}

// Who waits for a GPU to cool down reads it as the library tells.
TEST(NvmlTest, AGpuThatCoolsDownIsWaitedFor) {
  setenv("SLIPWAY_FAKE_NVML_COOLING", "5", 1);
  const std::vector<std::string> addresses = {"0000:1A:00.0"};
  const std::unique_ptr<AcceleratorWatch> watch = WatchAccelerators(addresses);
  ASSERT_NE(watch, nullptr);
  const ReadState read = [&] {
    v1::MachineState machine;
    *machine.add_accelerators() = watch->Read()[0].state;
    return machine;
  };
  v1::Settling settling;
  settling.set_cool_down_millicelsius(32'000);
  SystemPacer pacer;
  v1::Settled settled;
  CoolDown(settling, read, pacer, settled);
  unsetenv("SLIPWAY_FAKE_NVML_COOLING");
  EXPECT_TRUE(settled.is_cool());
  // The watch began at 35 degrees; 34 and 33 were too hot.
  EXPECT_GE(settled.cooled_ns(), 200'000'000);
  EXPECT_EQ(read().accelerators(0).temperature_millicelsius(), 30'000);
}

}  // namespace
}  // namespace slipway
