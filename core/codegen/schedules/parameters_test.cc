#include "core/codegen/schedules/parameters.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

class ParametersTest : public ::testing::Test {
 protected:
  Parameters All() {
    return {{"width", &width_, 1, 6},
            {"blocks", &blocks_, 1, 8, /*divides=*/12},
            {"chunk", &chunk_, 1, 12, /*divides=*/12, /*multiple=*/blocks_}};
  }
  absl::Status Set(const StageSchedule& record) {
    return SetParameters(record, [this] { return All(); });
  }
  int width_ = 2;
  int blocks_ = 2;
  int chunk_ = 4;
};

TEST_F(ParametersTest, OnesThatAreNotNamedStay) {
  EXPECT_OK(Set({"tile", {{"width", 6}}}));
  EXPECT_EQ(width_, 6);
  EXPECT_EQ(blocks_, 2);
  EXPECT_OK(Set({"tile", {}}));
  EXPECT_EQ(width_, 6);
}

TEST_F(ParametersTest, WhatTheyMayBeIsSaid) {
  for (const int width : {0, -1, 7, 1 << 30}) {
    EXPECT_THAT(
        Set({"tile", {{"width", width}}}),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("tile: parameter \"width\" is ")));
  }
  EXPECT_THAT(Set({"tile", {{"width", 7}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "tile: parameter \"width\" is 7; it may be 1 to 6"));
  EXPECT_THAT(
      Set({"tile", {{"blocks", 5}}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("it may be 1 to 8, a divisor of 12")));
  EXPECT_THAT(Set({"tile", {{"height", 5}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "tile has no parameter \"height\"; it has: width, blocks, chunk"));
}

TEST_F(ParametersTest, OneDependsOnThoseBeforeIt) {
  EXPECT_OK(Set({"tile", {{"chunk", 6}, {"blocks", 6}}}));
  EXPECT_EQ(blocks_, 6);
  EXPECT_EQ(chunk_, 6);
  EXPECT_THAT(Set({"tile", {{"blocks", 4}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("\"chunk\" is 6 where the record does not say it; it may be 1 to "
                                 "12, a divisor of 12, a multiple of 4")));
}

}  // namespace
}  // namespace slipway
