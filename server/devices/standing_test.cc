#include "server/devices/standing.h"

#include <array>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(100);
const StandingEvent kDrain = DrainAsked{"ada", "a new fan"};
const StandingEvent kUndrain = UndrainAsked{};
const StandingEvent kQuarantine = QuarantineAsked{"ada", "noise"};
const StandingEvent kUnquarantine = UnquarantineAsked{};
const StandingEvent kWorked = DeviceWorked{};
const StandingEvent kFailed = DeviceFailed{"job", "smoke", 1};
const StandingEvent kPassed = ProbePassed{absl::Milliseconds(1)};
const StandingEvent kProbeFailed = ProbeFailed{"smoke", 1};
const StandingEvent kChanged = DeviceChanged{};

DeviceStanding In(DeviceStanding::State state) {
  DeviceStanding standing;
  standing.set_device("board");
  standing.set_revision(7);
  standing.set_state(state);
  if (state != DeviceStanding::OPEN) standing.set_since_ns(5);
  return standing;
}

// Every pair, and where it leads; nothing: it is refused.
TEST(StandingTest, Table) {
  using State = absl::optional<DeviceStanding::State>;
  constexpr auto kOpen = DeviceStanding::OPEN;
  constexpr auto kDrained = DeviceStanding::DRAINED;
  constexpr auto kQuarantined = DeviceStanding::QUARANTINED;
  const State none;
  struct Row {
    DeviceStanding::State from;
    std::array<State, kStandingEventKinds> to;
  };
  const StandingEvent events[] = {kDrain,  kUndrain, kQuarantine,  kUnquarantine, kWorked,
                                  kFailed, kPassed,  kProbeFailed, kChanged};
  const Row rows[] = {
      {kOpen,
       {kDrained, kOpen, kQuarantined, kOpen, kOpen, kQuarantined, kOpen, kQuarantined, kOpen}},
      {kDrained, {kDrained, kOpen, none, none, kDrained, kDrained, kDrained, kDrained, kDrained}},
      // One that passes is not enough.
      {kQuarantined,
       {kDrained, none, kQuarantined, kOpen, kQuarantined, kQuarantined, kQuarantined, kQuarantined,
        kQuarantined}},
  };
  for (const Row& row : rows) {
    for (size_t i = 0; i < kStandingEventKinds; ++i) {
      SCOPED_TRACE(std::string(StandingName(row.from)) + " " + std::to_string(i));
      ASSERT_EQ(events[i].index(), i);
      const absl::StatusOr<DeviceStanding> next = ApplyToStanding(In(row.from), events[i], kNow);
      ASSERT_EQ(next.ok(), row.to[i].has_value());
      EXPECT_EQ(StandingRuleFor(row.from, i) == StandingRule::kRefused, !next.ok());
      if (!next.ok()) continue;
      EXPECT_EQ(next->state(), *row.to[i]);
      EXPECT_EQ(next->revision(), 7);
    }
  }
  EXPECT_EQ(StandingRuleFor(static_cast<DeviceStanding::State>(9), 0), StandingRule::kRefused);
  EXPECT_EQ(StandingRuleFor(kOpen, kStandingEventKinds), StandingRule::kRefused);
}

TEST(StandingTest, SaysWhoKeptItFromWorkAndWhy) {
  const DeviceStanding drained = *ApplyToStanding(In(DeviceStanding::OPEN), kDrain, kNow);
  EXPECT_EQ(drained.by(), "ada");
  EXPECT_EQ(drained.reason(), "a new fan");
  EXPECT_EQ(drained.since_ns(), absl::ToUnixNanos(kNow));
  // Another reason, and as old as it was.
  const DeviceStanding again =
      *ApplyToStanding(drained, DrainAsked{"bob", "two"}, kNow + absl::Hours(1));
  EXPECT_EQ(again.reason(), "two");
  EXPECT_EQ(again.since_ns(), absl::ToUnixNanos(kNow));
  const DeviceStanding open = *ApplyToStanding(again, kUndrain, kNow);
  EXPECT_EQ(open.by() + open.reason(), "");
  EXPECT_EQ(open.since_ns(), 0);
}

TEST(StandingTest, ARefusalSaysWhatToDo) {
  EXPECT_THAT(ApplyToStanding(In(DeviceStanding::DRAINED), kUnquarantine, kNow),
              testing::StatusIs(
                  absl::StatusCode::kFailedPrecondition,
                  AllOf(HasSubstr("'board' is drained"), HasSubstr("slipway undrain board"))));
  EXPECT_THAT(ApplyToStanding(In(DeviceStanding::QUARANTINED), kUndrain, kNow),
              testing::StatusIs(absl::StatusCode::kFailedPrecondition,
                                HasSubstr("slipway unquarantine board")));
}

class HealthTest : public ::testing::Test {
 protected:
  void Move(const StandingEvent& event) { standing_ = *ApplyToStanding(standing_, event, kNow); }
  void Fail(const std::string& job, int limit = 3) { Move(DeviceFailed{job, "smoke", limit}); }
  DeviceStanding standing_ = In(DeviceStanding::OPEN);
};

TEST_F(HealthTest, SoManyFailuresInARowPutItInQuarantine) {
  Fail("1");
  Fail("2");
  EXPECT_EQ(standing_.failures(), 2);
  Move(kWorked);
  EXPECT_EQ(standing_.failures(), 0);
  Fail("1");
  Fail("2");
  EXPECT_EQ(standing_.state(), DeviceStanding::OPEN);
  Fail("3");
  EXPECT_EQ(standing_.state(), DeviceStanding::QUARANTINED);
  EXPECT_EQ(standing_.by(), "");
  EXPECT_EQ(standing_.reason(), "3 failures in a row, the last: smoke");
  EXPECT_EQ(standing_.since_ns(), absl::ToUnixNanos(kNow));
}

TEST_F(HealthTest, AttemptsOfOneJobCountOnce) {
  for (int i = 0; i < 9; ++i) Fail("1");
  EXPECT_EQ(standing_.failures(), 1);
}

TEST_F(HealthTest, WithoutALimitFailuresAreCountedAlone) {
  for (int i = 0; i < 9; ++i) Fail(std::to_string(i), 0);
  EXPECT_EQ(standing_.failures(), 9);
  EXPECT_EQ(standing_.state(), DeviceStanding::OPEN);
}

TEST_F(HealthTest, PassingProbesInARowEndAQuarantine) {
  Move(kQuarantine);
  Move(kPassed);
  EXPECT_EQ(standing_.passes(), 1);
  Move(kProbeFailed);
  EXPECT_EQ(standing_.probe_error(), "smoke");
  EXPECT_EQ(standing_.passes(), 0);
  for (int i = 0; i < kPassesToReturn; ++i) {
    EXPECT_EQ(standing_.state(), DeviceStanding::QUARANTINED);
    Move(kPassed);
  }
  EXPECT_EQ(standing_.state(), DeviceStanding::OPEN);
  EXPECT_EQ(standing_.failures() + standing_.passes(), 0);
  EXPECT_EQ(standing_.reason() + standing_.probe_error(), "");
}

TEST_F(HealthTest, WhatIsUsualIsTheMedianOfTheFirst) {
  for (const int ms : {9, 1, 2, 3}) Move(ProbePassed{absl::Milliseconds(ms)});
  EXPECT_EQ(UsualCall(standing_), absl::nullopt);
  EXPECT_OK(JudgeCall(standing_, absl::Hours(1)));
  for (const int ms : {4, 100, 100}) Move(ProbePassed{absl::Milliseconds(ms)});
  EXPECT_EQ(UsualCall(standing_), absl::Milliseconds(3));
  for (const int us : {750, 3000, 12'000}) {
    EXPECT_OK(JudgeCall(standing_, absl::Microseconds(us)));
  }
  for (const int us : {0, 749, 12'001}) {
    EXPECT_THAT(JudgeCall(standing_, absl::Microseconds(us)),
                testing::StatusIs(absl::StatusCode::kAborted, HasSubstr("3ms")));
  }
  // Another device, or an administrator who has looked: it is found out anew.
  for (const StandingEvent& event : {kChanged, kUnquarantine}) {
    DeviceStanding doubted = *ApplyToStanding(standing_, kQuarantine, kNow);
    EXPECT_EQ(UsualCall(*ApplyToStanding(doubted, event, kNow)), absl::nullopt);
  }
}

TEST_F(HealthTest, AReasonIsBounded) {
  Move(DeviceFailed{"1", std::string(10'000, 's'), 1});
  EXPECT_LE(standing_.reason().size(), 512u);
}

}  // namespace
}  // namespace slipway::server
