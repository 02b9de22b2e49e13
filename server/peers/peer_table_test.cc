#include "server/peers/peer_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"
#include "server/peers/protocol.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::IsOkAndHolds;
using slipway::testing::StatusIs;

constexpr absl::Duration kSilence = absl::Seconds(10);

PeerCall From(const std::string& instance, int64_t sequence, const std::string& address = "here") {
  return {.peer = "agent/a", .instance_id = instance, .sequence = sequence, .address = address};
}

TEST(PeerTableTest, KnowsNewNewerAndOutdatedReports) {
  PeerTable peers(kSilence);
  EXPECT_EQ(*peers.Take(From("i", 5), absl::Seconds(1)), ReportKind::kNewInstance);
  EXPECT_EQ(*peers.Take(From("i", 6), absl::Seconds(1)), ReportKind::kNewer);
  EXPECT_EQ(*peers.Take(From("i", 6), absl::Seconds(1)), ReportKind::kOutdated);
  EXPECT_EQ(*peers.Take(From("i", 2), absl::Seconds(1)), ReportKind::kOutdated);
  EXPECT_EQ(peers.Find("agent/a")->sequence, 6);
}

TEST(PeerTableTest, ASecondLiveInstanceIsRefusedAndShown) {
  PeerTable peers(kSilence);
  ASSERT_OK(peers.Take(From("i", 1, "first"), absl::ZeroDuration()));
  peers.CallBegan("agent/a", "i");
  const absl::Status refused = peers.Take(From("j", 1, "second"), absl::Hours(1)).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("from first"));
  EXPECT_THAT(peers.Warning("agent/a", absl::Hours(1)), ::testing::HasSubstr("second"));
  EXPECT_EQ(peers.Warning("agent/a", absl::Hours(2)), "");
  EXPECT_EQ(peers.Find("agent/a")->instance_id, "i");
}

TEST(PeerTableTest, ARestartedInstanceTakesOverSoon) {
  PeerTable peers(kSilence);
  ASSERT_OK(peers.Take(From("i", 7), absl::ZeroDuration()));
  peers.CallBegan("agent/a", "i");
  peers.CallEnded("agent/a", "i", absl::Seconds(100));
  EXPECT_FALSE(peers.Take(From("j", 1), absl::Seconds(100) + kInstanceGrace / 2).ok());
  EXPECT_EQ(*peers.Take(From("j", 1), absl::Seconds(100) + kInstanceGrace),
            ReportKind::kNewInstance);
  // What still arrives of the old instance does not count for the new one.
  peers.CallEnded("agent/a", "i", absl::Hours(1));
  EXPECT_EQ(peers.Find("agent/a")->heard_at, absl::Seconds(100) + kInstanceGrace);
}

TEST(PeerTableTest, SilenceBeginsWithTheEndOfTheLastCall) {
  PeerTable peers(kSilence);
  EXPECT_TRUE(peers.IsLost("agent/a", absl::ZeroDuration()));
  ASSERT_OK(peers.Take(From("i", 1), absl::ZeroDuration()));
  peers.CallBegan("agent/a", "i");
  EXPECT_FALSE(peers.IsLost("agent/a", absl::Hours(5)));
  EXPECT_FALSE(peers.NextLoss(absl::ZeroDuration()).has_value());
  EXPECT_FALSE(peers.NextLoss(absl::Hours(5)).has_value());
  peers.CallEnded("agent/a", "i", absl::Hours(5));
  EXPECT_FALSE(peers.IsLost("agent/a", absl::Hours(5) + kSilence / 2));
  EXPECT_EQ(peers.NextLoss(absl::Hours(5)), absl::Hours(5) + kSilence);
  EXPECT_TRUE(peers.IsLost("agent/a", absl::Hours(5) + kSilence));
}

TEST(PeerTableTest, WhoLeftIsLostUntilHeardAgain) {
  PeerTable peers(kSilence);
  PeerCall call{.peer = "agent/a", .instance_id = "i", .sequence = 2, .address = ""};
  ASSERT_OK(peers.Take(call, absl::ZeroDuration()));
  peers.Left("agent/a");
  peers.Left("agent/nobody");
  peers.CallBegan("agent/a", "i");
  EXPECT_TRUE(peers.IsLost("agent/a", absl::ZeroDuration()));
  // What comes late is no sign of life.
  call.sequence = 1;
  ASSERT_OK(peers.Take(call, absl::ZeroDuration()));
  EXPECT_TRUE(peers.IsLost("agent/a", absl::ZeroDuration()));
  // Nobody else is in the way of its next life.
  EXPECT_THAT(peers.Take({.peer = "agent/a", .instance_id = "j", .sequence = 1, .address = ""},
                         absl::ZeroDuration()),
              IsOkAndHolds(ReportKind::kNewInstance));
  EXPECT_FALSE(peers.IsLost("agent/a", absl::ZeroDuration()));
}

TEST(PeerTableTest, TheNextLossIsOfWhoWasHeardFirst) {
  PeerTable peers(kSilence);
  const auto heard = [&peers](const std::string& id, const std::string& instance, int64_t second) {
    ASSERT_OK(peers.Take({.peer = id, .instance_id = instance, .sequence = second, .address = ""},
                         absl::Seconds(second)));
  };
  const auto next = [&peers](int64_t second) {
    return peers.NextLoss(absl::Seconds(second)).value_or(absl::ZeroDuration()) - kSilence;
  };
  heard("a", "i", 1);
  heard("b", "i", 2);
  heard("c", "i", 2);
  heard("d", "i", 4);
  EXPECT_EQ(next(4), absl::Seconds(1));
  heard("a", "i", 5);
  EXPECT_EQ(next(5), absl::Seconds(2));
  // Each of two that were heard at once counts.
  peers.CallBegan("b", "i");
  peers.CallBegan("b", "i");
  EXPECT_EQ(next(5), absl::Seconds(2));
  peers.Forget("c");
  EXPECT_EQ(next(5), absl::Seconds(4));
  peers.CallEnded("b", "i", absl::Seconds(6));
  heard("d", "j", 7);
  EXPECT_EQ(next(7), absl::Seconds(5));
  heard("a", "i", 8);
  EXPECT_EQ(next(8), absl::Seconds(7));
  peers.CallEnded("b", "i", absl::Seconds(9));
  // Those that are lost by now are no next ones.
  EXPECT_EQ(next(17), absl::Seconds(8));
  EXPECT_EQ(next(18), absl::Seconds(9));
  EXPECT_FALSE(peers.NextLoss(absl::Seconds(19)).has_value());
}

TEST(ProtocolTest, VersionsNameSets) {
  EXPECT_EQ(DesiredVersion({"a", "b"}), DesiredVersion({"b", "a"}));
  EXPECT_NE(DesiredVersion({"a"}), DesiredVersion({"a", "b"}));
  EXPECT_NE(DesiredVersion({}), "0");
  EXPECT_NE(DesiredVersion({"a"}), DesiredVersion({"a"}, "debug"));
  EXPECT_NE(DesiredVersion({"a"}, "info"), DesiredVersion({"a"}, "debug"));
  EXPECT_NE(DesiredVersion({"a"}, "", "x"), DesiredVersion({"a"}));
  EXPECT_NE(DesiredVersion({"a"}, "", "x"), DesiredVersion({"a"}, "x"));
}

TEST(ProtocolTest, ParkTimeStaysWithinBounds) {
  EXPECT_EQ(ParkTime(0, ~uint64_t{0}), absl::ZeroDuration());
  EXPECT_EQ(ParkTime(1'000'000'000, 0), absl::Seconds(1));
  EXPECT_GE(ParkTime(1'000'000'000, ~uint64_t{0}), absl::Milliseconds(900));
  EXPECT_EQ(ParkTime(int64_t{1} << 62, 0), kMaxPark);
}

TEST(ProtocolTest, ProtocolsMustOverlap) {
  EXPECT_OK(CheckReportHeader({.instance_id = "i", .min_protocol = 1, .max_protocol = 3}));
  EXPECT_THAT(CheckReportHeader({.instance_id = "i", .min_protocol = 2, .max_protocol = 3}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(CheckReportHeader({.instance_id = "", .min_protocol = 1, .max_protocol = 1}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace slipway::server
