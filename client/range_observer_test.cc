#include "client/range_observer.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

// 0 to 1 evenly.
std::vector<float> Even(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i) / (count - 1));
  return values;
}

TEST(RangeObserver, CoversWhatIsEven) {
  RangeObserver observer(2);
  EXPECT_OK(observer.Add(Even(1000)));
  EXPECT_OK(observer.Add({-0.5f, 0.25f}));
  EXPECT_EQ(observer.Best().least, -0.5f);
  EXPECT_EQ(observer.Best().greatest, 1.0f);
}

TEST(RangeObserver, Covers0) {
  RangeObserver above(1);
  EXPECT_OK(above.Add({3, 4}));
  EXPECT_EQ(above.Best().least, 0);
  EXPECT_EQ(above.Best().greatest, 4);
  RangeObserver nothing(1);
  EXPECT_OK(nothing.Add({}));
  EXPECT_EQ(nothing.Best().least, 0);
  EXPECT_EQ(nothing.Best().greatest, 0);
}

// One element far out is worth less than steps of a third of the size for thousands, but not than a few.
TEST(RangeObserver, CutsOffWhatIsFarOut) {
  std::vector<float> many = Even(100'000);
  many.push_back(3);
  RangeObserver cut(1);
  EXPECT_OK(cut.Add(many));
  EXPECT_LT(cut.Best().greatest, 3);
  EXPECT_GE(cut.Best().greatest, 0.95f);
  std::vector<float> few = Even(10);
  few.push_back(3);
  RangeObserver whole(1);
  EXPECT_OK(whole.Add(few));
  EXPECT_EQ(whole.Best().greatest, 3);
}

TEST(RangeObserver, RefusesWhatIsNotFinite) {
  RangeObserver observer(1);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT(observer.Add({1, bad}), testing::StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_OK(observer.Add({1}));
  EXPECT_EQ(observer.Best().greatest, 1);
}

TEST(RangeObserver, TakesAnyFiniteNumbers) {
  RangeObserver small(1);
  EXPECT_OK(small.Add({0, 1e-44f}));
  EXPECT_EQ(small.Best().greatest, 1e-44f);
  RangeObserver large(1);
  EXPECT_OK(large.Add({-3e38f, 3e38f}));
  EXPECT_EQ(large.Best().least, -3e38f);
}

}  // namespace
}  // namespace slipway
