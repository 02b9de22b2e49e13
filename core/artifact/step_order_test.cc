#include "core/artifact/step_order.h"

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "core/artifact/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

v1::Manifest Devices(int count) {
  v1::Manifest manifest;
  for (int i = 0; i < count; ++i) manifest.add_devices();
  return manifest;
}

// Against paths in the graph of what is said to come before what.
TEST(StepOrder, AgreesWithReachability) {
  constexpr int kSteps = 24;
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    v1::Function function;
    std::vector<std::vector<bool>> before(kSteps, std::vector<bool>(kSteps));
    for (int i = 0; i < kSteps; ++i) {
      v1::Step& step = *function.add_steps();
      const bool is_barrier = random() % 12 == 0;
      if (is_barrier) {
        step.mutable_bind_symbols();
      } else {
        step.set_device(random() % 3);
        step.set_queue(random() % 2);
      }
      std::set<uint32_t> after;
      for (int edges = static_cast<int>(random() % 3); edges > 0 && i > 0; --edges) {
        after.insert(random() % static_cast<uint32_t>(i));
      }
      for (const uint32_t edge : after) step.add_after(edge);
      for (int j = 0; j < i; ++j) {
        const v1::Step& other = function.steps(j);
        const bool direct = is_barrier || other.has_bind_symbols() ||
                            (other.device() == step.device() && other.queue() == step.queue()) ||
                            after.count(static_cast<uint32_t>(j)) > 0;
        if (!direct) continue;
        before[j][i] = true;
        for (int k = 0; k < j; ++k) before[k][i] = before[k][i] || before[k][j];
      }
    }
    ASSERT_OK_AND_ASSIGN(const StepOrder order,
                         StepOrder::Of(Devices(3), function, ReaderLimits()));
    for (int i = 0; i < kSteps; ++i) {
      for (int j = 0; j < i; ++j) {
        EXPECT_EQ(order.IsBefore(j, i), before[j][i]) << j << " before " << i;
      }
    }
  }
}

TEST(StepOrder, OneQueueIsSequential) {
  v1::Function function;
  function.add_steps();
  function.add_steps();
  EXPECT_TRUE(StepOrder::Of(Devices(1), function, ReaderLimits())->IsSequential());
  function.add_steps()->set_queue(1);
  EXPECT_FALSE(StepOrder::Of(Devices(1), function, ReaderLimits())->IsSequential());
}

TEST(StepOrder, BoundsWhatItTakes) {
  v1::Function function;
  for (uint32_t i = 0; i < 5; ++i) function.add_steps()->set_queue(i);
  ReaderLimits limits;
  limits.queues = 4;
  EXPECT_THAT(StepOrder::Of(Devices(1), function, limits),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("limit of 4")));
}

}  // namespace
}  // namespace slipway
