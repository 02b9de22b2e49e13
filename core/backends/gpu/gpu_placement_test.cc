#include "core/backends/gpu/gpu_placement.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/backends/program/program_manifest.h"
#include "core/graph/verifier.h"
#include "core/operators/fused.h"
#include "core/passes/call_kernels_pass.h"
#include "core/passes/fuse_ops_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class GpuPlacementTest : public ::testing::Test {
 protected:
  // Places a graph once its operators are groups; those of `called` are calls.
  void Place(absl::string_view text, std::vector<std::string> called = {}) {
    ASSERT_OK_AND_ASSIGN(graph_, tester_.Parse(text));
    PassContext context = tester_.context();
    ASSERT_OK_AND_ASSIGN(
        graph_, CallKernels(std::move(graph_), context, [&](const NodeView& view, const auto&) {
          return std::find(called.begin(), called.end(), view.op()) == called.end();
        }));
    ASSERT_OK_AND_ASSIGN(graph_, FuseOps(std::move(graph_), context));
    PassLedger ledger;
    context.ledger = &ledger;
    ASSERT_OK_AND_ASSIGN(graph_, PlaceOnDevice(std::move(graph_), context, types_));
    ASSERT_OK(Verify(graph_, tester_.registry()));
    notes_ = absl::StrJoin(ledger.notes, "\n");
    devices_ = DevicesOfValues(graph_, tester_.registry());
  }
  // The device that computes it, "copy to 0" or "view", in the order of nodes.
  std::vector<std::string> Steps() const {
    std::vector<std::string> steps;
    for (const Node& node : graph_.nodes) {
      const std::string device = absl::StrCat(DeviceNumberOf(node));
      if (node.op != kFusedOperator && node.op != kCallOperator) {
        steps.push_back("view");
      } else if (IsDeviceCopy(node)) {
        steps.push_back("copy to " + device);
      } else {
        steps.push_back(device);
      }
    }
    return steps;
  }
  std::map<std::string, int> DevicesByName() const {
    std::map<std::string, int> named;
    for (size_t i = 0; i < devices_.size(); ++i) named[graph_.values[i].name] = devices_[i];
    return named;
  }

  testing::PassTester tester_;
  std::vector<DataType> types_ = {DataType::kFloat32, DataType::kInt64};
  Graph graph_;
  std::string notes_;
  std::vector<int> devices_;
};

TEST_F(GpuPlacementTest, InputsGoThereAndOutputsComeBack) {
  Place(R"(graph "g" (%x: f32[2, 3]) -> (%y) {
    %y = Exp(%x)
  })");
  EXPECT_THAT(Steps(), ElementsAre("copy to 1", "1", "copy to 0"));
  EXPECT_THAT(DevicesByName(), Contains(Pair("y", 0)));
  EXPECT_THAT(notes_, HasSubstr("1 of 1 kernels are the device's"));
}

TEST_F(GpuPlacementTest, WhatTheDeviceCannotComputeTheHostDoes) {
  Place(R"(graph "g" (%x: f32[4, 4]) -> (%y) {
    %a = MatMul(%x, %x)
    const %k: i64[1] = {2}
    %sorted, %places = TopK(%a, %k)
    %wide = Cast(%sorted) {to = 11}
    %y = ReduceSum(%wide) {keepdims = 0}
  })",
        {"TopK"});
  EXPECT_THAT(Steps(), ElementsAre("copy to 1", "1", "copy to 0", "0", "0"));
  EXPECT_THAT(notes_, HasSubstr("1 of 3 kernels are the device's"));
  EXPECT_THAT(notes_, HasSubstr("stays with the host: not every device has f64"));
  EXPECT_THAT(notes_, HasSubstr("stays with the host: its kernel is the host's alone"));
}

TEST_F(GpuPlacementTest, WhatItComputesHangsOnItsTypes) {
  const std::string text = R"(graph "g" (%x: f64[2, 3]) -> (%y) {
    %y = Exp(%x)
  })";
  Place(text);
  EXPECT_THAT(Steps(), ElementsAre("0"));
  types_.push_back(DataType::kFloat64);
  Place(text);
  EXPECT_THAT(Steps(), ElementsAre("copy to 1", "1", "copy to 0"));
}

TEST_F(GpuPlacementTest, OpenExtentsStayWithTheHost) {
  Place(R"(graph "g" [n in 1..9] (%x: f32[n, 4]) -> (%y) {
    %y = Exp(%x)
  })");
  EXPECT_THAT(Steps(), ElementsAre("0"));
  EXPECT_THAT(notes_, HasSubstr("its extents are open"));
}

// A weight of both is a constant of both, and none is copied by a run.
TEST_F(GpuPlacementTest, EachDeviceHasConstantsOfItsOwn) {
  Place(R"(graph "g" [n in 1..9] (%x: f32[3, 3], %open: f32[n, 3, 3]) -> (%y, %z) {
    const %w: f32[3, 3] = {1, 2, 3, 4, 5, 6, 7, 8, 9}
    %y = MatMul(%x, %w)
    %z = Add(%open, %w)
  })");
  const std::map<std::string, int> devices = DevicesByName();
  EXPECT_THAT(devices, Contains(Pair("w", 0)));
  EXPECT_THAT(devices, Contains(Pair("w_at_1", 1)));
  int copies = 0;
  for (const Node& node : graph_.nodes) copies += IsDeviceCopy(node) ? 1 : 0;
  EXPECT_EQ(copies, 2);
}

}  // namespace
}  // namespace slipway
