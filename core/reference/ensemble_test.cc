// Forests against values worked out by hand, and those that lead nowhere.
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

// Two trees: x[0] <= 1 ? 10 : 20, and x[1] > 2 ? 1 : 2.
std::string Regressor(const std::string& more, const std::string& children = "[1, 0, 0, 1, 0, 0]") {
  return "%y = ai.onnx.ml.TreeEnsembleRegressor(%x) {nodes_falsenodeids = [2, 0, 0, 2, 0, 0], "
         "nodes_featureids = [0, 0, 0, 1, 0, 0], nodes_modes = [\"BRANCH_LEQ\", \"LEAF\", "
         "\"LEAF\", "
         "\"BRANCH_GT\", \"LEAF\", \"LEAF\"], nodes_nodeids = [0, 1, 2, 0, 1, 2], nodes_treeids = "
         "[0, "
         "0, 0, 1, 1, 1], nodes_truenodeids = " +
         children +
         ", nodes_values = [1.0, 0.0, 0.0, 2.0, 0.0, 0.0], target_ids = [0, 0, 0, 0], "
         "target_nodeids "
         "= [1, 2, 1, 2], target_treeids = [0, 0, 1, 1], target_weights = [10.0, 20.0, 1.0, 2.0]" +
         more + "}";
}
constexpr char kRows[] = "const %x: f32[3, 2] = {1, 3, 2, 2, nan, nan}";

TEST(EnsembleTest, VotesAreAggregated) {
  EXPECT_EQ(ValuesOf(kRows, Regressor("")), "f32[3, 1] = {11, 22, 22}");
  EXPECT_EQ(ValuesOf(kRows, Regressor(", aggregate_function = \"AVERAGE\", base_values = [0.5]")),
            "f32[3, 1] = {6, 11.5, 11.5}");
  EXPECT_EQ(ValuesOf(kRows, Regressor(", aggregate_function = \"MIN\"")), "f32[3, 1] = {1, 2, 2}");
  EXPECT_EQ(ValuesOf(kRows, Regressor(", nodes_missing_value_tracks_true = [1, 0, 0, 1, 0, 0]")),
            "f32[3, 1] = {11, 22, 11}");
}

TEST(EnsembleTest, RefusesTreesThatLeadNowhere) {
  EXPECT_THAT(ValuesOf(kRows, Regressor("", "[0, 0, 0, 1, 0, 0]")), HasSubstr("reached twice"));
  EXPECT_THAT(ValuesOf(kRows, Regressor("", "[9, 0, 0, 1, 0, 0]")), HasSubstr("not there"));
  EXPECT_THAT(ValuesOf(kRows, Regressor("", "[1]")), HasSubstr("has 1 entries, 6 are needed"));
  EXPECT_THAT(ValuesOf("const %x: f32[3, 1] = {1, 2, 3}", Regressor("")),
              HasSubstr("tests feature 1 of 1"));
  EXPECT_THAT(ValuesOf(kRows, Regressor(", n_targets = 0")), HasSubstr("0 targets"));
}

}  // namespace
}  // namespace slipway
