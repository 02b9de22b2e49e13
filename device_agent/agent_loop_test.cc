#include "device_agent/agent_loop.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "device_agent/testing/fake_transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Le;
using State = v1::RunAttemptState;

v1::RunAssignment Assignment(const std::string& id) {
  v1::RunAssignment assignment;
  assignment.set_attempt_id(id);
  return assignment;
}

// The one attempt of a report is in this state.
auto Shows(const std::string& id, State::State state) {
  return [id, state](const v1::AgentState& report) {
    return report.attempts_size() == 1 && report.attempts(0).attempt_id() == id &&
           report.attempts(0).state() == state;
  };
}

bool IsIdle(const v1::AgentState& report) { return report.attempts_size() == 0; }

class AgentLoopTest : public ::testing::Test {
 protected:
  void SetUp() override { Begin(absl::Hours(1)); }
  void Begin(absl::Duration moment) {
    AgentLoopOptions options;
    options.moment = moment;
    options.identity.set_agent_id("me");
    options.on_ready = [this] { ready_.Notify(); };
    options.read_machine = [reads = 0]() mutable {
      v1::MachineState machine;
      machine.set_load_millis(++reads);
      return reads % 2 == 1 ? std::make_optional(machine) : std::nullopt;
    };
    loop_.emplace(
        transport_,
        [](const v1::RunAssignment& assignment, const auto& observer, std::stop_token stop) {
          State state;
          state.set_attempt_id(assignment.attempt_id());
          state.set_state(State::RUNNING);
          observer(state);
          // Attempts called "long" work until they are stopped.
          if (assignment.attempt_id().rfind("long", 0) == 0) {
            absl::Notification stopped;
            const std::stop_callback callback(stop, [&stopped] { stopped.Notify(); });
            stopped.WaitForNotification();
            state.set_state(State::STOPPED);
          } else {
            state.set_state(State::SUCCEEDED);
          }
          return state;
        },
        options);
    thread_ = std::thread([this] { loop_->Run(stop_.get_token()); });
  }
  void TearDown() override {
    stop_.request_stop();
    thread_.join();
  }

  FakeTransport transport_;
  absl::Notification ready_;
  std::optional<AgentLoop> loop_;
  std::stop_source stop_;
  std::thread thread_;
};

TEST_F(AgentLoopTest, TellsWhoItIsAndIsReadyOnceAnswered) {
  const v1::AgentState report = transport_.WaitFor(IsIdle);
  EXPECT_EQ(report.agent_id(), "me");
  EXPECT_GT(report.park_ns(), 0);
  EXPECT_FALSE(ready_.HasBeenNotified());
  transport_.Want({});
  ready_.WaitForNotification();
}

TEST_F(AgentLoopTest, TellsAtOnceWhatElseThereIsToSayOfItsDevice) {
  transport_.WaitFor(IsIdle);
  v1::DeviceDescription device;
  device.set_os("another");
  loop_->Describe(device);
  const v1::AgentState report = transport_.WaitFor([](const v1::AgentState& report) {
    return report.devices_size() == 1 && report.devices(0).os() == "another";
  });
  EXPECT_EQ(report.agent_id(), "me");
}

TEST_F(AgentLoopTest, TellsWhatItsMachineIsLikeWhenThatIsReadAnew) {
  const auto tells = [](int64_t load_millis) {
    return [load_millis](const v1::AgentState& state) {
      return state.machine().load_millis() == load_millis;
    };
  };
  transport_.WaitFor(tells(1));
  transport_.Want({});
  EXPECT_FALSE(transport_.WaitFor(tells(0)).has_machine());
  transport_.Want({});
  transport_.WaitFor(tells(3));
}

TEST_F(AgentLoopTest, WorksReportsAndForgets) {
  transport_.Want({Assignment("a")});
  const v1::AgentState done = transport_.WaitFor(Shows("a", State::SUCCEEDED));
  transport_.Want({});
  const v1::AgentState idle = transport_.WaitFor(IsIdle);
  EXPECT_GT(idle.sequence(), done.sequence());
  EXPECT_GT(done.sequence(), 1);
}

TEST_F(AgentLoopTest, WhatIsOverInAMomentIsReportedOnce) {
  v1::RunAssignment run = Assignment("a");
  run.mutable_run();
  transport_.Want({run});
  // Later reports do not come while the server wants the same.
  const v1::AgentState report =
      transport_.WaitFor([](const v1::AgentState& state) { return state.attempts_size() > 0; });
  EXPECT_TRUE(Shows("a", State::SUCCEEDED)(report));
}

class ImpatientAgentLoopTest : public AgentLoopTest {
 protected:
  void SetUp() override { Begin(absl::Milliseconds(1)); }
};

TEST_F(ImpatientAgentLoopTest, WhatTakesLongerIsReportedMeanwhile) {
  v1::RunAssignment run = Assignment("long");
  run.mutable_run();
  transport_.Want({run});
  transport_.WaitFor(Shows("long", State::RUNNING));
}

TEST_F(AgentLoopTest, StopsWhatIsNoLongerWantedThenBeginsTheNext) {
  transport_.Want({Assignment("long-1")});
  transport_.WaitFor(Shows("long-1", State::RUNNING));
  transport_.Want({Assignment("b")});
  transport_.WaitFor(Shows("b", State::SUCCEEDED));
}

TEST_F(AgentLoopTest, WorksOneAfterTheOther) {
  transport_.Want({Assignment("a"), Assignment("b"), Assignment("c")});
  transport_.WaitFor([](const v1::AgentState& report) {
    int done = 0;
    for (const State& attempt : report.attempts()) done += attempt.state() == State::SUCCEEDED;
    return done == 3;
  });
}

TEST_F(AgentLoopTest, KeepsItsStateWhileTheServerIsAway) {
  transport_.Want({Assignment("a")});
  transport_.WaitFor(Shows("a", State::SUCCEEDED));
  transport_.FailSync(absl::UnavailableError("gone"));
  transport_.WaitForPauses(12);
  const std::vector<absl::Duration> pauses = transport_.pauses();
  EXPECT_LT(pauses[0], absl::Milliseconds(100));
  EXPECT_THAT(pauses[11], AllOf(Ge(absl::Seconds(3)), Le(absl::Seconds(7))));
  transport_.FailSync(absl::OkStatus());
  transport_.WaitFor(Shows("a", State::SUCCEEDED));
}

TEST_F(AgentLoopTest, TriesSlowlyWhereOnlyAnOperatorCanHelp) {
  transport_.FailSync(absl::FailedPreconditionError("too old"));
  transport_.WaitForPauses(3);
  EXPECT_THAT(transport_.pauses(), Each(Ge(absl::Seconds(3))));
}

TEST_F(AgentLoopTest, OutlivesWhatTheServerKnowsOfItsFormerLife) {
  transport_.FailSync(absl::AlreadyExistsError("another one"));
  transport_.WaitForPauses(12);
  const std::vector<absl::Duration> pauses = transport_.pauses();
  EXPECT_LT(pauses[0] + pauses[1] + pauses[2], absl::Seconds(1));
  EXPECT_THAT(pauses[11], Ge(absl::Seconds(3)));
}

TEST_F(AgentLoopTest, ParksShorterThanItsSilenceIsTolerated) {
  v1::AgentState report = transport_.WaitFor(IsIdle);
  EXPECT_GT(report.park_ns(), absl::ToInt64Nanoseconds(absl::Seconds(20)));
  transport_.SetSilence(absl::Seconds(4));
  report = transport_.WaitFor([](const v1::AgentState& r) { return !r.applied_version().empty(); });
  EXPECT_LE(report.park_ns(), absl::ToInt64Nanoseconds(absl::Seconds(2)));
}

TEST_F(AgentLoopTest, ComesBackBeforeItCountsAsLost) {
  transport_.SetSilence(absl::Seconds(4));
  transport_.WaitFor([](const v1::AgentState& r) { return !r.applied_version().empty(); });
  transport_.FailSync(absl::UnavailableError("gone"));
  transport_.WaitForPauses(12);
  EXPECT_THAT(transport_.pauses(), Each(Le(absl::Seconds(2))));
}

TEST_F(AgentLoopTest, StaysAwayFromALostServerAsLongAsItAskedFor) {
  transport_.SetReturnWithin(absl::Seconds(20));
  transport_.WaitFor([](const v1::AgentState& r) { return !r.applied_version().empty(); });
  transport_.FailSync(absl::UnavailableError("gone"));
  transport_.WaitForPauses(12);
  const std::vector<absl::Duration> away = transport_.away();
  EXPECT_THAT(away, Each(AllOf(Ge(absl::ZeroDuration()), Le(absl::Seconds(20)))));
  // Drawn anew each time.
  EXPECT_GT(*std::max_element(away.begin(), away.end()), absl::Seconds(2));
}

TEST_F(AgentLoopTest, LeavesWithWorkUnderWay) {
  transport_.Want({Assignment("long")});
  const v1::AgentState before = transport_.WaitFor(Shows("long", State::RUNNING));
  EXPECT_FALSE(before.leaving());
  stop_.request_stop();
  const v1::AgentState last =
      transport_.WaitFor([](const v1::AgentState& report) { return report.leaving(); });
  EXPECT_TRUE(Shows("long", State::STOPPED)(last));
  EXPECT_GT(last.sequence(), before.sequence());
}

TEST_F(AgentLoopTest, LeavesThoughNobodyAnswers) {
  transport_.Want({Assignment("a")});
  transport_.WaitFor(Shows("a", State::SUCCEEDED));
  transport_.FailSync(absl::UnavailableError("gone"));
}

// One that takes offers, of a server that offers something.
class AgentLoopOfferTest : public ::testing::Test {
 protected:
  void SetUp() override {
    AgentLoopOptions options;
    options.identity.set_agent_id("me");
    options.identity.mutable_update()->set_platform("here");
    options.fetch_offer = [this](const v1::OfferedAgent& offer, std::stop_token stop) {
      fetched_.Notify();
      if (offer.id() != "slow") return fetch_;
      absl::Notification stopped;
      const std::stop_callback callback(stop, [&stopped] { stopped.Notify(); });
      stopped.WaitForNotification();
      return absl::CancelledError("stopped");
    };
    options.take_offer = [this](const v1::OfferedAgent&) { return take_; };
    loop_.emplace(
        transport_,
        [this](const v1::RunAssignment& assignment, const auto&, std::stop_token) {
          State state;
          state.set_attempt_id(assignment.attempt_id());
          goes_on_.WaitForNotification();
          state.set_state(State::SUCCEEDED);
          return state;
        },
        options);
  }
  void Begin() {
    thread_ = std::thread([this] { end_ = loop_->Run(stop_.get_token()); });
  }
  AgentEnd End() {
    thread_.join();
    return end_;
  }
  AgentEnd Stop() {
    stop_.request_stop();
    return End();
  }

  FakeTransport transport_;
  std::optional<AgentLoop> loop_;
  std::stop_source stop_;
  std::thread thread_;
  AgentEnd end_ = AgentEnd::kStopped;
  absl::Status fetch_, take_;
  absl::Notification fetched_, goes_on_;
};

TEST_F(AgentLoopOfferTest, TakesAnOfferOnceTheServerKnows) {
  transport_.Offer("one");
  Begin();
  const v1::AgentState last =
      transport_.WaitFor([](const v1::AgentState& report) { return report.leaving(); });
  EXPECT_EQ(last.update().taking(), "one");
  EXPECT_EQ(End(), AgentEnd::kTakesOffer);
}

TEST_F(AgentLoopOfferTest, EndsWhatItHasFirst) {
  v1::RunAssignment assignment;
  assignment.set_attempt_id("attempt");
  assignment.mutable_benchmark();
  transport_.Want({assignment});
  Begin();
  transport_.WaitFor([](const v1::AgentState& report) { return report.attempts_size() == 1; });
  transport_.Offer("one");
  goes_on_.Notify();
  transport_.WaitFor([](const v1::AgentState& report) {
    return report.attempts_size() == 1 && report.attempts(0).state() == State::SUCCEEDED;
  });
  EXPECT_FALSE(fetched_.HasBeenNotified());
  transport_.Want({});
  EXPECT_EQ(End(), AgentEnd::kTakesOffer);
}

TEST_F(AgentLoopOfferTest, WhatCannotBeTakenIsGivenUpAndNotTriedAgain) {
  fetch_ = absl::PermissionDeniedError("not signed");
  transport_.Offer("one");
  Begin();
  v1::AgentState report = transport_.WaitFor(
      [](const v1::AgentState& report) { return report.update().failed() == "one"; });
  EXPECT_EQ(report.update().failure(), "not signed");
  EXPECT_EQ(report.update().taking(), "");
  EXPECT_EQ(Stop(), AgentEnd::kStopped);
}

TEST_F(AgentLoopOfferTest, WhatCannotBeKeptIsGivenUp) {
  take_ = absl::ResourceExhaustedError("the disk is full");
  transport_.Offer("one");
  Begin();
  transport_.WaitFor(
      [](const v1::AgentState& report) { return report.update().failure() == "the disk is full"; });
  EXPECT_EQ(Stop(), AgentEnd::kStopped);
}

TEST_F(AgentLoopOfferTest, AnotherOfferIsTakenInPlaceOfTheOneBefore) {
  transport_.Offer("slow");
  Begin();
  fetched_.WaitForNotification();
  transport_.Offer("");
  transport_.WaitFor([](const v1::AgentState& report) {
    return report.update().taking().empty() && report.update().failed().empty();
  });
  EXPECT_EQ(Stop(), AgentEnd::kStopped);
}

TEST_F(AgentLoopOfferTest, OneThatIsStoppedTakesNothing) {
  transport_.Offer("slow");
  Begin();
  fetched_.WaitForNotification();
  EXPECT_EQ(Stop(), AgentEnd::kStopped);
}

}  // namespace
}  // namespace slipway
