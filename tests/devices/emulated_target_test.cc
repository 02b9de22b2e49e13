// What machines of other architectures say of themselves, asked by our own code on processors that an emulator has.
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/target/target.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/emulator.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

// The target of a machine with that processor, in qemu's words.
std::string TargetOf(absl::string_view architecture, absl::string_view processor) {
  absl::StatusOr<Emulator> emulator = FindEmulator(architecture, processor);
  EXPECT_OK(emulator);
  if (!emulator.ok()) return "";
  emulator->command.push_back(
      RunfilePath(absl::StrCat("tests/devices/tell_host_target.", architecture)));
  const CommandResult result = RunCommand({.argv = emulator->command});
  EXPECT_TRUE(result.status.ok()) << result.ToString();
  return std::string(absl::StripAsciiWhitespace(result.out));
}

TEST(EmulatedTargetTest, ProcessorsOfArm64TellTheirFeatures) {
  EXPECT_EQ(TargetOf("arm-64", "cortex-a53"), "arm-64-linux");
  EXPECT_EQ(TargetOf("arm-64", "cortex-a76"), "arm-64-linux-dotprod-fp16");
  EXPECT_EQ(TargetOf("arm-64", "a64fx"), "arm-64-linux-fp16-sve");
  EXPECT_EQ(TargetOf("arm-64", "max"), "arm-64-linux-bf16-dotprod-fp16-i8mm-sve-sve2");
}

TEST(EmulatedTargetTest, ProcessorsOfArm32TellTheirFeatures) {
  EXPECT_EQ(TargetOf("arm-32", "cortex-a9"), "arm-32-linux-neon");
  EXPECT_EQ(TargetOf("arm-32", "cortex-a7"), "arm-32-linux-fma-neon");
  EXPECT_EQ(TargetOf("arm-32", "max"), "arm-32-linux-fma-neon");
}

TEST(EmulatedTargetTest, WhatNothingEmulatesIsRefusedByName) {
  EXPECT_THAT(FindEmulator("arm-16"),
              StatusIs(absl::StatusCode::kNotFound, ::testing::HasSubstr("arm-16")));
}

}  // namespace
}  // namespace slipway::testing
