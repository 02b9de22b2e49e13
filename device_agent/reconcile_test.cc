#include "device_agent/reconcile.h"

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using State = v1::RunAttemptState::State;

HeldAttempts Held(std::initializer_list<std::pair<const char*, State>> attempts) {
  HeldAttempts held;
  for (const auto& [id, state] : attempts) held[id].set_state(state);
  return held;
}

v1::DesiredAgentState Desired(std::initializer_list<const char*> ids) {
  v1::DesiredAgentState desired;
  for (const char* id : ids) desired.add_attempts()->set_attempt_id(id);
  return desired;
}

TEST(Reconcile, NothingWantedNothingDone) {
  const AgentActions actions = Reconcile({}, Desired({}));
  EXPECT_THAT(actions.start, IsEmpty());
  EXPECT_THAT(actions.stop, IsEmpty());
  EXPECT_THAT(actions.forget, IsEmpty());
}

TEST(Reconcile, BeginsWhatIsNew) {
  EXPECT_THAT(Reconcile({}, Desired({"a"})).start, ElementsAre(0));
}

TEST(Reconcile, BeginsOneThingAtATime) {
  EXPECT_THAT(Reconcile({}, Desired({"a", "b"})).start, ElementsAre(0));
  EXPECT_THAT(Reconcile(Held({{"a", v1::RunAttemptState::RUNNING}}), Desired({"a", "b"})).start,
              IsEmpty());
  EXPECT_THAT(Reconcile(Held({{"a", v1::RunAttemptState::SUCCEEDED}}), Desired({"a", "b"})).start,
              ElementsAre(1));
}

TEST(Reconcile, KeepsWhatIsWanted) {
  for (const State state : {v1::RunAttemptState::PREPARING, v1::RunAttemptState::RUNNING,
                            v1::RunAttemptState::SUCCEEDED, v1::RunAttemptState::FAILED}) {
    const AgentActions actions = Reconcile(Held({{"a", state}}), Desired({"a"}));
    EXPECT_THAT(actions.start, IsEmpty());
    EXPECT_THAT(actions.stop, IsEmpty());
    EXPECT_THAT(actions.forget, IsEmpty());
  }
}

TEST(Reconcile, StopsAndThenForgetsWhatIsNotWanted) {
  EXPECT_THAT(Reconcile(Held({{"a", v1::RunAttemptState::PREPARING}}), Desired({})).stop,
              ElementsAre("a"));
  EXPECT_THAT(Reconcile(Held({{"a", v1::RunAttemptState::RUNNING}}), Desired({})).stop,
              ElementsAre("a"));
  EXPECT_THAT(Reconcile(Held({{"a", v1::RunAttemptState::STOPPED}}), Desired({})).forget,
              ElementsAre("a"));
  EXPECT_THAT(Reconcile(Held({{"a", v1::RunAttemptState::FAILED}}), Desired({})).forget,
              ElementsAre("a"));
}

TEST(Reconcile, WaitsForWhatItStopsBeforeItBeginsTheNext) {
  const AgentActions actions =
      Reconcile(Held({{"a", v1::RunAttemptState::RUNNING}}), Desired({"b"}));
  EXPECT_THAT(actions.stop, ElementsAre("a"));
  EXPECT_THAT(actions.start, IsEmpty());
}

TEST(TimeAway, IsOfWhoHoldsNothingAndHasLostHisServer) {
  const absl::Status lost = absl::UnavailableError("gone");
  v1::DesiredAgentState desired;
  EXPECT_EQ(TimeAway(lost, {}, desired, 0.5), absl::ZeroDuration());
  desired.set_return_within_ns(absl::ToInt64Nanoseconds(absl::Seconds(20)));
  EXPECT_EQ(TimeAway(lost, {}, desired, 0.5), absl::Seconds(10));
  EXPECT_EQ(TimeAway(lost, {}, desired, 0), absl::ZeroDuration());
  EXPECT_EQ(TimeAway(absl::AlreadyExistsError("another"), {}, desired, 0.5), absl::ZeroDuration());
  EXPECT_EQ(TimeAway(lost, Held({{"a", v1::RunAttemptState::SUCCEEDED}}), desired, 0.5),
            absl::ZeroDuration());
}

TEST(TimeAway, IsBoundedWhateverTheServerSays) {
  v1::DesiredAgentState desired;
  desired.set_return_within_ns(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(TimeAway(absl::UnavailableError("gone"), {}, desired, 1), absl::Minutes(1));
  desired.set_return_within_ns(-1);
  EXPECT_EQ(TimeAway(absl::UnavailableError("gone"), {}, desired, 1), absl::ZeroDuration());
}

TEST(IsAtStake, FromTheReportOfSomethingUnderWayUntilItsEndIsKnown) {
  const HeldAttempts under_way = Held({{"a", v1::RunAttemptState::RUNNING}});
  const HeldAttempts ended = Held({{"a", v1::RunAttemptState::SUCCEEDED}});
  EXPECT_FALSE(IsAtStake({}, false));
  EXPECT_TRUE(IsAtStake(under_way, false));
  EXPECT_TRUE(IsAtStake(ended, true));
  EXPECT_FALSE(IsAtStake({}, true));
  // What ended before it was reported.
  EXPECT_FALSE(IsAtStake(ended, false));
  EXPECT_TRUE(IsAtStake(
      Held({{"a", v1::RunAttemptState::SUCCEEDED}, {"b", v1::RunAttemptState::PREPARING}}), false));
}

TEST(ReconcileTest, AnOfferIsTakenByOneThatTakesOffersAndHasNothingToDo) {
  v1::DesiredAgentState desired;
  v1::AgentUpdate update;
  EXPECT_FALSE(Reconcile({}, desired, &update).takes_offer);
  desired.mutable_offer()->set_id("offer");
  EXPECT_TRUE(Reconcile({}, desired, &update).takes_offer);
  EXPECT_FALSE(Reconcile({}, desired).takes_offer);
  update.set_failed("offer");
  EXPECT_FALSE(Reconcile({}, desired, &update).takes_offer);
  update.set_failed("another");
  EXPECT_TRUE(Reconcile({}, desired, &update).takes_offer);
  v1::RunAttemptState attempt;
  attempt.set_state(v1::RunAttemptState::SUCCEEDED);
  EXPECT_TRUE(Reconcile({{"a", attempt}}, desired, &update).takes_offer);
  attempt.set_state(v1::RunAttemptState::RUNNING);
  EXPECT_FALSE(Reconcile({{"a", attempt}}, desired, &update).takes_offer);
  // What has ended and the server has not yet taken note of is still something.
  attempt.set_state(v1::RunAttemptState::SUCCEEDED);
  desired.add_attempts()->set_attempt_id("a");
  EXPECT_FALSE(Reconcile({{"a", attempt}}, desired, &update).takes_offer);
  EXPECT_FALSE(Reconcile({}, desired, &update).takes_offer);
}

}  // namespace
}  // namespace slipway
