#include "server/devices/device_registry.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"
#include "server/peers/bad_reports.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::server::testing::BadReport;
using slipway::server::testing::BadReports;
using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::Duration kSilence = absl::Seconds(10);

class DeviceRegistryTest : public ::testing::Test {
 protected:
  v1::AgentState State(const std::string& agent, const std::string& device) {
    v1::AgentState state;
    state.set_agent_id(agent);
    state.set_instance_id("i");
    state.set_sequence(++sequence_);
    state.set_version("1.0");
    state.set_min_protocol(1);
    state.set_max_protocol(1);
    state.add_devices()->set_id(device);
    state.mutable_devices(0)->set_target("x86-64-linux");
    return state;
  }
  absl::StatusOr<DeviceRegistry::Reported> Report(const v1::AgentState& state) {
    return devices_.Report(state, "here", wall_, now_);
  }
  v1::Device::State Shown(const std::string& device) {
    return devices_.Show(*devices_.Find(device), now_).state();
  }

  DeviceRegistry devices_{kSilence};
  absl::Time wall_ = absl::FromUnixSeconds(1'000);
  absl::Duration now_ = absl::ZeroDuration();
  int64_t sequence_ = 0;
};

TEST_F(DeviceRegistryTest, KnowsWhatWasReported) {
  EXPECT_EQ(devices_.Find("d"), nullptr);
  const auto reported = Report(State("a", "d"));
  ASSERT_OK(reported);
  EXPECT_EQ(reported->kind, ReportKind::kNewInstance);
  EXPECT_TRUE(reported->description_changed);
  const RegisteredDevice* device = devices_.Find("d");
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->offer.target.ToString(), "x86-64-linux");
  EXPECT_EQ(device->agent_id, "a");
  EXPECT_EQ(device->agent_version, "1.0");
  EXPECT_EQ(device->last_seen, wall_);
  EXPECT_THAT(devices_.DevicesOf("a"), ElementsAre(device));
  EXPECT_THAT(devices_.DevicesOf("b"), ElementsAre());
  const v1::Device shown = devices_.Show(*device, now_);
  EXPECT_EQ(shown.state(), v1::Device::IDLE);
  EXPECT_EQ(shown.description().id(), "d");
  EXPECT_EQ(shown.agent_id(), "a");
  EXPECT_EQ(shown.agent_version(), "1.0");
  EXPECT_EQ(shown.last_seen_ns(), absl::ToUnixNanos(wall_));
}

TEST_F(DeviceRegistryTest, ADescriptionIsKeptAnewOnlyWhenItChanged) {
  v1::AgentState state = State("a", "d");
  ASSERT_OK(Report(state));
  const std::vector<std::function<void()>> changes = {
      [&] { state.set_version("1.1"); },
      [&] { state.mutable_devices(0)->set_model("a board"); },
      [&] { state.mutable_devices(0)->set_target("x86-64-v2-linux"); },
  };
  for (const auto& change : changes) {
    change();
    for (const bool changed : {true, false}) {
      state.set_sequence(++sequence_);
      EXPECT_EQ(Report(state)->description_changed, changed);
    }
  }
}

TEST_F(DeviceRegistryTest, OnlyWorkMakesItBusy) {
  v1::AgentState state = State("a", "d");
  for (const v1::RunAttemptState::State kind :
       {v1::RunAttemptState::PREPARING, v1::RunAttemptState::RUNNING,
        v1::RunAttemptState::SUCCEEDED, v1::RunAttemptState::FAILED,
        v1::RunAttemptState::STOPPED}) {
    const bool works =
        kind == v1::RunAttemptState::PREPARING || kind == v1::RunAttemptState::RUNNING;
    state.clear_attempts();
    state.add_attempts()->set_attempt_id("attempt");
    state.mutable_attempts(0)->set_state(kind);
    state.set_sequence(++sequence_);
    ASSERT_OK(Report(state));
    EXPECT_EQ(Shown("d"), works ? v1::Device::BUSY : v1::Device::IDLE) << kind;
    EXPECT_EQ(devices_.ActiveAttempts("a").contains("attempt"), works) << kind;
  }
  EXPECT_TRUE(devices_.ActiveAttempts("unknown").empty());
}

TEST_F(DeviceRegistryTest, ASilentOneIsLostAndComesBack) {
  ASSERT_OK(Report(State("a", "d")));
  now_ += kSilence;
  EXPECT_EQ(Shown("d"), v1::Device::LOST);
  ASSERT_OK(Report(State("a", "d")));
  EXPECT_EQ(Shown("d"), v1::Device::IDLE);
}

TEST_F(DeviceRegistryTest, AnOutdatedReportChangesNothing) {
  v1::AgentState late = State("a", "other");
  ASSERT_OK(Report(State("a", "d")));
  const auto reported = Report(late);
  ASSERT_OK(reported);
  EXPECT_EQ(reported->kind, ReportKind::kOutdated);
  EXPECT_FALSE(reported->description_changed);
  EXPECT_EQ(devices_.Find("other"), nullptr);
  EXPECT_NE(devices_.Find("d"), nullptr);
}

TEST_F(DeviceRegistryTest, WhatAnAgentDoesNotDescribeAnyMoreIsGone) {
  ASSERT_OK(Report(State("a", "d")));
  ASSERT_OK(Report(State("b", "e")));
  ASSERT_OK(Report(State("a", "f")));
  EXPECT_EQ(devices_.Find("d"), nullptr);
  EXPECT_NE(devices_.Find("e"), nullptr);
  EXPECT_THAT(devices_.DevicesOf("a"), ElementsAre(devices_.Find("f")));
  EXPECT_NE(devices_.agents().Find("a"), nullptr);
  // Nor is what it described before the server began.
  v1::Device kept = devices_.Show(*devices_.Find("f"), now_);
  kept.mutable_description()->set_id("g");
  devices_.Restore(kept);
  EXPECT_EQ(devices_.DevicesOf("a").size(), 2u);
  ASSERT_OK(Report(State("a", "f")));
  EXPECT_THAT(devices_.DevicesOf("a"), ElementsAre(devices_.Find("f")));
  EXPECT_EQ(devices_.Find("g"), nullptr);
}

TEST_F(DeviceRegistryTest, ADeviceIsOneAgentsUntilThatIsLost) {
  ASSERT_OK(Report(State("a", "d")));
  EXPECT_THAT(Report(State("b", "d")),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("belongs to agent 'a'")));
  EXPECT_EQ(devices_.agents().Find("b"), nullptr);
  now_ += kSilence;
  const auto reported = Report(State("b", "d"));
  ASSERT_OK(reported);
  EXPECT_TRUE(reported->description_changed);
  EXPECT_EQ(devices_.Find("d")->agent_id, "b");
  EXPECT_THAT(devices_.DevicesOf("b"), ElementsAre(devices_.Find("d")));
  // An agent without devices is forgotten.
  EXPECT_THAT(devices_.DevicesOf("a"), ElementsAre());
  EXPECT_EQ(devices_.agents().Find("a"), nullptr);
}

TEST_F(DeviceRegistryTest, RefusesWhatIsMalformed) {
  std::vector<BadReport<v1::AgentState>> bad = BadReports<v1::AgentState>();
  const std::vector<BadReport<v1::AgentState>> own = {
      {absl::StatusCode::kInvalidArgument, "agent_id", [](auto& s) { s.set_agent_id("A/B"); }},
      {absl::StatusCode::kInvalidArgument, "0 devices", [](auto& s) { s.clear_devices(); }},
      {absl::StatusCode::kInvalidArgument, "2 devices",
       [](auto& s) { *s.add_devices() = s.devices(0); }},
      {absl::StatusCode::kInvalidArgument, "device id",
       [](auto& s) { s.mutable_devices(0)->set_id("../d"); }},
      {absl::StatusCode::kInvalidArgument, "more than 1024",
       [](auto& s) { s.mutable_devices(0)->set_model(std::string(1'025, 'x')); }},
      {absl::StatusCode::kInvalidArgument, "more than 1024",
       [](auto& s) { s.mutable_devices(0)->set_os(std::string(1'025, 'x')); }},
      {absl::StatusCode::kInvalidArgument, "device 'd'",
       [](auto& s) { s.mutable_devices(0)->set_target("z80"); }},
  };
  bad.insert(bad.end(), own.begin(), own.end());
  for (const auto& row : bad) {
    v1::AgentState state = State("a", "d");
    row.spoil(state);
    EXPECT_THAT(Report(state), StatusIs(row.code, HasSubstr(row.says)));
    EXPECT_TRUE(devices_.devices().empty()) << row.says;
  }
}

TEST_F(DeviceRegistryTest, TakesTextsAtTheirLimit) {
  v1::AgentState state = State("a", "d");
  state.mutable_devices(0)->set_model(std::string(1'024, 'x'));
  state.mutable_devices(0)->set_os(std::string(1'024, 'x'));
  state.set_version(std::string(kMaxVersionBytes, 'v'));
  state.set_instance_id(std::string(kMaxInstanceIdBytes, 'i'));
  EXPECT_OK(Report(state));
}

TEST_F(DeviceRegistryTest, TakesNoMoreThanItsLimitButKnowsThoseItHas) {
  v1::Device known;
  known.mutable_description()->set_target("x86-64-linux");
  for (int i = 0; i < kMaxPeers; ++i) {
    known.mutable_description()->set_id(absl::StrCat("d", i));
    devices_.Restore(known);
  }
  EXPECT_THAT(Report(State("late", "late")), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_OK(Report(State("d0", "d0")));
}

TEST_F(DeviceRegistryTest, RestoredDevicesAreLostUntilTheyReport) {
  ASSERT_OK(Report(State("a", "d")));
  const v1::Device kept = devices_.Show(*devices_.Find("d"), now_);
  DeviceRegistry restarted(kSilence);
  restarted.Restore(kept);
  const RegisteredDevice* device = restarted.Find("d");
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->offer.target.ToString(), "x86-64-linux");
  EXPECT_EQ(device->last_seen, wall_);
  v1::Device shown = restarted.Show(*device, now_);
  EXPECT_EQ(shown.state(), v1::Device::LOST);
  shown.set_state(kept.state());
  EXPECT_EQ(shown.SerializeAsString(), kept.SerializeAsString());
  // Unchanged, it need not be kept anew.
  const auto reported = restarted.Report(State("a", "d"), "here", wall_, now_);
  ASSERT_OK(reported);
  EXPECT_FALSE(reported->description_changed);
}

TEST_F(DeviceRegistryTest, ATargetNobodyKnowsAnyMoreIsNotRestored) {
  v1::Device kept;
  kept.mutable_description()->set_id("d");
  kept.mutable_description()->set_target("z80");
  devices_.Restore(kept);
  EXPECT_TRUE(devices_.devices().empty());
}

TEST_F(DeviceRegistryTest, ForgetsWhatWasNotSeenForLong) {
  ASSERT_OK(Report(State("a", "d")));
  wall_ += absl::Hours(1);
  ASSERT_OK(Report(State("b", "e")));
  EXPECT_THAT(devices_.ForgetUnseenSince(wall_), ElementsAre("d"));
  EXPECT_EQ(devices_.Find("d"), nullptr);
  EXPECT_EQ(devices_.agents().Find("a"), nullptr);
  EXPECT_NE(devices_.agents().Find("b"), nullptr);
  EXPECT_THAT(devices_.ForgetUnseenSince(wall_), ElementsAre());
}

}  // namespace
}  // namespace slipway::server
