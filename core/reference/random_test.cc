// Random numbers: that they repeat, and that they are spread as asked.
#include <cmath>
#include <numeric>
#include <vector>

#include "core/graph/text.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(RandomTest, SeedsAndNamesTellTheSequence) {
  const std::string node = "RandomUniform() {seed = 1.0, shape = [3]}";
  EXPECT_EQ(ValuesOf("", "%y = " + node),
            ValuesOf("", "%y = \"RandomUniform\" \"other\"() {seed = 1.0, shape = [3]}"));
  EXPECT_NE(ValuesOf("", "%y = " + node),
            ValuesOf("", "%y = RandomUniform() {seed = 2.0, shape = [3]}"));
  EXPECT_NE(ValuesOf("", "%y = \"RandomUniform\" \"a\"() {shape = [3]}"),
            ValuesOf("", "%y = \"RandomUniform\" \"b\"() {shape = [3]}"));
}

std::vector<float> Numbers(const std::string& node) {
  const OperatorRegistry registry = StandardOperators();
  const auto graph = ParseGraph("graph \"t\" () -> (%y) {\n%y = " + node + "\n}");
  EXPECT_TRUE(graph.ok()) << graph.status();
  const auto results = Reference(registry).Evaluate(*graph, {});
  EXPECT_TRUE(results.ok()) << results.status();
  const auto values = (*results)[0].values<float>();
  return std::vector<float>(values.begin(), values.end());
}

// Those of NumPy's RandomState(0).
TEST(RandomTest, NumbersAreThoseThatAreExpectedOfASeed) {
  EXPECT_EQ(ValuesOf("", "%y = RandomUniform() {seed = 0.0, shape = [4]}"),
            "f32[4] = {0.5488135, 0.71518934, 0.60276335, 0.5448832}");
  const std::vector<float> many = Numbers("RandomUniform() {seed = 7.0, shape = [700]}");
  EXPECT_FLOAT_EQ(many[699], 0.33871570229530334f);
}

TEST(RandomTest, NumbersAreSpreadAsAsked) {
  const std::vector<float> uniform =
      Numbers("RandomUniform() {high = 3.0, low = 1.0, shape = [20000]}");
  const std::vector<float> normal =
      Numbers("RandomNormal() {mean = 2.0, scale = 0.5, shape = [20000]}");
  const auto mean = [](const std::vector<float>& x) {
    return std::accumulate(x.begin(), x.end(), 0.0) / x.size();
  };
  const auto deviation = [&mean](const std::vector<float>& x) {
    double sum = 0;
    for (const float value : x) sum += (value - mean(x)) * (value - mean(x));
    return std::sqrt(sum / x.size());
  };
  EXPECT_NEAR(mean(uniform), 2, 0.02);
  for (const float value : uniform) ASSERT_TRUE(value >= 1 && value <= 3) << value;
  EXPECT_NEAR(mean(normal), 2, 0.02);
  std::vector<float> some(normal.begin(), normal.begin() + 2000);
  EXPECT_NEAR(deviation(some), 0.5, 0.03);
}

TEST(RandomTest, CertainEventsHappen) {
  EXPECT_EQ(ValuesOf("const %x: f32[3] = {0, 1, 0}", "%y = Bernoulli(%x) {dtype = 7}"),
            "i64[3] = {0, 1, 0}");
  EXPECT_EQ(
      ValuesOf("const %x: f32[1, 3] = {-inf, 5, -inf}", "%y = Multinomial(%x) {sample_size = 2}"),
      "i32[1, 2] = {1, 1}");
  EXPECT_THAT(ValuesOf("const %x: f32[1, 2] = {-inf, -inf}", "%y = Multinomial(%x)"),
              HasSubstr("have no probabilities"));
}

}  // namespace
}  // namespace slipway
