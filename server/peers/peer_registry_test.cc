#include "server/peers/peer_registry.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"
#include "server/names.h"
#include "server/peers/sync_messages.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Stage = LeaseReport::Stage;

constexpr absl::Duration kSilence = absl::Seconds(10);

bool NobodyHolds(absl::string_view) { return false; }

class PeerRegistryTest : public ::testing::Test {
 protected:
  Report Agent(const std::string& agent, const std::string& device) {
    Report report{.call = {.peer = AgentKey(agent), .instance_id = "i", .sequence = ++sequence_},
                  .version = "1.0",
                  .supply = DeviceSupply{device, {.target = *ParseTarget("x86-64-linux")}},
                  .capacity = 1};
    report.description.set_id(device);
    report.description.set_target("x86-64-linux");
    return report;
  }
  Report Worker(const std::string& id) {
    return {.call = {.peer = WorkerKey(id), .instance_id = "i", .sequence = ++sequence_},
            .supply = TargetFingerprints{{"x86-64-linux", "f"}},
            .capacity = 2};
  }
  absl::StatusOr<PeerRegistry::Taken> Take(const Report& report) {
    return peers_.Take(report, wall_, now_,
                       [this](absl::string_view peer) { return holders_.contains(peer); });
  }
  void Pass(absl::Duration time) {
    wall_ += time;
    now_ += time;
  }
  // So many workers that nobody else has a place.
  void Fill() {
    for (int i = 0; peers_.peers().size() < kMaxPeers; ++i) {
      ASSERT_OK(Take(Worker(absl::StrCat("w", i))));
    }
  }
  v1::Device Shown(const std::string& agent) { return peers_.ShowDevice(AgentKey(agent), now_); }

  PeerRegistry peers_{kSilence};
  absl::Time wall_ = absl::FromUnixSeconds(1'000);
  absl::Duration now_ = absl::ZeroDuration();
  int64_t sequence_ = 0;
  absl::btree_set<std::string> holders_;  // Of leases.
};

// "PEER DEVICE" of those that were forgotten.
std::vector<std::string> Names(const std::vector<PeerRegistry::Forgotten>& all) {
  std::vector<std::string> names;
  for (const auto& [peer, device] : all) names.push_back(absl::StrCat(peer, " ", device));
  return names;
}

TEST_F(PeerRegistryTest, KnowsWhatWasReported) {
  EXPECT_EQ(peers_.Find("agent/a"), nullptr);
  EXPECT_EQ(peers_.AgentOfDevice("d"), "");
  const auto taken = Take(Agent("a", "d"));
  ASSERT_OK(taken);
  EXPECT_EQ(taken->kind, ReportKind::kNewInstance);
  EXPECT_TRUE(taken->device_changed);
  EXPECT_EQ(taken->device_gone, "");
  const RegisteredPeer* agent = peers_.Find("agent/a");
  ASSERT_NE(agent, nullptr);
  EXPECT_EQ(DeviceOf(*agent)->offer.target.ToString(), "x86-64-linux");
  EXPECT_EQ(agent->last_seen, wall_);
  EXPECT_EQ(peers_.AgentOfDevice("d"), "agent/a");
  const v1::Device shown = Shown("a");
  EXPECT_EQ(shown.state(), v1::Device::IDLE);
  EXPECT_EQ(shown.description().id(), "d");
  EXPECT_EQ(shown.agent_id(), "a");
  EXPECT_EQ(shown.agent_version(), "1.0");
  EXPECT_EQ(shown.last_seen_ns(), absl::ToUnixNanos(wall_));

  ASSERT_OK(Take(Worker("w")));
  EXPECT_EQ(DeviceOf(*peers_.Find("worker/w")), nullptr);
  const v1::Worker worker = peers_.ShowWorker("worker/w", now_);
  EXPECT_EQ(worker.id(), "w");
  EXPECT_EQ(worker.fingerprint(), "f");
  EXPECT_EQ(worker.targets(0).family(), "x86-64-linux");
  EXPECT_FALSE(worker.lost());
}

TEST_F(PeerRegistryTest, ADeviceIsKeptAnewOnlyWhenItChanged) {
  Report report = Agent("a", "d");
  ASSERT_OK(Take(report));
  DeviceOffer& offer = std::get<DeviceSupply>(report.supply).offer;
  const std::vector<std::function<void()>> changes = {
      [&] { report.version = "1.1"; },
      [&] { report.description.set_model("a board"); },
      [&] { offer.abis.highest = 2; },
      [&] { offer.formats.highest = 2; },
  };
  for (const auto& change : changes) {
    change();
    for (const bool changed : {true, false}) {
      report.call.sequence = ++sequence_;
      EXPECT_EQ(Take(report)->device_changed, changed);
    }
  }
}

TEST_F(PeerRegistryTest, TheStateOfItsMachineIsShownAndNotKept) {
  Report report = Agent("a", "d");
  ASSERT_OK(Take(report));
  EXPECT_FALSE(Shown("a").has_machine());
  report.machine.emplace().set_load_millis(1'500);
  report.call.sequence = ++sequence_;
  EXPECT_FALSE(Take(report)->device_changed);
  EXPECT_EQ(Shown("a").machine().load_millis(), 1'500);
  report.machine.reset();
  report.call.sequence = ++sequence_;
  ASSERT_OK(Take(report));
  EXPECT_EQ(Shown("a").machine().load_millis(), 1'500);
  Pass(kSilence + absl::Seconds(1));
  EXPECT_EQ(Shown("a").state(), v1::Device::LOST);
  EXPECT_FALSE(Shown("a").has_machine());
}

TEST_F(PeerRegistryTest, OnlyWorkMakesItBusy) {
  Report report = Agent("a", "d");
  for (const Stage stage : {Stage::kUnknown, Stage::kPreparing, Stage::kRunning, Stage::kSucceeded,
                            Stage::kFailed, Stage::kStopped}) {
    const bool works = stage == Stage::kPreparing || stage == Stage::kRunning;
    report.leases = {{.id = "lease", .stage = stage}};
    report.call.sequence = ++sequence_;
    ASSERT_OK(Take(report));
    EXPECT_EQ(Shown("a").state(), works ? v1::Device::BUSY : v1::Device::IDLE);
    EXPECT_EQ(peers_.Find("agent/a")->active.contains("lease"), works);
  }
}

TEST_F(PeerRegistryTest, TheNextReportReplacesAllOfIt) {
  Report first = Worker("w");
  first.leases = {{.id = "lease", .stage = Stage::kRunning}};
  ASSERT_OK(Take(first));
  wall_ += absl::Hours(1);
  Report next = Worker("w");
  next.supply = TargetFingerprints{{"arm-64-linux", "e"}};
  next.capacity = 1;
  EXPECT_EQ(Take(next)->kind, ReportKind::kNewer);
  const RegisteredPeer* worker = peers_.Find("worker/w");
  EXPECT_EQ(std::get<TargetFingerprints>(worker->supply).at("arm-64-linux"), "e");
  EXPECT_EQ(worker->capacity, 1);
  EXPECT_EQ(worker->last_seen, wall_);
  EXPECT_THAT(worker->active, ElementsAre());
}

TEST_F(PeerRegistryTest, ASilentOneIsLostAndComesBack) {
  ASSERT_OK(Take(Agent("a", "d")));
  now_ += kSilence;
  EXPECT_EQ(Shown("a").state(), v1::Device::LOST);
  ASSERT_OK(Take(Agent("a", "d")));
  EXPECT_EQ(Shown("a").state(), v1::Device::IDLE);
}

TEST_F(PeerRegistryTest, AnOutdatedReportChangesNothing) {
  const Report late = Agent("a", "other");
  ASSERT_OK(Take(Agent("a", "d")));
  const auto taken = Take(late);
  ASSERT_OK(taken);
  EXPECT_EQ(taken->kind, ReportKind::kOutdated);
  EXPECT_FALSE(taken->device_changed);
  EXPECT_EQ(peers_.AgentOfDevice("other"), "");
  EXPECT_EQ(peers_.AgentOfDevice("d"), "agent/a");
}

TEST_F(PeerRegistryTest, TheDeviceThatAnAgentHadBeforeIsGone) {
  ASSERT_OK(Take(Agent("a", "d")));
  const auto taken = Take(Agent("a", "e"));
  ASSERT_OK(taken);
  EXPECT_TRUE(taken->device_changed);
  EXPECT_EQ(taken->device_gone, "d");
  EXPECT_EQ(peers_.AgentOfDevice("d"), "");
  EXPECT_EQ(peers_.AgentOfDevice("e"), "agent/a");
}

TEST_F(PeerRegistryTest, ADeviceIsOneAgentsUntilThatIsLost) {
  ASSERT_OK(Take(Agent("a", "d")));
  EXPECT_THAT(Take(Agent("b", "d")),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("belongs to agent 'a'")));
  EXPECT_EQ(peers_.Find("agent/b"), nullptr);
  EXPECT_EQ(peers_.table().Find("agent/b"), nullptr);
  now_ += kSilence;
  const auto taken = Take(Agent("b", "d"));
  ASSERT_OK(taken);
  EXPECT_TRUE(taken->device_changed);
  EXPECT_EQ(peers_.AgentOfDevice("d"), "agent/b");
  // An agent without a device is forgotten.
  EXPECT_EQ(peers_.Find("agent/a"), nullptr);
  EXPECT_EQ(peers_.table().Find("agent/a"), nullptr);
  // Its device is kept, as the other's.
  EXPECT_THAT(Names(taken->forgotten), ElementsAre("agent/a "));
}

TEST_F(PeerRegistryTest, TakesNoMoreThanItsLimitButKnowsThoseItHas) {
  Fill();
  EXPECT_THAT(Take(Agent("late", "late")), StatusIs(absl::StatusCode::kResourceExhausted,
                                                    AllOf(HasSubstr("10000 agents and workers"),
                                                          HasSubstr("10m"), HasSubstr("stop"))));
  EXPECT_OK(Take(Worker("w0")));
  peers_.Forget("worker/w1");
  EXPECT_OK(Take(Agent("late", "late")));
}

TEST_F(PeerRegistryTest, MakesRoomByForgettingWhoWasSilentLongest) {
  ASSERT_OK(Take(Agent("first", "d")));
  Pass(absl::Seconds(1));
  ASSERT_OK(Take(Agent("second", "e")));
  Fill();
  // Of the first it heard again.
  Pass(absl::Seconds(1));
  ASSERT_OK(Take(Agent("first", "d")));
  Pass(kLeastPeerRetention - absl::Seconds(1) - absl::Nanoseconds(1));
  EXPECT_THAT(Take(Agent("new", "n")), StatusIs(absl::StatusCode::kResourceExhausted));
  Pass(absl::Nanoseconds(1));
  const auto taken = Take(Agent("new", "n"));
  ASSERT_OK(taken);
  EXPECT_THAT(Names(taken->forgotten), ElementsAre("agent/second e"));
  EXPECT_EQ(peers_.Find("agent/second"), nullptr);
  EXPECT_EQ(peers_.table().Find("agent/second"), nullptr);
  EXPECT_EQ(peers_.AgentOfDevice("e"), "");
  EXPECT_EQ(peers_.AgentOfDevice("d"), "agent/first");
  EXPECT_EQ(peers_.peers().size(), kMaxPeers);
  // Next are the workers, in turn.
  EXPECT_THAT(Names(Take(Worker("new"))->forgotten), ElementsAre("worker/w0 "));
}

TEST_F(PeerRegistryTest, NobodyIsForgottenWithoutNeed) {
  Fill();
  peers_.Forget("worker/w0");
  Pass(kLeastPeerRetention);
  EXPECT_THAT(Names(Take(Worker("new"))->forgotten), ElementsAre());
  // Neither for those that are known, nor for one that has another's device.
  EXPECT_THAT(Names(Take(Worker("w1"))->forgotten), ElementsAre());
  ASSERT_OK(Take(Agent("a", "d")));
  Pass(kLeastPeerRetention);
  EXPECT_THAT(Names(Take(Agent("b", "d"))->forgotten), ElementsAre("agent/a "));
}

TEST_F(PeerRegistryTest, WhoIsConnectedOrHoldsALeaseIsNotForgotten) {
  ASSERT_OK(Take(Agent("connected", "c")));
  peers_.table().CallBegan("agent/connected", "i");
  ASSERT_OK(Take(Agent("busy", "b")));
  holders_ = {"agent/busy"};
  Pass(absl::Seconds(1));
  ASSERT_OK(Take(Agent("third", "t")));
  Pass(kLeastPeerRetention);
  Fill();
  EXPECT_THAT(Names(Take(Worker("new"))->forgotten), ElementsAre("agent/third t"));
  EXPECT_THAT(Take(Worker("newer")), StatusIs(absl::StatusCode::kResourceExhausted));
  // What counts is since when it is away.
  peers_.table().CallEnded("agent/connected", "i", now_);
  EXPECT_THAT(Take(Worker("newer")), StatusIs(absl::StatusCode::kResourceExhausted));
  holders_ = {};
  EXPECT_THAT(Names(Take(Worker("newer"))->forgotten), ElementsAre("agent/busy b"));
}

TEST_F(PeerRegistryTest, WhoMayBeSilentForLongerIsNotForgottenBefore) {
  const absl::Duration silence = 2 * kLeastPeerRetention;
  PeerRegistry patient(silence);
  const auto take = [&](const std::string& worker) {
    return patient.Take(Worker(worker), wall_, now_, NobodyHolds).status();
  };
  for (int i = 0; i < kMaxPeers; ++i) ASSERT_OK(take(absl::StrCat("w", i)));
  Pass(silence - absl::Nanoseconds(1));
  EXPECT_THAT(take("new"), StatusIs(absl::StatusCode::kResourceExhausted));
  Pass(absl::Nanoseconds(1));
  EXPECT_OK(take("new"));
}

TEST_F(PeerRegistryTest, AnOutdatedReportWasHeardToo) {
  const Report outdated = Agent("a", "d");
  ASSERT_OK(Take(Agent("a", "d")));
  Pass(kLeastPeerRetention);
  Fill();
  Pass(absl::Nanoseconds(1));
  ASSERT_OK(Take(outdated));
  EXPECT_THAT(Take(Worker("new")), StatusIs(absl::StatusCode::kResourceExhausted));
  Pass(kLeastPeerRetention);
  // Then those that were there before it spoke go first.
  EXPECT_THAT(Names(Take(Worker("new"))->forgotten), ElementsAre("worker/w0 "));
}

TEST_F(PeerRegistryTest, AnAgentThatRenamesItsDeviceTakesOnePlace) {
  Fill();
  peers_.Forget("worker/w0");
  std::string before;
  for (int i = 0; i < 3; ++i) {
    const std::string device = absl::StrCat("d", i);
    const auto taken = Take(Agent("a", device));
    ASSERT_OK(taken);
    EXPECT_EQ(taken->device_gone, before);
    EXPECT_THAT(Names(taken->forgotten), ElementsAre());
    before = device;
  }
  EXPECT_EQ(peers_.peers().size(), kMaxPeers);
}

TEST_F(PeerRegistryTest, RestoredDevicesHaveTimeToComeBack) {
  ASSERT_OK(Take(Agent("a", "d")));
  v1::Device kept = Shown("a");
  peers_.Forget("agent/a");
  Pass(kDeviceRetention / 2);
  for (const auto& [id, seen] : {std::pair("late", 2), std::pair("early", 1)}) {
    kept.mutable_description()->set_id(id);
    kept.set_agent_id(id);
    kept.set_last_seen_ns(seen);
    peers_.Restore(kept, now_);
  }
  Fill();
  Pass(kLeastPeerRetention - absl::Nanoseconds(1));
  EXPECT_THAT(Take(Worker("new")), StatusIs(absl::StatusCode::kResourceExhausted));
  Pass(absl::Nanoseconds(1));
  EXPECT_THAT(Names(Take(Worker("new"))->forgotten), ElementsAre("agent/early early"));
  EXPECT_THAT(Names(Take(Worker("newer"))->forgotten), ElementsAre("agent/late late"));
}

TEST_F(PeerRegistryTest, RestoredDevicesAreLostUntilTheyReport) {
  ASSERT_OK(Take(Agent("a", "d")));
  const v1::Device kept = Shown("a");
  PeerRegistry restarted(kSilence);
  EXPECT_EQ(restarted.Restore(kept, now_), "");
  v1::Device shown = restarted.ShowDevice("agent/a", now_);
  EXPECT_EQ(shown.state(), v1::Device::LOST);
  shown.set_state(kept.state());
  EXPECT_EQ(shown.SerializeAsString(), kept.SerializeAsString());
  // Unchanged, it need not be kept anew.
  EXPECT_FALSE(restarted.Take(Agent("a", "d"), wall_, now_, NobodyHolds)->device_changed);
}

TEST_F(PeerRegistryTest, OfTwoDevicesKeptOfAnAgentTheLatestIsRestored) {
  ASSERT_OK(Take(Agent("a", "d")));
  v1::Device kept = Shown("a");
  const auto restore = [&](const std::string& id, int64_t seen) {
    kept.mutable_description()->set_id(id);
    kept.set_agent_id("b");
    kept.set_last_seen_ns(seen);
    return peers_.Restore(kept, now_);
  };
  EXPECT_EQ(restore("new", 3), "");
  EXPECT_EQ(restore("old", 2), "old");
  EXPECT_EQ(restore("newest", 4), "new");
  EXPECT_EQ(peers_.AgentOfDevice("newest"), "agent/b");
  EXPECT_EQ(peers_.AgentOfDevice("new"), "");
  EXPECT_EQ(peers_.AgentOfDevice("old"), "");
}

TEST_F(PeerRegistryTest, ATargetNobodyKnowsAnyMoreIsNotRestored) {
  v1::Device kept;
  kept.mutable_description()->set_id("d");
  kept.mutable_description()->set_target("z80");
  EXPECT_EQ(peers_.Restore(kept, now_), "");
  EXPECT_TRUE(peers_.peers().empty());
}

TEST_F(PeerRegistryTest, ForgetsThoseThatAreLostAndNotSeenForLong) {
  ASSERT_OK(Take(Agent("a", "d")));
  ASSERT_OK(Take(Agent("busy", "e")));
  peers_.table().CallBegan("agent/busy", "i");
  ASSERT_OK(Take(Worker("w")));
  const auto pass = [this](absl::Duration time) {
    Pass(time);
    return Names(peers_.ForgetUnseen(wall_, now_));
  };
  EXPECT_THAT(pass(kWorkerRetention), ElementsAre());
  EXPECT_NE(peers_.Find("worker/w"), nullptr);
  EXPECT_THAT(pass(absl::Seconds(1)), ElementsAre("worker/w "));
  EXPECT_EQ(peers_.Find("worker/w"), nullptr);
  EXPECT_EQ(peers_.table().Find("worker/w"), nullptr);
  EXPECT_THAT(pass(kDeviceRetention), ElementsAre("agent/a d"));
  EXPECT_EQ(peers_.Find("agent/a"), nullptr);
  // One with an open call is not lost, however long that takes.
  EXPECT_EQ(peers_.AgentOfDevice("e"), "agent/busy");
}

TEST_F(PeerRegistryTest, ForgettingWhoIsUnknownIsNothing) {
  peers_.Forget("worker/unknown");
  EXPECT_TRUE(peers_.peers().empty());
}

// "KEY=VALUE" of those that administrators have given.
std::vector<std::string> LabelsOf(const v1::Device& device) {
  std::vector<std::string> labels;
  for (const v1::Label& label : device.labels()) {
    labels.push_back(absl::StrCat(label.key(), "=", label.value()));
  }
  return labels;
}

TEST_F(PeerRegistryTest, LabelsOfAdministratorsStayWithTheDevice) {
  ASSERT_OK(Take(Agent("a", "d")));
  ASSERT_OK(peers_.ChangeLabels("d", {{"lab", "berlin"}, {"rack", "2"}}, {}));
  EXPECT_THAT(LabelsOf(Shown("a")), ElementsAre("lab=berlin", "rack=2"));
  EXPECT_THAT(peers_.ChangeLabels("d", {{"lab", "munich"}}, {"rack", "none"}),
              slipway::testing::IsOkAndHolds(Labels{{"lab", "munich"}}));
  // Reports do not change them, nor does another agent with the same device, nor a restart.
  ASSERT_OK(Take(Agent("a", "d")));
  EXPECT_THAT(LabelsOf(Shown("a")), ElementsAre("lab=munich"));
  Pass(kSilence * 2);
  ASSERT_OK(Take(Agent("b", "d")));
  EXPECT_THAT(LabelsOf(Shown("b")), ElementsAre("lab=munich"));
  PeerRegistry later(kSilence);
  EXPECT_EQ(later.Restore(Shown("b"), now_), "");
  EXPECT_THAT(LabelsOf(later.ShowDevice("agent/b", now_)), ElementsAre("lab=munich"));
  // Another device is another one.
  ASSERT_OK(Take(Agent("b", "e")));
  EXPECT_THAT(LabelsOf(Shown("b")), ElementsAre());
  ASSERT_OK(Take(Agent("b", "d")));
  EXPECT_THAT(LabelsOf(Shown("b")), ElementsAre());
}

TEST_F(PeerRegistryTest, OnlySoManyLabelsAndOnlyOfDevicesThatAreKnown) {
  EXPECT_THAT(peers_.ChangeLabels("d", {{"lab", "berlin"}}, {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no device 'd' is known")));
  ASSERT_OK(Take(Agent("a", "d")));
  Labels labels;
  for (size_t i = 0; i < kMaxLabels; ++i) labels[absl::StrCat("k", i)] = "v";
  ASSERT_OK(peers_.ChangeLabels("d", labels, {}));
  EXPECT_THAT(peers_.ChangeLabels("d", {{"more", ""}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("would have 33 labels")));
  EXPECT_EQ(Shown("a").labels_size(), static_cast<int>(kMaxLabels));
  EXPECT_OK(peers_.ChangeLabels("d", {{"more", ""}}, {"k0"}));
}

TEST_F(PeerRegistryTest, WhatSelectorsKnowChangesWithTheDeviceAlone) {
  const auto attributes = [this] { return DeviceOf(*peers_.Find("agent/a"))->attributes; };
  ASSERT_OK(Take(Agent("a", "d")));
  const auto first = attributes();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->texts.at(DeviceAttribute::kArch), std::vector<std::string>{"x86-64"});
  ASSERT_OK(Take(Agent("a", "d")));
  EXPECT_EQ(attributes(), first);
  Report more = Agent("a", "d");
  more.description.set_cores(8);
  ASSERT_OK(Take(more));
  const auto second = attributes();
  EXPECT_EQ(second->numbers.at(DeviceAttribute::kCores), 8);
  ASSERT_OK(peers_.ChangeLabels("d", {{"lab", "berlin"}}, {}));
  EXPECT_EQ(attributes()->labels.at("lab"), "berlin");
  EXPECT_EQ(second->labels.size(), 0u);
}

}  // namespace
}  // namespace slipway::server
