#include "server/devices/rollout.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

v1::AgentOffer Offer(int at_once = 1, int max_failures = 1) {
  v1::AgentOffer offer;
  offer.set_id("offer");
  offer.mutable_binary()->set_sha256("new");
  offer.set_at_once(at_once);
  offer.set_max_failures(max_failures);
  return offer;
}

RolloutAgent Agent(const std::string& key) {
  RolloutAgent agent{.key = key, .device = key};
  agent.update.mutable_binary()->set_sha256("old");
  return agent;
}
RolloutAgent Updated(const std::string& key) {
  RolloutAgent agent = Agent(key);
  agent.update.mutable_binary()->set_sha256("new");
  return agent;
}
RolloutAgent Taking(const std::string& key, const std::string& offer = "offer") {
  RolloutAgent agent = Agent(key);
  agent.update.set_taking(offer);
  return agent;
}
RolloutAgent Failed(const std::string& key, const std::string& offer = "offer") {
  RolloutAgent agent = Agent(key);
  agent.update.set_failed(offer);
  agent.update.set_failure("it exited");
  return agent;
}
RolloutAgent Told(RolloutAgent agent) {
  agent.was_told = true;
  return agent;
}
RolloutAgent Lost(RolloutAgent agent) {
  agent.is_lost = true;
  return agent;
}

TEST(RolloutTest, SoManyAtOnceInTheirOrder) {
  const std::vector<RolloutAgent> agents = {Agent("a"), Agent("b"), Agent("c")};
  EXPECT_THAT(PlanRollout(Offer(), agents).told, ElementsAre("a"));
  const RolloutPlan two = PlanRollout(Offer(2), agents);
  EXPECT_THAT(two.told, ElementsAre("a", "b"));
  EXPECT_EQ(two.rollout.under_way(), 2);
  EXPECT_EQ(two.rollout.waiting(), 1);
  EXPECT_THAT(PlanRollout(Offer(9), agents).told, ElementsAre("a", "b", "c"));
  EXPECT_THAT(PlanRollout(Offer(), {}).told, IsEmpty());
}

TEST(RolloutTest, WhoeverHasItMakesPlace) {
  const RolloutPlan plan = PlanRollout(Offer(), {Updated("a"), Agent("b")});
  EXPECT_THAT(plan.told, ElementsAre("b"));
  EXPECT_EQ(plan.rollout.updated(), 1);
}

TEST(RolloutTest, OneThatWasToldStaysSoWhoeverComes) {
  EXPECT_THAT(PlanRollout(Offer(), {Agent("a"), Told(Agent("b"))}).told, ElementsAre("b"));
  EXPECT_THAT(PlanRollout(Offer(), {Agent("a"), Taking("b")}).told, ElementsAre("b"));
  // More than may be now, after another offer allowed it.
  EXPECT_THAT(PlanRollout(Offer(), {Taking("a"), Taking("b"), Agent("c")}).told,
              ElementsAre("a", "b"));
}

TEST(RolloutTest, OneThatIsLostMakesPlaceUnlessItTakesTheOffer) {
  EXPECT_THAT(PlanRollout(Offer(), {Lost(Told(Agent("a"))), Agent("b")}).told, ElementsAre("b"));
  EXPECT_THAT(PlanRollout(Offer(), {Lost(Taking("a")), Agent("b")}).told, ElementsAre("a"));
  EXPECT_THAT(PlanRollout(Offer(), {Lost(Agent("a")), Agent("b")}).told, ElementsAre("b"));
}

TEST(RolloutTest, HaltsWhenSoManyHaveGivenItUp) {
  const RolloutPlan halted = PlanRollout(Offer(2), {Failed("a"), Taking("b"), Agent("c")});
  EXPECT_TRUE(halted.rollout.halted());
  EXPECT_THAT(halted.told, ElementsAre("b"));
  EXPECT_EQ(halted.rollout.failed_device(), "a");
  EXPECT_EQ(halted.rollout.failure(), "it exited");
  const RolloutPlan goes_on = PlanRollout(Offer(1, 2), {Failed("a"), Agent("b")});
  EXPECT_FALSE(goes_on.rollout.halted());
  EXPECT_THAT(goes_on.told, ElementsAre("b"));
}

TEST(RolloutTest, WhatWasGivenUpBeforeIsAnotherOffer) {
  const RolloutPlan plan = PlanRollout(Offer(), {Failed("a", "earlier")});
  EXPECT_THAT(plan.told, ElementsAre("a"));
  EXPECT_EQ(plan.rollout.failed(), 0);
  EXPECT_THAT(PlanRollout(Offer(), {Taking("a", "earlier"), Agent("b")}).told, ElementsAre("a"));
}

// Every agent updates, fails or is lost at random; whatever they do, no more than allowed take it at a time or give it up.
TEST(RolloutTest, ABadBinaryTakesNoMoreThanAllowed) {
  for (int at_once = 1; at_once <= 3; ++at_once) {
    for (int most = 1; most <= 3; ++most) {
      std::vector<RolloutAgent> agents;
      for (int i = 0; i < 20; ++i)
        agents.push_back(Agent(std::string(1, static_cast<char>('a' + i))));
      for (int turn = 0; turn < 40; ++turn) {
        const RolloutPlan plan = PlanRollout(Offer(at_once, most), agents);
        ASSERT_LE(plan.told.size(), static_cast<size_t>(at_once));
        for (RolloutAgent& agent : agents) {
          agent.was_told = false;
          for (const std::string& key : plan.told) agent.was_told |= key == agent.key;
          if (!agent.was_told) continue;
          agent = turn % 2 == 0 ? Taking(agent.key) : Failed(agent.key);
        }
      }
      int failed = 0;
      for (const RolloutAgent& agent : agents) failed += agent.update.failed().empty() ? 0 : 1;
      EXPECT_GE(failed, most);
      EXPECT_LE(failed, most - 1 + at_once);
    }
  }
}

}  // namespace
}  // namespace slipway::server
