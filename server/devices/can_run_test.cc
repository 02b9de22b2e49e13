#include "server/devices/can_run.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::IsOkAndHolds;
using slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

TEST(CanRunTest, TargetAbiAndFormatMustFit) {
  const Target v1 = *ParseTarget("x86-64-linux");
  const Target v3 = *ParseTarget("x86-64-v3-linux");
  const DeviceOffer device{.target = v3, .abis = {2, 4}, .formats = {1, 2}};
  EXPECT_OK(CheckCanRun({.target = v1, .abi = 2, .format = 2}, device));
  EXPECT_OK(CheckCanRun({.target = v3, .abi = 4, .format = 1}, device));
  EXPECT_THAT(CheckCanRun({.target = v3, .abi = 2}, {.target = v1, .abis = {2, 4}}),
              StatusIs(Code::kFailedPrecondition));
}

TEST(CanRunTest, TheErrorNamesBothSidesAndWhatToDo) {
  const Target target = *ParseTarget("x86-64-linux");
  const DeviceOffer device{.target = target, .abis = {2, 4}, .formats = {1, 2}};
  EXPECT_THAT(CheckCanRun({.target = target, .abi = 5}, device),
              StatusIs(Code::kFailedPrecondition,
                       HasSubstr("kernel ABI 5, but the device's agent takes 2 to 4: update")));
  EXPECT_THAT(CheckCanRun({.target = target, .abi = 1}, device),
              StatusIs(Code::kFailedPrecondition,
                       HasSubstr("kernel ABI 1, but the device's agent takes 2 to 4: compile")));
  EXPECT_THAT(CheckCanRun({.target = target, .abi = 3, .format = 3}, device),
              StatusIs(Code::kFailedPrecondition,
                       HasSubstr("format 3, but the device's agent takes 1 to 2: update")));
  EXPECT_THAT(CheckCanRun({.target = target, .abi = 2}, {.target = target}),
              StatusIs(Code::kFailedPrecondition,
                       HasSubstr("kernel ABI 2, but the device's agent takes 1: update")));
}

TEST(CanRunTest, SomeDevicesTakeWhatWasCompiledHereAlone) {
  const Target target = *ParseTarget("x86-64-linux");
  const DeviceOffer device{.target = target, .max_session = 1, .is_compiled_only = true};
  EXPECT_THAT(CheckCanRun({.target = target}, device),
              StatusIs(Code::kFailedPrecondition, HasSubstr("--programs compiled")));
  EXPECT_OK(CheckCanRun({.target = target, .is_compiled_here = true}, device));
  // What a session loads the device asks for when it does.
  EXPECT_OK(CheckCanRun({.target = target, .is_session = true}, device));
}

TEST(CanRunTest, ScenariosNeedAnAgentThatKnowsThem) {
  const Target target = *ParseTarget("x86-64-linux");
  EXPECT_THAT(CheckCanRun({.target = target, .benchmark = 1}, {.target = target}),
              StatusIs(Code::kFailedPrecondition, HasSubstr("update the agent")));
  EXPECT_OK(
      CheckCanRun({.target = target, .benchmark = 1}, {.target = target, .max_benchmark = 1}));
  EXPECT_OK(CheckCanRun({.target = target}, {.target = target, .max_benchmark = 1}));
}

TEST(CanRunTest, RangesOnTheWire) {
  EXPECT_THAT(ReadVersionRange(0, 0, "ABIs"), IsOkAndHolds(VersionRange{1, 1}));
  EXPECT_THAT(ReadVersionRange(2, 5, "ABIs"), IsOkAndHolds(VersionRange{2, 5}));
  for (const auto& [lowest, highest] : {std::pair{0, 1}, {2, 1}, {-1, 1}, {1, 0}, {3, -3}}) {
    EXPECT_THAT(ReadVersionRange(lowest, highest, "ABIs"),
                StatusIs(Code::kInvalidArgument, HasSubstr("ABIs")));
  }
}

}  // namespace
}  // namespace slipway::server
