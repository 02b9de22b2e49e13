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
std::string TargetOf(absl::string_view processor) {
  absl::StatusOr<Emulator> emulator = FindEmulator("arm-64", processor);
  EXPECT_OK(emulator);
  if (!emulator.ok()) return "";
  emulator->command.push_back(RunfilePath("tests/devices/tell_host_target.arm-64"));
  const CommandResult result = RunCommand({.argv = emulator->command});
  EXPECT_TRUE(result.status.ok()) << result.ToString();
  return std::string(absl::StripAsciiWhitespace(result.out));
}

TEST(EmulatedTargetTest, ProcessorsOfArm64TellTheirFeatures) {
  EXPECT_EQ(TargetOf("cortex-a53"), "arm-64-linux");
  EXPECT_EQ(TargetOf("cortex-a76"), "arm-64-linux-dotprod-fp16");
  EXPECT_EQ(TargetOf("a64fx"), "arm-64-linux-fp16-sve");
  EXPECT_EQ(TargetOf("max"), "arm-64-linux-bf16-dotprod-fp16-i8mm-sve-sve2");
}

TEST(EmulatedTargetTest, WhatNothingEmulatesIsRefusedByName) {
  EXPECT_THAT(FindEmulator("arm-16"),
              StatusIs(absl::StatusCode::kNotFound, ::testing::HasSubstr("arm-16")));
}

}  // namespace
}  // namespace slipway::testing
