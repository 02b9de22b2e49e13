#include "tests/common/status_matchers.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

namespace slipway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointee;
using ::testing::StringMatchResultListener;

absl::Status Missing() { return absl::NotFoundError("no blob 'ab12'"); }

absl::StatusOr<int> MissingInt() { return Missing(); }

template <typename T, typename M>
std::string Explain(const M& matcher, const T& value) {
  StringMatchResultListener listener;
  ::testing::ExplainMatchResult(matcher, value, &listener);
  return listener.str();
}

TEST(StatusMatchersTest, IsOkTakesStatusAndStatusOr) {
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(absl::StatusOr<int>(3), IsOk());
  EXPECT_THAT(Missing(), Not(IsOk()));
  EXPECT_THAT(MissingInt(), Not(IsOk()));
}

TEST(StatusMatchersTest, IsOkSaysWhichStatusItSaw) {
  EXPECT_EQ(Explain(IsOk(), Missing()), "which is NOT_FOUND: no blob 'ab12'");
}

TEST(StatusMatchersTest, IsOkAndHoldsTakesValuesAndMatchers) {
  EXPECT_THAT(absl::StatusOr<int>(3), IsOkAndHolds(3));
  EXPECT_THAT(absl::StatusOr<int>(3), Not(IsOkAndHolds(4)));
  EXPECT_THAT(absl::StatusOr<std::string>("slip"), IsOkAndHolds("slip"));
  EXPECT_THAT(absl::StatusOr<std::vector<int>>({1, 2}), IsOkAndHolds(ElementsAre(1, 2)));
  EXPECT_THAT(MissingInt(), Not(IsOkAndHolds(3)));
}

TEST(StatusMatchersTest, IsOkAndHoldsTakesMoveOnlyValues) {
  EXPECT_THAT(absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(3)),
              IsOkAndHolds(Pointee(3)));
}

TEST(StatusMatchersTest, StatusIsComparesCodeAndMessage) {
  EXPECT_THAT(Missing(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(MissingInt(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Missing(), Not(StatusIs(absl::StatusCode::kInternal)));
  EXPECT_THAT(Missing(), StatusIs(absl::StatusCode::kNotFound, "no blob 'ab12'"));
  EXPECT_THAT(MissingInt(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'ab12'")));
  EXPECT_THAT(Missing(), Not(StatusIs(absl::StatusCode::kNotFound, HasSubstr("cd34"))));
  EXPECT_THAT(absl::OkStatus(), StatusIs(absl::StatusCode::kOk));
}

TEST(StatusMatchersTest, ExpectOkSaysWhatWasNotOk) {
  EXPECT_OK(absl::OkStatus());
  EXPECT_OK(absl::StatusOr<int>(3));
  EXPECT_NONFATAL_FAILURE(EXPECT_OK(Missing()), "Missing() is not OK: NOT_FOUND: no blob 'ab12'");
  EXPECT_NONFATAL_FAILURE(EXPECT_OK(MissingInt()), "MissingInt() is not OK: NOT_FOUND");
}

TEST(StatusMatchersTest, AssertOkEndsTheTest) {
  ASSERT_OK(absl::OkStatus());
  EXPECT_FATAL_FAILURE(ASSERT_OK(Missing()), "Missing() is not OK");
}

TEST(StatusMatchersTest, AssertOkAndAssignMovesTheValue) {
  ASSERT_OK_AND_ASSIGN(const int first, absl::StatusOr<int>(3));
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<int> second,
                       absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(4)));
  EXPECT_EQ(first, 3);
  EXPECT_EQ(*second, 4);
}

TEST(StatusMatchersTest, AssertOkAndAssignEndsTheTest) {
  EXPECT_FATAL_FAILURE(
      {
        ASSERT_OK_AND_ASSIGN([[maybe_unused]] int value, MissingInt());
        FAIL() << "not reached";
      },
      "MissingInt() is not OK: NOT_FOUND: no blob 'ab12'");
}

}  // namespace
}  // namespace slipway::testing
