// What agents are told of offers, and what they are given meanwhile.
#include "absl/strings/str_cat.h"
#include "server/scheduler/dispatcher_fixture.h"

namespace slipway::server::testing {
namespace {

const std::string kOld(64, 'a');
const std::string kNew(64, 'b');

class DispatcherRolloutTest : public DispatcherTest {
 protected:
  AgentOfferRecord Offer(const std::string& selector = "") {
    AgentOfferRecord record;
    v1::AgentOffer& offer = *record.mutable_offer();
    offer.set_id(ids_.Next(clock_.Now()));
    offer.mutable_binary()->set_sha256(kNew);
    offer.mutable_binary()->set_size_bytes(1);
    offer.set_version("2.0.0");
    offer.set_platform("x86-64-linux");
    offer.set_selector(selector);
    offer.set_at_once(1);
    offer.set_max_failures(1);
    record.mutable_statement()->set_payload("signed");
    return record;
  }
  // One that takes offers.
  v1::AgentState Taker(const std::string& id, const std::string& binary = kOld) {
    v1::AgentState state = Agent(id);
    state.mutable_update()->set_platform("x86-64-linux");
    state.mutable_update()->mutable_binary()->set_sha256(binary);
    state.mutable_update()->mutable_binary()->set_size_bytes(1);
    return state;
  }
  v1::Device Show(const std::string& id) {
    for (const v1::Device& device : dispatcher_->Devices(caller_)) {
      if (device.description().id() == id) return device;
    }
    return {};
  }
};

TEST_F(DispatcherRolloutTest, OneAfterTheOtherIsTold) {
  const v1::AgentState a = Taker("a");
  const v1::AgentState b = Taker("b");
  const v1::AgentState old = Agent("c");
  const std::string before = Sync(a).version();
  Sync(b);
  Sync(old);
  const AgentOfferRecord offer = Offer();
  dispatcher_->SetOffers({offer});
  const v1::DesiredAgentState told = *DesiredOf(a);
  EXPECT_EQ(told.offer().id(), offer.offer().id());
  EXPECT_EQ(told.offer().statement().payload(), "signed");
  // A parked call is answered.
  EXPECT_NE(told.version(), before);
  EXPECT_FALSE(DesiredOf(b)->has_offer());
  EXPECT_FALSE(DesiredOf(old)->has_offer());
  EXPECT_EQ(Show("a").offered_version(), "2.0.0");
  EXPECT_EQ(Show("b").offered_version(), "");
  // The new one reports.
  EXPECT_FALSE(Sync(Taker("a", kNew)).has_offer());
  EXPECT_TRUE(DesiredOf(b)->has_offer());
  ASSERT_EQ(dispatcher_->Rollouts().size(), 1u);
  EXPECT_EQ(dispatcher_->Rollouts()[0].updated(), 1);
  dispatcher_->SetOffers({});
  EXPECT_FALSE(DesiredOf(b)->has_offer());
  EXPECT_TRUE(dispatcher_->Rollouts().empty());
}

// A plan looks at every agent: there is one for all who come within a second.
TEST_F(DispatcherRolloutTest, WhoComesWhileThereIsAnOfferIsToldSoon) {
  dispatcher_->SetOffers({Offer()});
  const v1::AgentState a = Taker("a");
  const v1::AgentState b = Taker("b");
  EXPECT_FALSE(Sync(a).has_offer());
  EXPECT_FALSE(Sync(b).has_offer());
  Advance(absl::Milliseconds(999));
  EXPECT_FALSE(DesiredOf(a)->has_offer());
  Advance(absl::Milliseconds(1));
  EXPECT_TRUE(DesiredOf(a)->has_offer());
  EXPECT_FALSE(DesiredOf(b)->has_offer());
  // One that ends makes place at once.
  EXPECT_FALSE(Sync(Taker("a", kNew)).has_offer());
  EXPECT_TRUE(DesiredOf(b)->has_offer());
}

TEST_F(DispatcherRolloutTest, OneThatIsToldEndsWhatItHasAndIsGivenNothing) {
  const v1::AgentState a = Taker("a");
  Sync(a);
  const std::string first = AcceptRun("1");
  ASSERT_EQ(Get(first).state(), Job::ASSIGNED);
  const v1::DesiredAgentState assigned = *DesiredOf(a);
  const std::string second = AcceptRun("2");
  dispatcher_->SetOffers({Offer()});
  // It keeps what it has, and its report is that of one who does as he was told.
  v1::DesiredAgentState told = *DesiredOf(a);
  EXPECT_EQ(told.attempts_size(), 1);
  const std::string attempt = assigned.attempts(0).attempt_id();
  told = Sync(Holding(a, told, Attempt(attempt, v1::RunAttemptState::SUCCEEDED)));
  EXPECT_EQ(Get(first).state(), Job::SUCCEEDED);
  EXPECT_EQ(Get(second).state(), Job::QUEUED);
  EXPECT_EQ(told.attempts_size(), 0);
  EXPECT_TRUE(told.has_offer());
  Sync(Taker("a", kNew));
  EXPECT_EQ(Get(second).state(), Job::ASSIGNED);
}

TEST_F(DispatcherRolloutTest, GivesWorkAgainWhenTheOfferIsTakenBackOrGivenUp) {
  const v1::AgentState a = Taker("a");
  Sync(a);
  dispatcher_->SetOffers({Offer()});
  const std::string first = AcceptRun("1");
  EXPECT_EQ(Get(first).state(), Job::QUEUED);
  dispatcher_->SetOffers({});
  EXPECT_EQ(Get(first).state(), Job::ASSIGNED);
  ASSERT_OK(dispatcher_->Cancel(caller_, first).status());
  Sync(Taker("a"));

  const AgentOfferRecord offer = Offer();
  dispatcher_->SetOffers({offer});
  v1::AgentState failed = Taker("a");
  failed.mutable_update()->set_failed(offer.offer().id());
  failed.mutable_update()->set_failure("it exited");
  EXPECT_FALSE(Sync(failed).has_offer());
  EXPECT_EQ(Get(AcceptRun("2")).state(), Job::ASSIGNED);
  EXPECT_EQ(Show("a").update().failure(), "it exited");
  const v1::AgentRollout rollout = dispatcher_->Rollouts()[0];
  EXPECT_TRUE(rollout.halted());
  EXPECT_EQ(rollout.failed_device(), "a");
  // It tries another offer, of whatever binary.
  dispatcher_->SetOffers({Offer()});
  EXPECT_TRUE(DesiredOf(failed)->has_offer());
}

TEST_F(DispatcherRolloutTest, ForWhomItIsAlone) {
  v1::AgentState arm = Taker("arm");
  arm.mutable_update()->set_platform("arm-64-linux");
  Sync(arm);
  const v1::AgentState a = Taker("a");
  const v1::AgentState b = Taker("b");
  Sync(a);
  Sync(b);
  dispatcher_->SetOffers({Offer("b")});
  EXPECT_FALSE(DesiredOf(arm)->has_offer());
  EXPECT_FALSE(DesiredOf(a)->has_offer());
  EXPECT_TRUE(DesiredOf(b)->has_offer());
  dispatcher_->SetOffers({Offer("label:lab=berlin")});
  EXPECT_FALSE(DesiredOf(a)->has_offer());
  EXPECT_FALSE(DesiredOf(b)->has_offer());
  ASSERT_OK(dispatcher_->ChangeLabels(caller_, "a", {{"lab", "berlin"}}, {}).status());
  EXPECT_TRUE(DesiredOf(a)->has_offer());
  EXPECT_EQ(Show("a").offered_version(), "2.0.0");
}

// After a restart of the server, one that was lost while it took the offer still holds its place.
TEST_F(DispatcherRolloutTest, WhoTakesItIsKnownAfterARestart) {
  const AgentOfferRecord offer = Offer();
  v1::AgentState a = Taker("a");
  Sync(a);
  const v1::AgentState b = Taker("b");
  Sync(b);
  dispatcher_->SetOffers({offer});
  v1::AgentState taking = Taker("a");
  taking.mutable_update()->set_taking(offer.offer().id());
  taking.set_leaving(true);
  ASSERT_OK(Report(taking));
  Restart();
  dispatcher_->SetOffers({offer});
  EXPECT_FALSE(Sync(Taker("b")).has_offer());
  EXPECT_EQ(dispatcher_->Rollouts()[0].under_way(), 1);
  Sync(Taker("a", kNew));
  EXPECT_TRUE(Sync(Taker("b")).has_offer());
}

TEST_F(DispatcherRolloutTest, WhatAnAgentSaysIsChecked) {
  v1::AgentState a = Taker("a");
  a.mutable_update()->set_platform("../etc");
  EXPECT_THAT(ReadReport(a, "here"), slipway::testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                                                ::testing::HasSubstr("platform")));
  a = Taker("a");
  a.mutable_update()->mutable_binary()->set_sha256("short");
  EXPECT_FALSE(ReadReport(a, "here").ok());
  a = Taker("a");
  a.mutable_update()->set_failed("no id of this server's");
  a.mutable_update()->set_failure(std::string(100'000, 'x'));
  EXPECT_EQ(ReadReport(a, "here")->update->failed(), "");
  a.mutable_update()->set_failed(ids_.Next(clock_.Now()));
  EXPECT_EQ(ReadReport(a, "here")->update->failure().size(), 1024u);
}

}  // namespace
}  // namespace slipway::server::testing
