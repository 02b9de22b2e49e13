// Whatever schedule a record may give a kernel, the kernel computes what the reference does, and stays within its memory.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/schedules/kernel_schedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/codegen/kernel_suite.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr DataType kFloat = DataType::kFloat32;

using Build = std::function<void(GraphBuilder&)>;

// One kernel of each kind whose schedule has numbers, of extents that few of them divide.
std::vector<std::pair<std::string, Build>> Kinds(int64_t block) {
  const Attributes padded = {{"pads", Ints({1, 1, 1, 1})}};
  return {
      {"convolution",
       [=](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {1, 2, 6, 11, block});
         const ValueId w = b.Input("w", kFloat, {6, 2, 3, 3, block, block});
         const ValueId bias = b.Input("bias", kFloat, {6 * block});
         b.Output(b.Add("Relu", {b.Add("slipway.ConvNCHWc", {x, w, bias}, padded)}));
       }},
      {"depthwise-convolution",
       [=](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {1, 2, 6, 11, block});
         const ValueId w = b.Input("w", kFloat, {2, 3, 3, block});
         const ValueId bias = b.Input("bias", kFloat, {2 * block});
         Attributes attributes = padded;
         attributes.Set("group", 2 * block);
         b.Output(b.Add("slipway.DepthwiseConvNCHWc", {x, w, bias}, attributes));
       }},
      {"plain-convolution",
       [=](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {1, 3, 6, 43});
         const ValueId w = b.Input("w", kFloat, {6, 3, 3, 3});
         b.Output(b.Add("Conv", {x, w}, padded));
       }},
      {"winograd-convolution",
       [=](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {1, 2, 10, 21, block});
         const ValueId w = b.Input("w", kFloat, {6, 6, 6, 2, block, block});
         const ValueId bias = b.Input("bias", kFloat, {6 * block});
         b.Output(b.Add("slipway.WinogradConvNCHWc", {x, w, bias}, padded));
       }},
      {"strassen-product",
       [=](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {19, 40});
         const ValueId w = b.Input("w", kFloat, {6, 7, 20, block});
         b.Output(b.Add("slipway.StrassenGemm", {x, w, b.Input("bias", kFloat, {12 * block})}));
       }},
      {"strassen-product",
       [=](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {3, 2, 6, 11, block});
         const ValueId w = b.Input("w", kFloat, {6, 7, block, block});
         b.Output(b.Add("slipway.StrassenConvNCHWc", {x, w}));
       }},
      {"product",
       [=](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {7, 19});
         const ValueId w = b.Input("w", kFloat, {6, 19, block});
         const ValueId bias = b.Input("bias", kFloat, {6 * block - 3});
         b.Output(b.Add("slipway.GemmPacked", {x, w, bias}, {{"columns", 6 * block - 3}}));
       }},
      {"product",
       [](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {2, 7, 19});
         b.Output(b.Add("MatMul", {x, b.Input("y", kFloat, {2, 19, 70})}));
       }},
      {"expression",
       [](GraphBuilder& b) {
         const ValueId x = b.Input("x", kFloat, {6, 5, 37});
         b.Output(b.Add("Transpose", {x}, {{"perm", Ints({1, 0, 2})}}));
       }},
      {"expression",
       [](GraphBuilder& b) { b.Output(b.Add("Relu", {b.Input("x", kFloat, {331})})); }},
  };
}

// In every kernel one number is changed at a time, beside what the model chose of the others.
TEST(SchedulesTest, AllThatAreTakenAreRight) {
  const DeviceTarget target = KernelSuite::RunnableTargets().back();
  for (const auto& [kind, build] : Kinds(8)) {
    KernelSuite suite;
    suite.Add(kind, build, {}, {1e-3, 2e-2});
    ASSERT_OK_AND_ASSIGN(const ScheduleRecords chosen, suite.Schedules(target));
    ASSERT_EQ(chosen.size(), 1u);
    const auto& [kernel, record] = *chosen.begin();
    ASSERT_EQ(record.schedule.size(), 1u) << ToString(record.schedule);
    const StageSchedule& stage = record.schedule[0];
    EXPECT_EQ(stage.kind, kind);
    EXPECT_FALSE(stage.numbers.empty());
    for (size_t which = 0; which < stage.numbers.size(); ++which) {
      int taken = 0;
      for (const int value : {0, 1, 2, 3, 6, 1 << 20}) {
        ScheduleRecords records = chosen;
        StageSchedule& changed = records.at(kernel).schedule[0];
        changed.numbers[which].second = value;
        SCOPED_TRACE(ToString({changed}));
        const absl::Status status = suite.RunWith(records, target);
        taken += status.ok();
        if (!status.ok()) {
          // Of this number, or of one that does not fit it any more.
          EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr(absl::StrCat(kind, ": parameter \""))));
        }
      }
      EXPECT_GT(taken, 0) << stage.numbers[which].first;
    }
  }
}

}  // namespace
}  // namespace slipway
