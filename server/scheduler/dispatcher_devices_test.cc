// Reservations and standings: who may have devices when.
#include <string>
#include <vector>

#include "server/scheduler/dispatcher_fixture.h"

namespace slipway::server::testing {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using v1::Availability;

class DispatcherDevicesTest : public DispatcherTest {
 protected:
  // Times after now. Of ann.
  ReservationRecord Wanted(absl::Duration from, absl::Duration until,
                           const std::string& request = "r") {
    ReservationRecord record;
    v1::Reservation& reservation = *record.mutable_reservation();
    reservation.set_id(ids_.Next(clock_.Now()));
    reservation.set_device("d");
    reservation.set_owner("ann");
    reservation.set_from_ns(absl::ToUnixNanos(clock_.Now() + from));
    reservation.set_until_ns(absl::ToUnixNanos(clock_.Now() + until));
    record.set_request_id(request);
    record.set_work_digest(absl::StrCat(absl::ToInt64Nanoseconds(from)));
    return record;
  }
  v1::Reservation Reserve(absl::Duration from, absl::Duration until) {
    return *dispatcher_->Reserve(ann_, Wanted(from, until));
  }
  std::string AcceptRunOf(const std::string& owner, const std::string& request,
                          absl::Duration run = absl::Minutes(10)) {
    JobRecord record = NewRecord(request);
    record.mutable_job()->set_owner(owner);
    record.mutable_job()->mutable_run();
    record.mutable_job()->mutable_deadlines()->set_run_ns(absl::ToInt64Nanoseconds(run));
    record.mutable_run()->set_target("x86-64-linux");
    return dispatcher_->Accept({.owner = owner}, record)->job().id();
  }
  absl::Status Set(const StandingEvent& event) {
    return dispatcher_->SetAvailability(admin_, "d", event).status();
  }
  v1::Availability Shown(const Caller& caller) {
    return dispatcher_->Devices(caller).at(0).availability();
  }
  bool HasDevice(const std::string& id) { return Get(id).assignee() == "d"; }
  // Keeps the agent from being silent for so long.
  void Pass(absl::Duration time) {
    clock_.Advance(time);
    Sync(Agent("d"));
    dispatcher_->Tick();
  }

  const Caller ann_{.owner = "ann"};
  const Caller admin_{.owner = "root", .roles = {Role::kAdmin}};
};

TEST_F(DispatcherDevicesTest, AReservedDeviceIsItsOwnersUntilTheEnd) {
  Sync(Agent("d"));
  const v1::Reservation made = Reserve(absl::ZeroDuration(), absl::Hours(1));
  const std::string bobs = AcceptRunOf("bob", "1");
  EXPECT_FALSE(HasDevice(bobs));
  EXPECT_EQ(Shown(ann_).state(), Availability::RESERVED);
  EXPECT_EQ(Shown(ann_).reservation().id(), made.id());
  EXPECT_EQ(Shown(caller_).reservation().id(), "");
  EXPECT_EQ(Shown(caller_).reservation().owner(), "ann");
  // Its end wakes whoever waits.
  EXPECT_LE(dispatcher_->Tick(), absl::Hours(1));
  Pass(absl::Hours(1) - absl::Nanoseconds(1));
  EXPECT_FALSE(HasDevice(bobs));
  const std::string anns = AcceptRunOf("ann", "2");
  EXPECT_TRUE(HasDevice(anns));
  Pass(absl::Nanoseconds(1));
  EXPECT_EQ(Shown(ann_).state(), Availability::AVAILABLE);
  EXPECT_EQ(Get(anns).state(), Job::ASSIGNED);
}

TEST_F(DispatcherDevicesTest, NothingThatRunsIsEnded) {
  const std::string bobs = AcceptRunOf("bob", "1");
  Sync(Agent("d"));
  ASSERT_TRUE(HasDevice(bobs));
  Reserve(absl::ZeroDuration(), absl::Hours(1));
  ASSERT_OK(Set(DrainAsked{"root", "dust"}));
  EXPECT_EQ(Get(bobs).state(), Job::ASSIGNED);
  EXPECT_EQ(Shown(ann_).state(), Availability::DRAINING);
}

TEST_F(DispatcherDevicesTest, WhatMightReachIntoAReservationWaitsForItsEnd) {
  Sync(Agent("d"));
  Reserve(absl::Minutes(5), absl::Minutes(6));
  const std::string longer = AcceptRunOf("bob", "1");
  EXPECT_FALSE(HasDevice(longer));
  const std::string shorter = AcceptRunOf("bob", "2", absl::Minutes(5) - kRunDeadlineGrace);
  EXPECT_TRUE(HasDevice(shorter));
  ASSERT_OK(dispatcher_->Cancel({.owner = "bob"}, shorter));
  Pass(absl::Minutes(6));
  EXPECT_TRUE(HasDevice(longer));
}

TEST_F(DispatcherDevicesTest, TheSameRequestIsTheSameReservation) {
  Sync(Agent("d"));
  const ReservationRecord wanted = Wanted(absl::Hours(1), absl::Hours(2));
  const v1::Reservation made = *dispatcher_->Reserve(ann_, wanted);
  EXPECT_EQ(dispatcher_->Reserve(ann_, wanted)->id(), made.id());
  EXPECT_EQ((*dispatcher_->FindReservation(wanted))->id(), made.id());
  EXPECT_THAT(dispatcher_->Reserve(ann_, Wanted(absl::Hours(3), absl::Hours(4))),
              StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_EQ(dispatcher_->OpenReservations(ann_, "").size(), 1u);
  EXPECT_THAT(dispatcher_->OpenReservations(ann_, "e"), IsEmpty());
}

TEST_F(DispatcherDevicesTest, WhatIsRefusedChangesNothing) {
  EXPECT_THAT(dispatcher_->Reserve(ann_, Wanted(absl::Hours(1), absl::Hours(2))),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'d'")));
  EXPECT_THAT(Set(DrainAsked{}), StatusIs(absl::StatusCode::kNotFound));
  Sync(Agent("d"));
  Reserve(absl::Hours(1), absl::Hours(2));
  EXPECT_THAT(dispatcher_->Reserve(ann_, Wanted(absl::Hours(1.5), absl::Hours(3), "2")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("reserved for ann")));
  EXPECT_EQ(store_.LoadReservations()->size(), 1u);
  EXPECT_THAT(Set(UnquarantineAsked{}), ::slipway::testing::IsOk());
  EXPECT_THAT(*store_.LoadStandings(), IsEmpty());
}

TEST_F(DispatcherDevicesTest, OwnersHaveSoManyAndAdministratorsMore) {
  Sync(Agent("d"));
  for (int i = 0; i < kDefaultMaxReservationsOfOwner; ++i) {
    ASSERT_OK(dispatcher_->Reserve(
        ann_, Wanted(absl::Hours(i + 1), absl::Hours(i + 2), absl::StrCat(i))));
  }
  const ReservationRecord more = Wanted(absl::Hours(50), absl::Hours(51), "more");
  EXPECT_THAT(dispatcher_->Reserve(ann_, more),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--max-reservations")));
  EXPECT_OK(dispatcher_->Reserve(admin_, more));
  // What has ended does not count.
  clock_.Advance(absl::Hours(12));
  EXPECT_OK(dispatcher_->Reserve(ann_, Wanted(absl::Hours(60), absl::Hours(61), "later")));
}

TEST_F(DispatcherDevicesTest, AReservationIsGivenUpByWhoHasItOrAnAdministrator) {
  Sync(Agent("d"));
  const v1::Reservation made = Reserve(absl::ZeroDuration(), absl::Hours(1));
  const std::string bobs = AcceptRunOf("bob", "1");
  EXPECT_THAT(dispatcher_->Unreserve({.owner = "bob"}, made.id()),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(dispatcher_->Unreserve(ann_, "no"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(dispatcher_->Unreserve(admin_, made.id())->id(), made.id());
  EXPECT_TRUE(HasDevice(bobs));
  EXPECT_THAT(dispatcher_->OpenReservations(ann_, ""), IsEmpty());
  // Twice is harmless.
  EXPECT_OK(dispatcher_->Unreserve(ann_, made.id()));
}

TEST_F(DispatcherDevicesTest, AClockThatJumpsADayLosesNoReservation) {
  Sync(Agent("d"));
  Reserve(absl::Hours(1), absl::Hours(2));
  const absl::Time begin = clock_.Now();
  for (const absl::Duration jump : {absl::Hours(24), absl::Hours(-24)}) {
    clock_.JumpTo(begin + jump);
    Advance(absl::Minutes(1));
    EXPECT_NE(Shown(ann_).state(), Availability::RESERVED);
    clock_.JumpTo(begin + absl::Hours(1.5));
    Advance(absl::Minutes(1));
    EXPECT_EQ(Shown(ann_).state(), Availability::RESERVED);
  }
  // While it is reserved the clock goes back: whoever waits for its end waits no more.
  const std::string bobs = AcceptRunOf("bob", "1");
  EXPECT_FALSE(HasDevice(bobs));
  clock_.JumpTo(begin - absl::Hours(24));
  Pass(absl::Minutes(1));
  EXPECT_TRUE(HasDevice(bobs));
}

TEST_F(DispatcherDevicesTest, ADrainedDeviceIsGivenNothingUntilItIsSaid) {
  Sync(Agent("d"));
  ASSERT_OK(Set(DrainAsked{"root", "a new fan"}));
  const std::string run = AcceptRun("1");
  EXPECT_FALSE(HasDevice(run));
  const v1::Availability shown = Shown(ann_);
  EXPECT_EQ(shown.state(), Availability::DRAINED);
  EXPECT_EQ(shown.reason(), "a new fan");
  EXPECT_EQ(shown.by(), "root");
  // Nor does an agent that starts anew, or a server that does, change that.
  Advance(kSilence);
  Sync(Agent("d", "i2"));
  EXPECT_FALSE(HasDevice(run));
  Restart();
  Sync(Agent("d", "i3"));
  EXPECT_FALSE(HasDevice(run));
  EXPECT_EQ(Shown(ann_).state(), Availability::DRAINED);
  ASSERT_OK(Set(UndrainAsked{}));
  EXPECT_TRUE(HasDevice(run));
  EXPECT_EQ(Shown(ann_).state(), Availability::AVAILABLE);
  Restart();
  EXPECT_EQ(Shown(ann_).state(), Availability::AVAILABLE);
}

TEST_F(DispatcherDevicesTest, ADeviceInQuarantineTellsWhy) {
  Sync(Agent("d"));
  ASSERT_OK(Set(QuarantineAsked{"root", "noise"}));
  const std::string run = AcceptRun("1");
  EXPECT_FALSE(HasDevice(run));
  EXPECT_EQ(Shown(ann_).state(), Availability::QUARANTINED);
  Job job = Get(run);
  dispatcher_->ShowWaiting(caller_, &job);
  EXPECT_EQ(job.wait_reason().kind(), v1::WaitReason::QUARANTINED);
  EXPECT_EQ(job.wait_reason().detail(), "noise");
  ASSERT_OK(Set(UnquarantineAsked{}));
  EXPECT_TRUE(HasDevice(run));
}

TEST_F(DispatcherDevicesTest, ADeviceThatIsForgottenIsReservedAndDrainedWhenItComesBack) {
  Sync(Agent("d"));
  Reserve(absl::Hours(24 * 31), absl::Hours(24 * 32));
  ASSERT_OK(Set(DrainAsked{"root", ""}));
  clock_.Advance(kDeviceRetention + absl::Hours(1));
  dispatcher_->Tick();
  EXPECT_THAT(dispatcher_->Devices(ann_), IsEmpty());
  EXPECT_EQ(dispatcher_->OpenReservations(ann_, "").size(), 1u);
  EXPECT_THAT(Set(UndrainAsked{}), StatusIs(absl::StatusCode::kNotFound));
  Sync(Agent("d"));
  EXPECT_EQ(Shown(ann_).state(), Availability::DRAINED);
  EXPECT_EQ(Shown(ann_).reservation().owner(), "ann");
}

TEST_F(DispatcherDevicesTest, NobodyIsToldOfWhatIsNotStored) {
  Sync(Agent("d"));
  const ReservationRecord wanted = Wanted(absl::Hours(1), absl::Hours(2));
  database_.Refuse(absl::UnavailableError("busy"));
  EXPECT_THAT(dispatcher_->Reserve(ann_, wanted), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Set(DrainAsked{"root", ""}), StatusIs(absl::StatusCode::kUnavailable));
  database_.Refuse(absl::OkStatus());
  EXPECT_EQ(dispatcher_->Reserve(ann_, wanted)->id(), wanted.reservation().id());
  EXPECT_OK(Set(DrainAsked{"root", ""}));
  Restart();
  EXPECT_EQ(dispatcher_->OpenReservations(ann_, "").size(), 1u);
  EXPECT_EQ(Shown(ann_).state(), Availability::DRAINED);
}

TEST_F(DispatcherDevicesTest, WhatAnotherServerDecidedHolds) {
  Sync(Agent("d"));
  ASSERT_OK(Set(DrainAsked{"root", "ours"}));
  DeviceStanding theirs = store_.LoadStandings()->front();
  theirs.set_revision(theirs.revision() + 1);
  theirs.set_reason("theirs");
  ASSERT_OK(store_.PutStanding(theirs, theirs.revision() - 1));
  ASSERT_OK(Set(UndrainAsked{}));
  EXPECT_EQ(Shown(ann_).reason(), "theirs");
  ASSERT_OK(Set(UndrainAsked{}));
  EXPECT_EQ(Shown(ann_).state(), Availability::AVAILABLE);
}

}  // namespace
}  // namespace slipway::server::testing
