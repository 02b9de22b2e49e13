#include "client/cli/time_flag.h"

#include "client/cli/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// 2026-01-01 00:00:00 UTC
const absl::Time kMidnight = absl::FromUnixSeconds(1767225600);
const absl::Time kNow = kMidnight + absl::Hours(14) + absl::Seconds(5);

TEST(TimeFlagTest, TakesEachForm) {
  const auto parse = [](const std::string& text) { return *ParseTime("from", text, kNow); };
  EXPECT_EQ(parse("now"), kNow);
  EXPECT_EQ(parse("+30m"), kNow + absl::Minutes(30));
  EXPECT_EQ(parse("+1h30m"), kNow + absl::Minutes(90));
  EXPECT_EQ(parse("15:00"), kMidnight + absl::Hours(15));
  // It has passed today.
  EXPECT_EQ(parse("14:00"), kMidnight + absl::Hours(38));
  EXPECT_EQ(parse("2026-01-02 15:00"), kMidnight + absl::Hours(39));
  EXPECT_EQ(parse("2026-01-02 15:00:30"), kMidnight + absl::Hours(39) + absl::Seconds(30));
  EXPECT_EQ(parse("2026-01-02T15:00:00Z"), kMidnight + absl::Hours(39));
  EXPECT_EQ(parse("2026-01-02T15:00:00+01:00"), kMidnight + absl::Hours(38));
}

TEST(TimeFlagTest, EverythingElseIsAWrongCall) {
  for (const char* text : {"", "+", "+x", "+inf", "+-5m", "30m", "25:00", "15", "tomorrow",
                           "2026-13-01 10:00", "15:00 CET", "9999999999999-01-01 00:00"}) {
    const absl::StatusOr<absl::Time> time = ParseTime("from", text, kNow);
    EXPECT_THAT(time, StatusIs(absl::StatusCode::kInvalidArgument,
                               AllOf(HasSubstr("\"--from\""), HasSubstr("15:00"))))
        << text;
    EXPECT_EQ(ExitCodeOf(time.status()), ExitCode::kWrongCall) << text;
  }
}

}  // namespace
}  // namespace slipway::cli
