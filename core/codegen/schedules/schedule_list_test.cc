#include "core/codegen/schedules/schedule_list.h"

#include <gtest/gtest.h>

#include "core/target/target.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

bool IsVectorized(const Halide::Func& func) {
  return func.function().definition().schedule().dims().front().for_type ==
         Halide::Internal::ForType::Vectorized;
}

TEST(ScheduleListTest, FindsByKindAndMachine) {
  const Target target = *ParseTarget("x86-64-v3-linux,cuda-sm90");
  const Anchor anchor{AnchorKind::kInjective, InjectiveStages{{64}}};
  Halide::Var x("x");
  Halide::Func twice("twice");
  twice(x) = 2 * x;
  EXPECT_THAT(KernelScheduler(DescribeMachine(target.devices[1]))(anchor, twice),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("\"expression\"")));
  EXPECT_FALSE(IsVectorized(twice));
  EXPECT_OK(KernelScheduler(DescribeMachine(target.host()))(anchor, twice));
  EXPECT_TRUE(IsVectorized(twice));
}

}  // namespace
}  // namespace slipway
