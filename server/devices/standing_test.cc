#include "server/devices/standing.h"

#include <array>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
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
  const StandingEvent events[] = {kDrain, kUndrain, kQuarantine, kUnquarantine};
  const Row rows[] = {
      {kOpen, {kDrained, kOpen, kQuarantined, kOpen}},
      {kDrained, {kDrained, kOpen, none, none}},
      {kQuarantined, {kDrained, none, kQuarantined, kOpen}},
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

}  // namespace
}  // namespace slipway::server
