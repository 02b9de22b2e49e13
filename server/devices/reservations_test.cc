#include "server/devices/reservations.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/devices/opening.h"
#include "server/limits.h"
#include "server/names.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const absl::Time kNow = absl::FromUnixSeconds(1'000'000);

// Times in hours after kNow.
ReservationRecord Make(const std::string& id, double from, double until,
                       const std::string& owner = "ann", const std::string& device = "board") {
  ReservationRecord record;
  v1::Reservation& reservation = *record.mutable_reservation();
  reservation.set_id(id);
  reservation.set_device(device);
  reservation.set_owner(owner);
  reservation.set_from_ns(absl::ToUnixNanos(kNow + absl::Hours(from)));
  reservation.set_until_ns(absl::ToUnixNanos(kNow + absl::Hours(until)));
  record.set_request_id("request " + id);
  return record;
}

absl::Time At(double hours) { return kNow + absl::Hours(hours); }

TEST(ReservationsTest, TellsWhatIsAndComes) {
  Reservations reservations;
  reservations.Put(Make("1", 1, 2, "ann"));
  reservations.Put(Make("2", 2, 3, "bob"));
  reservations.Put(Make("3", 5, 6, "bob"));
  reservations.Put(Make("4", 7, 8, "cid"));
  reservations.Put(Make("9", 0, 9, "eve", "other"));
  const auto ids = [&](double hours) {
    const Reservations::Ahead ahead = reservations.Of("board", At(hours));
    const auto id = [](const v1::Reservation* each) { return each == nullptr ? "-" : each->id(); };
    return absl::StrCat(id(ahead.now), " ", id(ahead.next), " ", id(ahead.next_of_another));
  };
  EXPECT_EQ(ids(0), "- 1 2");
  EXPECT_EQ(ids(1), "1 2 4");
  EXPECT_EQ(ids(1.999), "1 2 4");
  EXPECT_EQ(ids(2), "2 3 4");
  EXPECT_EQ(ids(4), "- 3 4");
  EXPECT_EQ(ids(7.5), "4 - -");
  EXPECT_EQ(ids(8), "- - -");
  EXPECT_EQ(reservations.Of("nothing", kNow).next, nullptr);
}

TEST(ReservationsTest, OverlapsAreRefusedWithWhoseAndWhen) {
  Reservations reservations;
  reservations.Put(Make("1", 2, 4, "bob"));
  const auto check = [&](double from, double until) {
    return reservations.CheckFree(Make("2", from, until).reservation());
  };
  EXPECT_OK(check(1, 2));
  EXPECT_OK(check(4, 5));
  for (const auto& [from, until] : {std::pair(1., 2.1), {1., 5.}, {2., 4.}, {2.5, 3.}, {3.9, 9.}}) {
    EXPECT_THAT(check(from, until),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("reserved for bob"), HasSubstr("1970-01-12"))))
        << from;
  }
  ReservationRecord given_up = Make("1", 2, 4, "bob");
  given_up.set_cancel_time_ns(absl::ToUnixNanos(kNow));
  reservations.Put(given_up);
  EXPECT_OK(check(2, 4));
  EXPECT_TRUE(HasEnded(*reservations.Find("1"), kNow));
}

TEST(ReservationsTest, OpenOnesAreListedByTheirBegin) {
  Reservations reservations;
  reservations.Put(Make("1", 3, 4));
  reservations.Put(Make("2", 1, 2));
  reservations.Put(Make("3", 0, 1, "bob", "other"));
  const auto ids = [&](double hours) {
    std::vector<std::string> ids;
    for (const v1::Reservation* each : reservations.Open(At(hours))) ids.push_back(each->id());
    return ids;
  };
  EXPECT_THAT(ids(0), ElementsAre("3", "2", "1"));
  EXPECT_THAT(ids(2), ElementsAre("1"));
  EXPECT_EQ(reservations.OpenOf("ann", kNow), 2);
  EXPECT_EQ(reservations.OpenOf("ann", At(2)), 1);
  EXPECT_EQ(reservations.OpenOf("eve", kNow), 0);
  EXPECT_EQ(reservations.OpenOfAll(kNow), 3);
  EXPECT_EQ(reservations.FindRequest("ann", "request 2")->reservation().id(), "2");
  EXPECT_EQ(reservations.FindRequest("bob", "request 2"), nullptr);
}

TEST(ReservationsTest, EdgesAreBeginsAndEnds) {
  Reservations reservations;
  reservations.Put(Make("1", 1, 2));
  reservations.Put(Make("2", 2, 3));
  EXPECT_EQ(reservations.NextEdge(kNow), At(1));
  EXPECT_EQ(reservations.NextEdge(At(1)), At(2));
  EXPECT_EQ(reservations.NextEdge(At(3)), absl::nullopt);
  EXPECT_EQ(reservations.NextEdge(absl::InfinitePast()), At(1));
  // Of two at one time one goes.
  ReservationRecord given_up = Make("1", 1, 2);
  given_up.set_cancel_time_ns(1);
  reservations.Put(given_up);
  EXPECT_EQ(reservations.NextEdge(kNow), At(2));
  EXPECT_THAT(reservations.Devices(), ElementsAre("board"));
}

TEST(ReservationsTest, AClockThatJumpsADayLosesNone) {
  Reservations reservations;
  reservations.Put(Make("1", 1, 2));
  EXPECT_THAT(reservations.Forget(At(25)), IsEmpty());
  EXPECT_EQ(reservations.Of("board", At(25)).next, nullptr);
  EXPECT_EQ(reservations.Of("board", At(1)).now->id(), "1");
  EXPECT_EQ(reservations.Of("board", At(-24)).next->id(), "1");
  EXPECT_THAT(reservations.Forget(At(2) + kReservationRetention), ElementsAre("1"));
  EXPECT_EQ(reservations.size(), 0);
  EXPECT_EQ(reservations.NextEdge(absl::InfinitePast()), absl::nullopt);
  EXPECT_THAT(reservations.Devices(), IsEmpty());
}

TEST(ReservationsTest, OfThoseThatWereGivenUpAnOwnerHasSoMany) {
  Reservations reservations;
  for (int i = 0; i < kMaxKeptReservationsOfOwner + 3; ++i) {
    ReservationRecord record = Make(absl::StrCat(100'000 + i), i + 1, i + 2);
    if (i != 1) record.set_cancel_time_ns(absl::ToUnixNanos(kNow));
    reservations.Put(record);
  }
  EXPECT_THAT(reservations.Forget(kNow), ElementsAre("100000", "100002", "100003"));
  EXPECT_EQ(reservations.size(), kMaxKeptReservationsOfOwner);
}

class OpeningTest : public ::testing::Test {
 protected:
  Opening Open(double hours) {
    return OpeningOf(nullptr, reservations_.Of("board", At(hours)), At(hours));
  }
  Reservations reservations_;
};

TEST_F(OpeningTest, WithoutReservationsEverythingMayBegin) {
  EXPECT_TRUE(Open(0).is_free());
  EXPECT_TRUE(Open(0).Admits("ann", absl::Hours(24)));
  DeviceStanding standing;
  EXPECT_TRUE(OpeningOf(&standing, {}, kNow).is_free());
  for (const auto state : {DeviceStanding::DRAINED, DeviceStanding::QUARANTINED}) {
    standing.set_state(state);
    EXPECT_FALSE(OpeningOf(&standing, {}, kNow).Admits("ann"));
  }
  // One in quarantine is probed, whoever has reserved it.
  reservations_.Put(Make("1", 0, 1, "ann"));
  const Opening doubted = OpeningOf(&standing, reservations_.Of("board", kNow), kNow);
  EXPECT_TRUE(doubted.Admits(kServerOwner, absl::Minutes(1)));
  EXPECT_FALSE(doubted.Admits("ann"));
  standing.set_state(DeviceStanding::DRAINED);
  EXPECT_FALSE(OpeningOf(&standing, {}, kNow).Admits(kServerOwner));
}

TEST_F(OpeningTest, AReservationIsForItsOwnerAlone) {
  reservations_.Put(Make("1", 1, 2, "bob"));
  EXPECT_FALSE(Open(1).Admits("ann"));
  EXPECT_FALSE(Open(1.5).Admits("ann", absl::ZeroDuration()));
  EXPECT_TRUE(Open(1.5).Admits("bob", absl::Hours(24)));
  EXPECT_TRUE(Open(2).Admits("ann", absl::Hours(24)));
}

TEST_F(OpeningTest, WhatMightReachIntoOneDoesNotBegin) {
  reservations_.Put(Make("1", 1, 2, "bob"));
  const Opening opening = Open(0);
  EXPECT_TRUE(opening.Admits("ann"));
  // It ends a moment after its deadline at the latest.
  EXPECT_TRUE(opening.Admits("ann", absl::Hours(1) - kRunDeadlineGrace));
  EXPECT_FALSE(opening.Admits("ann", absl::Hours(1) - kRunDeadlineGrace + absl::Nanoseconds(1)));
  EXPECT_TRUE(opening.Admits("bob", absl::Hours(24)));
}

TEST_F(OpeningTest, NeitherMayWorkOfWhoHasTheFirstReachIntoAnothers) {
  reservations_.Put(Make("1", 0, 1, "ann"));
  reservations_.Put(Make("2", 2, 3, "ann"));
  reservations_.Put(Make("3", 4, 5, "bob"));
  EXPECT_TRUE(Open(0.5).Admits("ann", absl::Hours(3)));
  EXPECT_FALSE(Open(0.5).Admits("ann", absl::Hours(3.5)));
  EXPECT_FALSE(Open(1.5).Admits("bob", absl::Hours(1)));
}

}  // namespace
}  // namespace slipway::server
