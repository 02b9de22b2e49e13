// The dispatcher where as many agents are known as it takes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"
#include "server/scheduler/dispatcher_fixture.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::server::testing::DispatcherTest;
using slipway::testing::StatusIs;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;
using v1::Job;

class DispatcherRoomTest : public DispatcherTest {
 protected:
  // So many agents that are invented that nobody else has a place.
  void Invent() {
    const size_t known = dispatcher_->Devices(caller_).size();
    for (size_t i = known; i < kMaxPeers; ++i) {
      ASSERT_OK(Report(Agent(absl::StrCat("invented-", i))));
    }
  }
  std::vector<std::string> Kept() {
    std::vector<std::string> ids;
    const std::vector<v1::Device> devices = *store_.LoadDevices();
    for (const v1::Device& device : devices) ids.push_back(device.description().id());
    return ids;
  }
};

TEST_F(DispatcherRoomTest, InventedAgentsGiveWayToRealOnes) {
  Invent();
  EXPECT_THAT(Report(Agent("real")), StatusIs(absl::StatusCode::kResourceExhausted));
  Advance(kLeastPeerRetention);
  EXPECT_OK(Report(Agent("real")));
  EXPECT_THAT(Kept(), SizeIs(kMaxPeers));
  EXPECT_THAT(Kept(), Contains("real"));
  EXPECT_THAT(Kept(), Not(Contains("invented-0")));
  Restart();
  EXPECT_THAT(dispatcher_->Devices(caller_), SizeIs(kMaxPeers));
}

TEST_F(DispatcherRoomTest, WhoHoldsAnAttemptKeepsItsPlace) {
  const std::string run = AcceptRun("1");
  ASSERT_EQ(Sync(Agent("busy")).attempts_size(), 1);
  clock_.Advance(absl::Seconds(1));
  ASSERT_OK(Report(Agent("idle")));
  // Nobody has noticed yet that it is silent.
  clock_.Advance(kLeastPeerRetention);
  Invent();
  ASSERT_OK(Report(Agent("real")));
  EXPECT_THAT(Kept(), Not(Contains("idle")));
  EXPECT_THAT(Kept(), Contains("busy"));
  EXPECT_THAT(Report(Agent("another")), StatusIs(absl::StatusCode::kResourceExhausted));
  ASSERT_EQ(Get(run).state(), Job::ASSIGNED);
  dispatcher_->Tick();
  ASSERT_EQ(Get(run).state(), Job::QUEUED);
  EXPECT_OK(Report(Agent("another")));
  EXPECT_THAT(Kept(), Not(Contains("busy")));
}

TEST_F(DispatcherRoomTest, AForgottenAgentComesBackToWhatWaitsForIt) {
  ASSERT_OK(Report(Agent("real")));
  Advance(kLeastPeerRetention);
  Invent();
  const std::string run = AcceptRun("1", "real");
  ASSERT_OK(Report(Agent("new")));
  EXPECT_THAT(Kept(), Not(Contains("real")));
  EXPECT_EQ(Get(run).state(), Job::QUEUED);
  Advance(kLeastPeerRetention);
  EXPECT_EQ(Sync(Agent("real")).attempts_size(), 1);
}

TEST_F(DispatcherRoomTest, AnAgentThatRenamesItsDeviceKeepsOthersOutOfNothing) {
  v1::AgentState agent = Agent("a");
  for (int i = 0; i <= kMaxPeers; ++i) {
    agent.set_sequence(++sequence_);
    agent.mutable_devices(0)->set_id(absl::StrCat("d", i));
    ASSERT_OK(Report(agent));
  }
  EXPECT_OK(Report(Agent("real")));
  EXPECT_THAT(Kept(), ElementsAre(absl::StrCat("d", kMaxPeers), "real"));
}

// A process that was killed while it changed one for the other left both.
TEST_F(DispatcherRoomTest, OfTwoDevicesKeptOfAnAgentOneGoes) {
  v1::Device kept;
  kept.mutable_description()->set_target("x86-64-linux");
  kept.set_agent_id("a");
  for (const auto& [id, seen] : {std::pair("new", 2), std::pair("old", 1)}) {
    kept.mutable_description()->set_id(id);
    kept.set_last_seen_ns(seen);
    ASSERT_OK(store_.SaveDevice(kept));
  }
  Restart();
  EXPECT_THAT(Kept(), ElementsAre("new"));
}

}  // namespace
}  // namespace slipway::server
