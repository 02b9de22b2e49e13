#include "server/scheduler/wait_reason.h"

#include <list>
#include <string>

#include "core/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

using ::testing::HasSubstr;
using v1::WaitReason;

const absl::Time kNow = absl::FromUnixSeconds(1'000'000);

class WaitReasonTest : public ::testing::Test {
 protected:
  // A free device.
  DeviceView& Board(const std::string& id, const std::string& target = "x86-64-v3-linux") {
    supplies_.push_back({id, {.target = *ParseTarget(target)}});
    return fleet_.devices.emplace_back(
        DeviceView{.supply = &supplies_.back(), .has_room = true, .last_seen = kNow});
  }
  // One that somebody's job has until `minutes` from now.
  DeviceView& Held(const std::string& id, int minutes, const std::string& owner = "bob") {
    JobRecord& record = records_.emplace_back();
    record.mutable_job()->set_id("01HELD");
    record.mutable_job()->set_owner(owner);
    record.mutable_job()->mutable_benchmark();
    record.mutable_lease()->set_begin_time_ns(absl::ToUnixNanos(kNow - absl::Minutes(1)));
    record.mutable_lease()->set_deadline_ns(absl::ToInt64Nanoseconds(absl::Minutes(minutes + 1)));
    DeviceView& board = Board(id);
    board.has_room = false;
    board.holder = &record;
    return board;
  }
  DeviceView& Kept(const std::string& id, DeviceStanding::State state) {
    DeviceStanding& standing = standings_.emplace_back();
    standing.set_state(state);
    standing.set_reason("a new fan");
    DeviceView& board = Board(id);
    board.standing = &standing;
    return board;
  }
  const v1::Reservation* Reservation(const std::string& owner, int from, int until) {
    v1::Reservation& reservation = reservations_.emplace_back();
    reservation.set_id("01RES");
    reservation.set_owner(owner);
    reservation.set_from_ns(absl::ToUnixNanos(kNow + absl::Minutes(from)));
    reservation.set_until_ns(absl::ToUnixNanos(kNow + absl::Minutes(until)));
    return &reservation;
  }
  WaitReason Reason(const std::string& device = "", const std::string& target = "x86-64-linux") {
    job_.need = DeviceNeed{device, {.target = *ParseTarget(target)}};
    return ReasonOf(job_, fleet_, kNow);
  }

  std::list<DeviceSupply> supplies_;
  std::list<JobRecord> records_;
  std::list<DeviceStanding> standings_;
  std::list<v1::Reservation> reservations_;
  FleetView fleet_;
  WaitingJob job_ = {.id = "1",
                     .owner = "ann",
                     .need = DeviceNeed{},
                     .not_before = kNow,
                     .longest = absl::Minutes(10)};
};

TEST_F(WaitReasonTest, AHeldDeviceSaysByWhomAndUntilWhen) {
  Held("a", 30);
  Held("b", 20);
  Board("c", "arm-64-linux");
  const WaitReason reason = Reason();
  EXPECT_EQ(reason.kind(), WaitReason::HELD);
  EXPECT_EQ(reason.device(), "b");
  EXPECT_EQ(reason.lease().owner(), "bob");
  EXPECT_EQ(reason.lease().kind(), v1::Lease::BENCHMARK);
  EXPECT_EQ(reason.until_ns(), absl::ToUnixNanos(kNow + absl::Minutes(20)));
  EXPECT_EQ(reason.fitting(), 2);
  EXPECT_EQ(Reason("a").device(), "a");
}

TEST_F(WaitReasonTest, AFreeDeviceIsNext) {
  Held("a", 20);
  Board("b");
  EXPECT_EQ(Reason().kind(), WaitReason::NEXT);
  EXPECT_EQ(Reason().device(), "b");
  EXPECT_EQ(Reason("a").kind(), WaitReason::HELD);
}

TEST_F(WaitReasonTest, ADeviceThatEndsWhatNobodyWantsHasNoLease) {
  Board("a").has_room = false;
  EXPECT_EQ(Reason().kind(), WaitReason::HELD);
  EXPECT_FALSE(Reason().has_lease());
}

TEST_F(WaitReasonTest, ReservationsOfOthersAreTold) {
  Board("a").reserved.now = Reservation("bob", -5, 60);
  EXPECT_EQ(Reason().kind(), WaitReason::RESERVED);
  EXPECT_EQ(Reason().reservation().owner(), "bob");
  EXPECT_EQ(Reason().until_ns(), absl::ToUnixNanos(kNow + absl::Minutes(60)));
  job_.owner = "bob";
  EXPECT_EQ(Reason().kind(), WaitReason::NEXT);
}

TEST_F(WaitReasonTest, WhatMightReachIntoAReservationWaits) {
  DeviceView& board = Board("a");
  board.reserved.next = Reservation("bob", 5, 60);
  board.reserved.next_of_another = Reservation("ann", 60, 90);
  EXPECT_EQ(Reason().kind(), WaitReason::TOO_LONG);
  EXPECT_EQ(Reason().reservation().owner(), "bob");
  job_.longest = absl::Minutes(4);
  EXPECT_EQ(Reason().kind(), WaitReason::NEXT);
  // Of bob's it is the one behind his own.
  job_.owner = "bob";
  job_.longest = absl::Minutes(70);
  EXPECT_EQ(Reason().kind(), WaitReason::TOO_LONG);
  EXPECT_EQ(Reason().reservation().owner(), "ann");
}

TEST_F(WaitReasonTest, WhatSomebodyMustDoSomethingAboutComesLast) {
  Board("lost").is_lost = true;
  EXPECT_EQ(Reason().kind(), WaitReason::LOST);
  EXPECT_EQ(Reason().since_ns(), absl::ToUnixNanos(kNow));
  Kept("drained", DeviceStanding::DRAINED);
  EXPECT_EQ(Reason().kind(), WaitReason::DRAINED);
  EXPECT_EQ(Reason().detail(), "a new fan");
  Kept("doubted", DeviceStanding::QUARANTINED);
  EXPECT_EQ(Reason().kind(), WaitReason::QUARANTINED);
  Held("held", 20);
  EXPECT_EQ(Reason().kind(), WaitReason::HELD);
  EXPECT_EQ(Reason().fitting(), 4);
}

TEST_F(WaitReasonTest, WhereNoDeviceFitsItSaysWhatIsLacking) {
  EXPECT_EQ(Reason().kind(), WaitReason::NO_DEVICE);
  EXPECT_THAT(Reason().detail(), HasSubstr("no device is known"));
  EXPECT_THAT(Reason("z").detail(), HasSubstr("no device 'z' is known"));
  Board("a");
  Board("b");
  const WaitReason reason = Reason("b", "x86-64-v4-linux");
  EXPECT_EQ(reason.kind(), WaitReason::NO_DEVICE);
  EXPECT_THAT(reason.detail(), HasSubstr("device 'b': "));
  EXPECT_EQ(reason.fitting(), 0);
  EXPECT_THAT(Reason("", "arm-64-linux").detail(), HasSubstr("device 'a': "));
  EXPECT_THAT(Reason("z").detail(), HasSubstr("no device 'z' is known"));
}

TEST_F(WaitReasonTest, APauseIsTold) {
  Board("a");
  job_.not_before = kNow + absl::Seconds(4);
  EXPECT_EQ(Reason().kind(), WaitReason::PAUSES);
  EXPECT_EQ(Reason().until_ns(), absl::ToUnixNanos(kNow + absl::Seconds(4)));
  // The clock was set back.
  job_.not_before = kNow + absl::Hours(24);
  EXPECT_EQ(Reason().kind(), WaitReason::NEXT);
}

TEST_F(WaitReasonTest, CompilationsWaitForWorkers) {
  const TargetFingerprints targets = {{"x86-64-linux", "f"}};
  job_.need = CompilerNeed{"x86-64-linux", "f"};
  const auto kind = [&] { return ReasonOf(job_, fleet_, kNow).kind(); };
  EXPECT_EQ(kind(), WaitReason::NO_WORKER);
  fleet_.workers.push_back({.targets = &targets, .is_lost = true, .has_room = true});
  EXPECT_EQ(kind(), WaitReason::NO_WORKER);
  fleet_.workers.push_back({.targets = &targets});
  EXPECT_EQ(kind(), WaitReason::WORKERS_BUSY);
  fleet_.workers.push_back({.targets = &targets, .has_room = true});
  EXPECT_EQ(kind(), WaitReason::NEXT);
  EXPECT_EQ(ReasonOf(job_, fleet_, kNow).fitting(), 2);
}

TEST_F(WaitReasonTest, NamesAreForWhoMaySeeThem) {
  Held("a", 5).reserved.next = Reservation("bob", 60, 90);
  WaitReason held = Reason();
  HideNames({.owner = "bob"}, held);
  EXPECT_EQ(held.lease().job_id(), "01HELD");
  HideNames({.owner = "ann", .roles = {Role::kAdmin}}, held);
  EXPECT_EQ(held.lease().job_id(), "01HELD");
  HideNames({.owner = "ann"}, held);
  EXPECT_EQ(held.lease().job_id(), "");
  EXPECT_EQ(held.lease().owner(), "bob");
  fleet_.devices[0].has_room = true;
  job_.longest = absl::Hours(2);
  WaitReason reserved = Reason();
  ASSERT_EQ(reserved.reservation().id(), "01RES");
  HideNames({.owner = "ann"}, reserved);
  EXPECT_EQ(reserved.reservation().id(), "");
}

}  // namespace
}  // namespace slipway::server
