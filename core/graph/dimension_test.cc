#include "core/graph/dimension.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

Dimension Of(absl::string_view text) {
  if (text == "?") return Dimension();
  const auto expression = ParseExpression(text);
  EXPECT_OK(expression.status()) << text;
  return expression.ok() ? Dimension(*expression) : Dimension(-1);
}

Dimensions ListOf(const std::vector<std::string>& texts) {
  Dimensions dimensions;
  for (const std::string& text : texts) dimensions.push_back(Of(text));
  return dimensions;
}

TEST(DimensionTest, AConstantExpressionIsKnown) {
  EXPECT_TRUE(Of("3 + 4").is_known());
  EXPECT_EQ(Of("3 + 4").extent(), 7);
  EXPECT_FALSE(Of("w").is_known());
  EXPECT_FALSE(Of("w").is_unknown());
  EXPECT_TRUE(Dimension().is_unknown());
  EXPECT_EQ(Dimension(5).expression(), Expression(5));
}

TEST(DimensionTest, ArithmeticKeepsWhatIsKnown) {
  EXPECT_EQ(Dimension(3) * 4 - 2, Dimension(10));
  EXPECT_EQ(ToString(Of("w") + 3), "w + 3");
  EXPECT_EQ(ToString(FloorDivide(Of("w") + 3 - 7, 2) + 1), "floordiv(w, 2) - 1");
  EXPECT_EQ(CeilDivide(7, 2), Dimension(4));
  EXPECT_EQ(FloorDivide(-7, 2), Dimension(-4));
  EXPECT_EQ(ToString(Max(Of("w"), 1)), "max(w, 1)");
  EXPECT_EQ(Min(3, 4), Dimension(3));
  EXPECT_EQ(Of("w") - Of("w"), Dimension(0));
  EXPECT_TRUE((Dimension() + 1).is_unknown());
  EXPECT_TRUE((Of("w") * Dimension()).is_unknown());
  EXPECT_TRUE((Dimension(std::numeric_limits<int64_t>::max()) + 1).is_unknown());
  EXPECT_TRUE(FloorDivide(4, 0).is_unknown());
  EXPECT_TRUE(FloorDivide(Of("w"), 0).is_unknown());
  EXPECT_EQ(ToString(NumElements(ListOf({"w", "2", "w + 1"}))), "2*w*w + 2*w");
}

TEST(DimensionTest, SameAndContradictingAreWhatIsCertain) {
  EXPECT_TRUE(SameExtent(Of("w + 1"), Of("1 + w")));
  EXPECT_FALSE(SameExtent(Of("w"), Of("h")));
  EXPECT_FALSE(SameExtent(Dimension(), Dimension()));
  EXPECT_TRUE(Dimension() == Dimension());
  EXPECT_TRUE(Contradict(Dimension(3), Dimension(4)));
  EXPECT_TRUE(Contradict(Of("w"), Of("w + 1")));
  EXPECT_FALSE(Contradict(Of("w"), Of("h")));
  EXPECT_FALSE(Contradict(Of("w"), Dimension(3)));
  EXPECT_FALSE(Contradict(Dimension(), Dimension(3)));
  EXPECT_TRUE(Contradict(ListOf({"w"}), ListOf({"w", "1"})));
  EXPECT_EQ(MorePrecise(Dimension(), Of("w")), Of("w"));
  EXPECT_EQ(MorePrecise(Of("w"), Dimension(3)), Dimension(3));
  EXPECT_EQ(MorePrecise(Dimension(3), Of("w")), Dimension(3));
  EXPECT_EQ(MorePrecise(Of("h"), Of("w")), Of("h"));
  EXPECT_EQ(MorePrecise(Of("h"), Dimension()), Of("h"));
}

TEST(DimensionTest, Broadcasts) {
  const auto broadcast = [](const std::vector<std::string>& a, const std::vector<std::string>& b) {
    const auto both = Broadcast(ListOf(a), ListOf(b));
    return both.ok() ? ToString(*both) : std::string(both.status().message());
  };
  EXPECT_EQ(broadcast({"2", "1", "3"}, {"4", "1"}), "[2, 4, 3]");
  EXPECT_EQ(broadcast({}, {"w"}), "[w]");
  EXPECT_EQ(broadcast({"b", "1", "w"}, {"h", "1"}), "[b, h, w]");
  EXPECT_EQ(broadcast({"b", "w"}, {"b", "w"}), "[b, w]");
  EXPECT_EQ(broadcast({"b"}, {"w"}), "[max(b, w)]");  // Equal, or one of them 1.
  EXPECT_EQ(broadcast({"b"}, {"min(b, 512)"}), "[b]");
  EXPECT_EQ(broadcast({"b"}, {"?"}), "[?]");
  EXPECT_EQ(broadcast({"b"}, {"3"}), "[3]");  // b is 1 or 3.
  EXPECT_EQ(broadcast({"?"}, {"0"}), "[0]");  // 1 or 0.
  EXPECT_EQ(broadcast({"?"}, {"1"}), "[?]");
  EXPECT_EQ(broadcast({"?"}, {"?"}), "[?]");
  EXPECT_EQ(broadcast({"2", "b"}, {"3", "b"}),
            "shapes [2, b] and [3, b] cannot be broadcast together");
}

}  // namespace
}  // namespace slipway
