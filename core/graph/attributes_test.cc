#include "core/graph/attributes.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(AttributesTest, AreSortedAndUnique) {
  Attributes attributes = {{"b", 1}, {"a", 2.0f}, {"b", "text"}};
  attributes.Set("c", Ints({1, 2}));
  std::string names;
  for (const auto& [name, value] : attributes) names += name;
  EXPECT_EQ(names, "abc");
  EXPECT_EQ(*attributes.FindAs<std::string>("b"), "text");
  EXPECT_EQ(attributes.FindAs<int64_t>("b"), nullptr);
  EXPECT_EQ(attributes.Find("d"), nullptr);
  attributes.Erase("b");
  attributes.Erase("nothing");
  EXPECT_EQ(attributes.size(), 2u);
}

TEST(AttributesTest, AreEqualBitByBit) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(Equal(nan, nan));
  EXPECT_FALSE(Equal(0.0f, -0.0f));
  EXPECT_FALSE(Equal(int64_t{1}, 1.0f));
  EXPECT_TRUE(Equal(Floats({nan, 1}), Floats({nan, 1})));
  EXPECT_FALSE(Equal(Floats({1}), Floats({1, 2})));
  EXPECT_TRUE(Equal(Tensor::Scalar<float>(1), Tensor::Scalar<float>(1)));
  EXPECT_FALSE(Equal(Tensor::Scalar<float>(1), Tensor::Scalar<double>(1)));
  Graph a;
  a.AddValue("v");
  Graph b = a;
  EXPECT_TRUE(Equal(std::make_shared<const Graph>(a), std::make_shared<const Graph>(b)));
  b.values[0].name = "w";
  EXPECT_FALSE(Equal(std::make_shared<const Graph>(a), std::make_shared<const Graph>(b)));
  EXPECT_FALSE(Equal(std::make_shared<const Graph>(a), std::shared_ptr<const Graph>()));
}

}  // namespace
}  // namespace slipway
