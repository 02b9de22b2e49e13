#include "core/tensor/shape.h"

#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMaxExtent = (int64_t{1} << 31) - 1;

TEST(ShapeTest, CountsAndPrints) {
  EXPECT_EQ(NumElements({}), 1);
  EXPECT_EQ(NumElements({2, 3, 4}), 24);
  EXPECT_EQ(NumElements({2, 0, 4}), 0);
  EXPECT_EQ(ToString(Shape{}), "[]");
  EXPECT_EQ(ToString(Shape{1, 3, 224, 224}), "[1, 3, 224, 224]");
}

TEST(ShapeTest, ChecksSaneShapes) {
  EXPECT_THAT(CheckShape({}, 4), IsOkAndHolds(4));
  EXPECT_THAT(CheckShape({2, 3}, 4), IsOkAndHolds(24));
  EXPECT_THAT(CheckShape({2, 0}, 4), IsOkAndHolds(0));
  EXPECT_THAT(CheckShape({kMaxExtent}, 8), IsOkAndHolds(kMaxExtent * 8));
  EXPECT_OK(CheckShape(std::vector<int64_t>(kMaxRank, 1), 1));
}

TEST(ShapeTest, RefusesInsaneShapes) {
  EXPECT_THAT(CheckShape(std::vector<int64_t>(kMaxRank + 1, 1), 1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 17")));
  EXPECT_THAT(CheckShape({3, -1}, 4), StatusIs(absl::StatusCode::kInvalidArgument,
                                               AllOf(HasSubstr("-1"), HasSubstr("dimension 1"))));
  EXPECT_THAT(CheckShape({kMaxExtent + 1}, 1),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("2147483648")));
  EXPECT_THAT(CheckShape({kMaxExtent, kMaxExtent, 2}, 4),
              StatusIs(absl::StatusCode::kResourceExhausted));
  // Exactly 2^62 bytes are the most.
  EXPECT_THAT(CheckShape({1 << 30, 1 << 30, 4}, 1), IsOkAndHolds(int64_t{1} << 62));
  EXPECT_THAT(CheckShape({1 << 30, 1 << 30, 4}, 2), StatusIs(absl::StatusCode::kResourceExhausted));
  // Its strides would overflow, though it has no elements.
  EXPECT_THAT(CheckShape({0, kMaxExtent, kMaxExtent, kMaxExtent}, 4),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(ShapeTest, StridesAreRowMajor) {
  EXPECT_THAT(RowMajorStrides({2, 3, 4}), ElementsAre(12, 4, 1));
  EXPECT_THAT(RowMajorStrides({}), ElementsAre());
}

}  // namespace
}  // namespace slipway
