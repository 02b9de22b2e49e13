#include "tests/bench/model_cost.h"

#include <gtest/gtest.h>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway::bench {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;

absl::StatusOr<ModelCost> Cost(absl::string_view text) {
  const PassTester tester;
  absl::StatusOr<Graph> graph = tester.Parse(text);
  if (!graph.ok()) return graph.status();
  return CostOf(*std::move(graph), tester.context());
}

TEST(ModelCost, CountsProductsAndBytes) {
  const auto cost = Cost(R"(
    graph "g" (%x: f32[2, 4, 6, 6]) -> (%y) {
      const %w: f32[8, 2, 3, 3] = splat 1
      const %b: f32[8] = splat 1
      %c = Conv(%x, %w, %b) {group = 2, pads = [1, 1, 1, 1]}
      %y = Relu(%c)
    })");
  ASSERT_OK(cost.status());
  EXPECT_EQ(cost->operations, 2 * (2 * 8 * 6 * 6) * (2 * 3 * 3));
  EXPECT_EQ(cost->constant_bytes, 4 * (8 * 2 * 3 * 3 + 8));
  EXPECT_EQ(cost->input_bytes, 4 * 2 * 4 * 6 * 6);
  EXPECT_EQ(cost->output_bytes, 4 * 2 * 8 * 6 * 6);
}

// Of a table that is looked into only some rows are read.
TEST(ModelCost, DoesNotCountTables) {
  const auto cost = Cost(R"(
    graph "g" (%x: i64[3]) -> (%y) {
      const %table: f32[1000, 8] = splat 1
      const %w: f32[8, 2] = splat 1
      %rows = Gather(%table, %x)
      %y = MatMul(%rows, %w)
    })");
  ASSERT_OK(cost.status());
  EXPECT_EQ(cost->constant_bytes, 4 * 8 * 2);
  EXPECT_EQ(cost->operations, 2 * 3 * 8 * 2);
}

TEST(ModelCost, IsNotKnownOfOpenExtents) {
  EXPECT_THAT(Cost(R"(
    graph "g" [n in 1..9] (%x: f32[n, 4]) -> (%y) {
      %y = Relu(%x)
    })")
                  .status(),
              StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace slipway::bench
