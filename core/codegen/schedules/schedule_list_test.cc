#include "core/codegen/schedules/schedule_list.h"

#include <gtest/gtest.h>

#include "core/target/target.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

using Halide::Internal::ForType;

ForType InnermostLoop(const Halide::Func& func) {
  return func.function().definition().schedule().dims().front().for_type;
}

TEST(ScheduleListTest, FindsByKindAndMachine) {
  const Target target = *ParseTarget("x86-64-v3-linux,cuda-sm90");
  const Anchor anchor{AnchorKind::kInjective, InjectiveStages{{64}}};
  Halide::Var x("x");
  Halide::Func on_gpu("on_gpu"), on_cpu("on_cpu"), blocked("blocked");
  on_gpu(x) = 2 * x;
  on_cpu(x) = 2 * x;
  blocked(x) = 2 * x;
  EXPECT_OK(KernelScheduler(DescribeMachine(target.devices[1]))(anchor, on_gpu));
  EXPECT_EQ(InnermostLoop(on_gpu), ForType::GPUThread);
  EXPECT_OK(KernelScheduler(DescribeMachine(target.host()))(anchor, on_cpu));
  EXPECT_EQ(InnermostLoop(on_cpu), ForType::Vectorized);
  EXPECT_THAT(KernelScheduler(DescribeMachine(target.devices[1]))(
                  {AnchorKind::kBlockedConvolution, ConvolutionStages{}}, blocked),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("\"convolution\"")));
  EXPECT_EQ(InnermostLoop(blocked), ForType::Serial);
}

}  // namespace
}  // namespace slipway
