// The dispatcher, agents and clients.
#include "server/scheduler/dispatcher.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/awake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/scheduler/dispatcher_fixture.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::server::testing::DispatcherTest;
using slipway::server::testing::kSilence;
using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using v1::Job;

TEST_F(DispatcherTest, ADeviceGetsOneRunAtATimeInOrder) {
  const std::string first = AcceptRun("1"), second = AcceptRun("2");
  v1::AgentState agent = Agent("d");
  v1::DesiredAgentState desired = Sync(agent);
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).job_id(), first);
  EXPECT_EQ(desired.attempts(0).manifest(), "manifest");
  EXPECT_EQ(Get(first).state(), Job::ASSIGNED);
  EXPECT_EQ(Get(second).state(), Job::QUEUED);
  EXPECT_EQ(dispatcher_->Devices(caller_)[0].job_id(), first);
  EXPECT_EQ(dispatcher_->Devices(caller_)[0].state(), v1::Device::BUSY);
  const v1::Lease lease = dispatcher_->Devices(caller_)[0].lease();
  EXPECT_EQ(lease.job_id(), first);
  EXPECT_EQ(lease.kind(), v1::Lease::RUN);
  EXPECT_EQ(lease.owner(), caller_.owner);
  EXPECT_EQ(lease.until_ns() - lease.since_ns(), Get(first).deadlines().run_ns());
  // Others see who holds it, and not what his job is called.
  Caller other = caller_;
  other.owner = "other";
  EXPECT_EQ(dispatcher_->Devices(other)[0].lease().owner(), caller_.owner);
  EXPECT_EQ(dispatcher_->Devices(other)[0].lease().job_id(), "");
  EXPECT_EQ(dispatcher_->Devices(other)[0].job_id(), "");
  // An administrator sees it, to end it.
  other.roles = {Role::kAdmin};
  EXPECT_EQ(dispatcher_->Devices(other)[0].lease().job_id(), first);
  EXPECT_EQ(dispatcher_->Devices(other)[0].job_id(), first);

  const std::string attempt = desired.attempts(0).attempt_id();
  desired = Sync(Holding(agent, desired, Attempt(attempt, v1::RunAttemptState::RUNNING)));
  EXPECT_EQ(Get(first).state(), Job::RUNNING);
  desired = Sync(Holding(agent, desired, Attempt(attempt, v1::RunAttemptState::SUCCEEDED)));
  EXPECT_EQ(Get(first).state(), Job::SUCCEEDED);
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).job_id(), second);
}

TEST_F(DispatcherTest, ALeaseOfASessionSaysWhenItEndsWithoutItsClient) {
  AcceptSession("1", absl::Minutes(1));
  v1::AgentState agent = Agent("d");
  agent.set_max_session(1);
  v1::DesiredAgentState desired = Sync(agent);
  ASSERT_EQ(desired.attempts_size(), 1);
  v1::RunAttemptState attempt =
      Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::RUNNING);
  const auto lease_after = [&](absl::Duration silent) {
    attempt.mutable_progress()->set_silent_ns(absl::ToInt64Nanoseconds(silent));
    desired = Sync(Holding(agent, desired, attempt));
    return dispatcher_->Devices(caller_)[0].lease();
  };
  EXPECT_EQ(lease_after(absl::ZeroDuration()).idle_until_ns(), 0);
  clock_.Advance(absl::Minutes(2));
  const absl::Time left = clock_.Now();
  clock_.Advance(absl::Seconds(2));
  EXPECT_EQ(absl::FromUnixNanos(lease_after(absl::Seconds(2)).idle_until_ns()),
            left + absl::Minutes(1));
  // The agent goes on saying what it found then.
  clock_.Advance(absl::Seconds(2));
  EXPECT_EQ(absl::FromUnixNanos(lease_after(absl::Seconds(2)).idle_until_ns()),
            left + absl::Minutes(1));
  EXPECT_EQ(lease_after(absl::ZeroDuration()).idle_until_ns(), 0);
  // No later than it ends in any case.
  clock_.Advance(absl::Minutes(7) + absl::Seconds(30));
  const v1::Lease lease = lease_after(absl::Seconds(1));
  EXPECT_EQ(lease.idle_until_ns(), lease.until_ns());
}

TEST_F(DispatcherTest, AHolderIsToldOfWhereNothingElseWouldDo) {
  Sync(Agent("d"));
  const std::string first = AcceptRun("1", "d"), next = AcceptRun("2", "d"), any = AcceptRun("3");
  EXPECT_EQ(dispatcher_->HolderFor(next)->id(), first);
  // The one device that is there would do for any.
  EXPECT_EQ(dispatcher_->HolderFor(any)->id(), first);
  Sync(Agent("e"));
  EXPECT_EQ(Get(any).state(), Job::ASSIGNED);
  EXPECT_EQ(dispatcher_->HolderFor(next)->id(), first);
  EXPECT_FALSE(dispatcher_->HolderFor(AcceptRun("4")).has_value());
  // Nobody has a device that is not there.
  EXPECT_FALSE(dispatcher_->HolderFor(AcceptRun("5", "f")).has_value());
  EXPECT_FALSE(dispatcher_->HolderFor("nonsense").has_value());
}

TEST_F(DispatcherTest, ACancelledRunKeepsItsDeviceUntilItHasStopped) {
  const std::string first = AcceptRun("1");
  v1::AgentState agent = Agent("d");
  v1::DesiredAgentState desired = Sync(agent);
  const std::string attempt = desired.attempts(0).attempt_id();
  const v1::RunAttemptState running = Attempt(attempt, v1::RunAttemptState::RUNNING);
  Sync(Holding(agent, desired, running));
  EXPECT_EQ(dispatcher_->Cancel(caller_, first)->state(), Job::CANCELLED);
  EXPECT_EQ(dispatcher_->Cancel(caller_, first)->state(), Job::CANCELLED);
  const std::string second = AcceptRun("2");
  desired = Sync(Holding(agent, desired, running));
  EXPECT_EQ(desired.attempts_size(), 0);
  EXPECT_EQ(Get(second).state(), Job::QUEUED);
  desired = Sync(Holding(agent, desired, Attempt(attempt, v1::RunAttemptState::STOPPED)));
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).job_id(), second);
  // What the stopped attempt might still report changes nothing.
  Sync(Holding(agent, desired, Attempt(attempt, v1::RunAttemptState::SUCCEEDED)));
  EXPECT_EQ(Get(first).state(), Job::CANCELLED);
}

TEST_F(DispatcherTest, WhatFollowsACancelledRunThatBeganLateIsNotLost) {
  const std::string first = AcceptRun("1");
  const v1::AgentState agent = Agent("d");
  v1::DesiredAgentState desired = Sync(agent);
  const std::string attempt = desired.attempts(0).attempt_id();
  // The agent is on its way to begin it when it is cancelled, and the next one assigned.
  EXPECT_EQ(dispatcher_->Cancel(caller_, first)->state(), Job::CANCELLED);
  const std::string second = AcceptRun("2");
  const v1::RunAttemptState running = Attempt(attempt, v1::RunAttemptState::RUNNING);
  desired = Sync(Holding(agent, desired, running));
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).job_id(), second);
  // It stops the one, and begins the other then.
  Sync(Holding(agent, desired, running));
  EXPECT_EQ(Get(second).state(), Job::ASSIGNED);
  const std::string next = desired.attempts(0).attempt_id();
  Sync(Holding(agent, desired, Attempt(next, v1::RunAttemptState::RUNNING)));
  EXPECT_EQ(Get(second).state(), Job::RUNNING);
  EXPECT_EQ(Get(second).attempts(), 1);
}

TEST_F(DispatcherTest, CancelOfAWaitingRunAndOfNone) {
  EXPECT_EQ(dispatcher_->Cancel(caller_, AcceptRun("1"))->state(), Job::CANCELLED);
  EXPECT_THAT(dispatcher_->Cancel(caller_, "nonsense"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(dispatcher_->Cancel(caller_, ids_.Next(clock_.Now())),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(DispatcherTest, AReleasedJobLeavesTheLine) {
  const std::string id = AcceptRun("1");
  dispatcher_->Release(id);
  EXPECT_EQ(Get(id).state(), Job::CANCELLED);
  EXPECT_TRUE(Sync(Agent("a")).attempts().empty());
  dispatcher_->Release(id);
  EXPECT_EQ(Get(id).state(), Job::CANCELLED);
}

TEST_F(DispatcherTest, ASilentAgentLosesItsAttemptAndAnotherGetsIt) {
  const std::string id = AcceptRun("1");
  Sync(Agent("d"));
  Advance(kSilence - absl::Milliseconds(1));
  EXPECT_EQ(Get(id).state(), Job::ASSIGNED);
  Advance(absl::Milliseconds(1));
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
  EXPECT_EQ(dispatcher_->Devices(caller_)[0].state(), v1::Device::LOST);
  EXPECT_EQ(dispatcher_->Counters().attempts_lost(), 1);
  // Not before its time has come.
  EXPECT_EQ(Sync(Agent("other")).attempts_size(), 0);
  Advance(kFirstBackoff);
  EXPECT_EQ(Get(id).assignee(), "other");
  EXPECT_EQ(Get(id).attempts(), 2);
}

TEST_F(DispatcherTest, AClockThatIsSetBackHoldsUpNoRetry) {
  const std::string id = AcceptRun("1");
  Sync(Agent("d"));
  Advance(kSilence);
  ASSERT_EQ(Get(id).state(), Job::QUEUED);
  Sync(Agent("other"));
  clock_.JumpTo(clock_.Now() - absl::Hours(1));
  Advance(kFirstBackoff);
  EXPECT_EQ(Get(id).assignee(), "other");
}

TEST_F(DispatcherTest, ARunAndABenchmarkKeepTheirResults) {
  const std::string run = AcceptRun("1");
  v1::AgentState agent = Agent("d");
  v1::DesiredAgentState desired = Sync(agent);
  const std::string attempt = desired.attempts(0).attempt_id();
  Sync(Holding(agent, desired, Attempt(attempt, v1::RunAttemptState::SUCCEEDED)));
  EXPECT_EQ(Get(run).run_result().device(), "d");

  const std::string benchmark = AcceptBenchmark("2");
  desired = Sync(Agent("d"));
  v1::RunAttemptState done;
  done.set_attempt_id(desired.attempts(0).attempt_id());
  done.set_state(v1::RunAttemptState::SUCCEEDED);
  done.mutable_benchmark_result()->add_samples_ns(42);
  done.mutable_benchmark_result()->set_iterations_per_sample(1);
  Sync(Holding(agent, desired, done));
  EXPECT_EQ(Get(benchmark).state(), Job::SUCCEEDED);
  EXPECT_THAT(Get(benchmark).benchmark_result().samples_ns(), ElementsAre(42));
}

TEST_F(DispatcherTest, ABenchmarkThatSucceedsIsKeptInTheHistory) {
  const std::string id = AcceptBenchmark("1");
  v1::AgentState agent = Agent("d");
  agent.set_version("1.5");
  agent.mutable_devices(0)->set_model("AMD EPYC");
  v1::DesiredAgentState desired = Sync(agent);
  v1::RunAttemptState done =
      Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::SUCCEEDED);
  done.mutable_benchmark_result()->add_samples_ns(42);
  done.mutable_benchmark_result()->set_iterations_per_sample(2);
  // Told twice, it is one.
  for (int i = 0; i < 2; ++i) Sync(Holding(agent, desired, done));
  const absl::StatusOr<v1::HistoryEntry> entry = store_.GetHistoryEntry(id);
  ASSERT_OK(entry);
  EXPECT_EQ(entry->device().id(), "d");
  EXPECT_EQ(entry->device().model(), "AMD EPYC");
  EXPECT_EQ(entry->agent_version(), "1.5");
  EXPECT_EQ(entry->target(), "x86-64-linux");
  EXPECT_EQ(entry->summary().p50_ns(), 21);
  EXPECT_EQ(entry->end_time_ns(), absl::ToUnixNanos(clock_.Now()));

  // It stays when its job is forgotten, until there are too many.
  Advance(kDefaultJobRetention + absl::Minutes(2));
  EXPECT_THAT(store_.Get(id), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_OK(store_.GetHistoryEntry(id));
}

// An agent that lies about its samples fails its attempt, and is named.
TEST_F(DispatcherTest, ABenchmarkThatCannotBeFailsItsAttempt) {
  const std::string id = AcceptBenchmark("1");
  v1::AgentState agent = Agent("d");
  v1::DesiredAgentState desired = Sync(agent);
  v1::RunAttemptState done =
      Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::SUCCEEDED);
  done.mutable_benchmark_result()->set_iterations_per_sample(1);
  done.mutable_benchmark_result()->add_samples_ns(-5);
  Sync(Holding(agent, desired, done));
  EXPECT_EQ(Get(id).state(), Job::FAILED);
  EXPECT_EQ(Get(id).error().message(),
            "agent 'd' reported a benchmark that cannot be: sample 1 took -5 ns; 1 or more wanted");
  EXPECT_THAT(store_.GetHistoryEntry(id), StatusIs(absl::StatusCode::kNotFound));

  const std::string more = AcceptBenchmark("2");
  agent = Agent("d");
  desired = Sync(agent);
  done.set_attempt_id(desired.attempts(0).attempt_id());
  done.mutable_benchmark_result()->set_samples_ns(0, 5);
  done.mutable_benchmark_result()->add_samples_ns(5);
  Sync(Holding(agent, desired, done));
  EXPECT_THAT(Get(more).error().message(), HasSubstr("it has 2 samples; 1 to 1 wanted"));
}

TEST_F(DispatcherTest, AResultOfAnotherKindIsTriedAgain) {
  const std::string id = AcceptBenchmark("1");
  v1::AgentState agent = Agent("d");
  const v1::DesiredAgentState desired = Sync(agent);
  // That of a run.
  const std::string attempt = desired.attempts(0).attempt_id();
  Sync(Holding(agent, desired, Attempt(attempt, v1::RunAttemptState::SUCCEEDED)));
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
  EXPECT_FALSE(Get(id).has_run_result());
}

// Both wait for the same moment.

TEST_F(DispatcherTest, TwoDevicesGetTwoRunsAtOnce) {
  const std::string first = AcceptRun("1"), second = AcceptRun("2");
  Sync(Agent("a"));
  Sync(Agent("b"));
  Advance(kSilence);
  Sync(Agent("c"));
  Sync(Agent("d"));
  ASSERT_EQ(Get(first).state(), Job::QUEUED);
  ASSERT_EQ(Get(second).state(), Job::QUEUED);
  Advance(kFirstBackoff);
  EXPECT_EQ(Get(first).assignee(), "c");
  EXPECT_EQ(Get(second).assignee(), "d");
}

TEST_F(DispatcherTest, AnAgentWithAnOpenCallIsNotSilent) {
  const std::string id = AcceptRun("1");
  const v1::AgentState agent = Agent("d");
  Sync(agent);
  dispatcher_->CallBegan(Call(agent));
  Advance(absl::Minutes(5));
  EXPECT_EQ(Get(id).state(), Job::ASSIGNED);
  dispatcher_->CallEnded(Call(agent));
  Advance(kSilence);
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
}

TEST_F(DispatcherTest, AServerThatWasAsleepBlamesNobody) {
  const AwakeClock awake(&clock_);
  server_clock_ = &awake;
  Restart();
  const auto pass = [this](absl::Duration time) {
    for (; time > absl::ZeroDuration(); time -= AwakeClock::kReadEvery) {
      Advance(AwakeClock::kReadEvery);
    }
  };
  const std::string id = AcceptRun("1");
  Sync(Agent("d"));
  pass(kSilence - AwakeClock::kReadEvery);
  // What its agent reported meanwhile may wait to be read.
  Advance(absl::Minutes(5));
  EXPECT_EQ(Get(id).state(), Job::ASSIGNED);
  EXPECT_EQ(dispatcher_->Devices(caller_)[0].state(), v1::Device::BUSY);
  pass(AwakeClock::kCatchUp);
  EXPECT_EQ(Get(id).state(), Job::ASSIGNED);
  pass(AwakeClock::kReadEvery);
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
  dispatcher_.reset();
}

TEST_F(DispatcherTest, AJobThatKillsEveryAgentIsPoison) {
  const std::string id = AcceptRun("1");
  for (int i = 0; i < kMaxAttempts; ++i) {
    Sync(Agent(absl::StrCat("d", i)));
    Advance(kSilence);
    Advance(absl::Minutes(1));
  }
  EXPECT_EQ(Get(id).state(), Job::FAILED);
  EXPECT_EQ(Get(id).error().code(), static_cast<int>(absl::StatusCode::kAborted));
  EXPECT_EQ(Get(id).attempts(), 3);
}

TEST_F(DispatcherTest, ARestartedAgentLosesWhatItDoesNotReport) {
  const std::string id = AcceptRun("1");
  v1::AgentState agent = Agent("d");
  const v1::DesiredAgentState desired = Sync(agent);
  clock_.Advance(kInstanceGrace);
  Sync(Agent("d", "i2"));
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
  EXPECT_EQ(Get(id).attempts(), 1);
}

TEST_F(DispatcherTest, WhatAnAgentThatLeavesHadIsAnothersAtOnce) {
  const std::string begun = AcceptRun("1"), waits = AcceptRun("2");
  const v1::AgentState agent = Agent("d");
  const v1::DesiredAgentState desired = Sync(agent);
  v1::AgentState last = Holding(
      agent, desired, Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::STOPPED));
  last.set_leaving(true);
  EXPECT_EQ(Sync(last).attempts_size(), 0);
  dispatcher_->CallBegan(Call(last));
  dispatcher_->CallEnded(Call(last));
  EXPECT_EQ(dispatcher_->Devices(caller_)[0].state(), v1::Device::LOST);
  EXPECT_EQ(Get(begun).state(), Job::QUEUED);
  EXPECT_EQ(Get(begun).attempts(), 0);
  EXPECT_EQ(dispatcher_->Counters().attempts_lost(), 0);
  Sync(Agent("other"));
  EXPECT_EQ(Get(begun).assignee(), "other");
  EXPECT_EQ(Get(waits).state(), Job::QUEUED);
  // Its next life need not wait for the end of this one, and gets what waits.
  Sync(Agent("d", "i2"));
  EXPECT_EQ(Get(waits).assignee(), "d");
}

TEST_F(DispatcherTest, WhatAnAgentThatLeavesHadNotBegunIsNotCounted) {
  const std::string id = AcceptRun("1");
  const v1::AgentState agent = Agent("d");
  Sync(agent);
  v1::AgentState last = agent;
  last.set_sequence(++sequence_);
  last.set_leaving(true);
  EXPECT_EQ(Sync(last).attempts_size(), 0);
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
  EXPECT_EQ(Get(id).attempts(), 0);
}

TEST_F(DispatcherTest, AnAgentThatDroppedAnAttemptLosesIt) {
  const std::string id = AcceptRun("1");
  v1::AgentState agent = Agent("d");
  const v1::DesiredAgentState desired = Sync(agent);
  // A report from before the assignment says nothing about it.
  agent.set_sequence(++sequence_);
  EXPECT_EQ(Sync(agent).attempts_size(), 1);
  EXPECT_EQ(Get(id).state(), Job::ASSIGNED);
  // One that has applied it does.
  agent.set_sequence(++sequence_);
  agent.set_applied_version(desired.version());
  Sync(agent);
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
}

TEST_F(DispatcherTest, AReportOfAnotherAgentsAttemptIsIgnored) {
  const std::string id = AcceptRun("1");
  const v1::DesiredAgentState desired = Sync(Agent("d"));
  v1::AgentState thief = Agent("thief");
  *thief.add_attempts() = Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::SUCCEEDED);
  Sync(thief);
  EXPECT_EQ(Get(id).state(), Job::ASSIGNED);
}

TEST_F(DispatcherTest, OutdatedCallsAreToldSo) {
  const v1::AgentState old = Agent("d");
  ASSERT_TRUE(Report(old).ok());
  ASSERT_TRUE(Report(Agent("d")).ok());
  EXPECT_THAT(DesiredOf(old), StatusIs(absl::StatusCode::kAborted));
}

TEST_F(DispatcherTest, AResultThatCannotBeStoredIsKeptByItsAgent) {
  const std::string id = AcceptRun("1");
  v1::AgentState agent = Agent("d");
  const v1::DesiredAgentState desired = Sync(agent);
  const v1::RunAttemptState done =
      Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::SUCCEEDED);
  database_.Refuse(absl::ResourceExhaustedError("the disk is full"));
  const absl::Status refused = Report(Holding(agent, desired, done));
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the disk is full"));
  EXPECT_EQ(Get(id).state(), Job::ASSIGNED);
  database_.Refuse(absl::OkStatus());
  ASSERT_TRUE(Report(Holding(agent, desired, done)).ok());
  EXPECT_EQ(Get(id).state(), Job::SUCCEEDED);
}

TEST_F(DispatcherTest, NobodyIsToldOfWhatIsNotStored) {
  const std::string id = AcceptRun("1");
  int told = 0;
  const ChangeHub::Subscription watcher = hub_.Subscribe(JobKey(id), [&] { ++told; });
  v1::AgentState agent = Agent("d");
  database_.Refuse(absl::ResourceExhaustedError("the disk is full"));
  EXPECT_THAT(Report(agent), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(DesiredOf(agent), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(dispatcher_->Cancel(caller_, id), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(told, 0);
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
  EXPECT_EQ(dispatcher_->Tick(), absl::Seconds(1));
  database_.Refuse(absl::OkStatus());
  // All that waited, at once.
  dispatcher_->Tick();
  EXPECT_GT(told, 0);
  EXPECT_EQ(Get(id).state(), Job::CANCELLED);
  EXPECT_EQ(Get(id).attempts(), 1);
}

TEST_F(DispatcherTest, WhatAnotherServerChangedHolds) {
  const std::string id = AcceptRun("1");
  int told = 0;
  const ChangeHub::Subscription watcher = hub_.Subscribe(JobKey(id), [&] { ++told; });
  MemoryStore other(&database_);
  JobRecord theirs = *other.Get(id);
  const int64_t ours = theirs.job().revision();
  theirs.mutable_job()->set_state(Job::CANCELLED);
  theirs.mutable_job()->set_revision(*other.ReserveRevisions(1));
  ASSERT_OK(other.Commit({{theirs, ours}}));
  EXPECT_EQ(Sync(Agent("d")).attempts_size(), 0);
  EXPECT_EQ(Get(id).state(), Job::CANCELLED);
  EXPECT_GT(told, 0);
  // New revisions are above theirs.
  const std::string next = AcceptRun("2");
  EXPECT_GT(Get(next).revision(), theirs.job().revision());
}

TEST_F(DispatcherTest, AnArtifactThatIsGoneFailsTheRun) {
  artifacts_.fill = absl::NotFoundError("the manifest was removed");
  const std::string id = AcceptRun("1");
  EXPECT_EQ(Sync(Agent("d")).attempts_size(), 0);
  EXPECT_EQ(Get(id).state(), Job::FAILED);
  EXPECT_EQ(Get(id).error().message(), "the manifest was removed");
}

TEST_F(DispatcherTest, DeadlinesPass) {
  const std::string waiting = AcceptRun("1", "nobody");
  Advance(absl::Hours(1));
  EXPECT_THAT(Get(waiting).error().message(), HasSubstr("queue deadline of 1h"));
  const std::string running = AcceptRun("2");
  const v1::AgentState agent = Agent("d");
  const v1::DesiredAgentState desired = Sync(agent);
  dispatcher_->CallBegan(Call(agent));
  EXPECT_EQ(desired.attempts(0).deadline_ns(), absl::ToInt64Nanoseconds(absl::Minutes(10)));
  Advance(absl::Minutes(10));
  EXPECT_EQ(Get(running).state(), Job::ASSIGNED);
  Advance(kRunDeadlineGrace);
  EXPECT_THAT(Get(running).error().message(), HasSubstr("run deadline of 10m"));
}

TEST_F(DispatcherTest, TickSaysWhenItIsNeededNext) {
  JobRecord record = NewRecord("1");
  record.mutable_job()->mutable_run()->set_device("nobody");
  record.mutable_job()->mutable_deadlines()->set_queue_ns(5'000'000'000);
  record.mutable_run()->set_target("x86-64-linux");
  ASSERT_TRUE(dispatcher_->Accept(caller_, record).ok());
  EXPECT_EQ(dispatcher_->Tick(), absl::Seconds(5));
}

// Whoever calls Tick was told of more than one time, and calls for each of them.
TEST_F(DispatcherTest, ATickThatIsNotDueAsksForNoOther) {
  AcceptRun("1", "nobody");
  const absl::Duration next = dispatcher_->Tick();
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(absl::Seconds(1));
    wakes_.clear();
    EXPECT_EQ(dispatcher_->Tick(), next - absl::Seconds(i + 1));
    EXPECT_TRUE(wakes_.empty());
  }
  Advance(next);
  EXPECT_EQ(wakes_.size(), 1u);
}

TEST_F(DispatcherTest, TheQueueHasAnEnd) {
  for (int i = 0; i < 20; ++i) AcceptRun(absl::StrCat("r", i), "nobody");
  JobRecord record = NewRecord("one more");
  record.mutable_job()->mutable_run();
  EXPECT_THAT(dispatcher_->Accept(caller_, record), StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(DispatcherTest, AnOwnersInputsHaveAnEnd) {
  const auto accept = [this](const std::string& request, const std::string& owner) {
    JobRecord record = NewRecord(request);
    record.mutable_job()->set_owner(owner);
    record.mutable_job()->mutable_run()->add_inputs()->set_inline_data(std::string(60'000, 'x'));
    return dispatcher_->Accept({.owner = owner}, record);
  };
  const auto first = accept("1", "local");
  ASSERT_OK(first);
  ASSERT_OK(accept("2", "local"));
  EXPECT_THAT(accept("3", "local"),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("send inputs as blobs")));
  EXPECT_OK(accept("3", "eve"));
  ASSERT_OK(dispatcher_->Cancel(caller_, first->job().id()));
  EXPECT_OK(accept("3", "local"));
}

TEST_F(DispatcherTest, OfTooMuchThatHasEndedTheOldestIsForgotten) {
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) {
    JobRecord record = NewRecord(absl::StrCat("r", i));
    record.mutable_job()->mutable_run()->set_device(std::string(90'000, 'd'));
    ids.push_back(dispatcher_->Accept(caller_, record)->job().id());
    ASSERT_OK(dispatcher_->Cancel(caller_, ids.back()));
    Advance(absl::Seconds(1));
  }
  Advance(absl::Minutes(5));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(store_.Get(ids[i]).ok(), i >= 3) << i;
}

TEST_F(DispatcherTest, ARestartChangesNothingForAnAgent) {
  const std::string id = AcceptRun("1");
  v1::AgentState agent = Agent("d");
  const v1::DesiredAgentState before = Sync(agent);
  Restart();
  EXPECT_EQ(dispatcher_->Devices(caller_)[0].state(), v1::Device::LOST);
  const v1::DesiredAgentState after = Sync(Holding(
      agent, before, Attempt(before.attempts(0).attempt_id(), v1::RunAttemptState::RUNNING)));
  EXPECT_EQ(after.SerializeAsString(), before.SerializeAsString());
  EXPECT_EQ(Get(id).state(), Job::RUNNING);
  EXPECT_EQ(Get(id).attempts(), 1);
}

TEST_F(DispatcherTest, AfterARestartAgentsHaveTimeToComeBack) {
  const std::string id = AcceptRun("1");
  Sync(Agent("d"));
  Restart();
  Advance(kSilence - absl::Seconds(1));
  EXPECT_EQ(Get(id).state(), Job::ASSIGNED);
  Advance(absl::Seconds(1));
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
}

TEST_F(DispatcherTest, EndedJobsAreForgottenInTime) {
  const std::string id = AcceptRun("1");
  ASSERT_TRUE(dispatcher_->Cancel(caller_, id).ok());
  Advance(kDefaultJobRetention - absl::Minutes(5));
  EXPECT_TRUE(store_.Get(id).ok());
  Advance(absl::Minutes(10));
  EXPECT_THAT(store_.Get(id), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(DispatcherTest, WhatCannotBeForgottenIsForgottenLater) {
  const std::string id = AcceptRun("1");
  ASSERT_OK(dispatcher_->Cancel(caller_, id));
  database_.Refuse(absl::ResourceExhaustedError("the disk is full"));
  Advance(kDefaultJobRetention + absl::Hours(1));
  EXPECT_OK(store_.Get(id));
  database_.Refuse(absl::OkStatus());
  Advance(absl::Hours(1));
  EXPECT_THAT(store_.Get(id), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(DispatcherTest, WhoWaitsIsTold) {
  int told = 0;
  const std::string id = AcceptRun("1");
  const ChangeHub::Subscription watcher = hub_.Subscribe(JobKey(id), [&] { ++told; });
  int agent_told = 0;
  const v1::AgentState agent = Agent("d");
  const ChangeHub::Subscription parked = hub_.Subscribe(AgentKey("d"), [&] { ++agent_told; });
  Sync(agent);
  EXPECT_EQ(told, 1);
  const int before = agent_told;
  ASSERT_TRUE(dispatcher_->Cancel(caller_, id).ok());
  EXPECT_EQ(told, 2);
  EXPECT_EQ(agent_told, before + 1);
}

TEST_F(DispatcherTest, NeededBlobsAreThoseOfLiveJobs) {
  JobRecord record = NewRecord("1");
  record.mutable_job()->mutable_run()->set_device("nobody");
  record.mutable_run()->set_target("x86-64-linux");
  record.add_blobs()->set_sha256(std::string(64, 'a'));
  record.mutable_blobs(0)->set_size_bytes(3);
  const std::string id = dispatcher_->Accept(caller_, record)->job().id();
  EXPECT_EQ(dispatcher_->NeededBlobs().size(), 1u);
  ASSERT_TRUE(dispatcher_->Cancel(caller_, id).ok());
  EXPECT_TRUE(dispatcher_->NeededBlobs().empty());
}

TEST_F(DispatcherTest, DevicesKeptByAnOlderServerTakeTheFirstVersions) {
  v1::Device kept;
  kept.mutable_description()->set_id("d");
  kept.mutable_description()->set_target("x86-64-linux");
  kept.set_agent_id("d");
  ASSERT_TRUE(store_.SaveDevice(kept).ok());
  Restart();
  EXPECT_EQ(dispatcher_->Devices(caller_)[0].max_abi(), 1);
  EXPECT_EQ(dispatcher_->Devices(caller_)[0].max_format(), 1);

  // A change of either is kept.
  v1::AgentState agent = Agent("d");
  agent.set_min_abi(1);
  agent.set_max_abi(2);
  Sync(agent);
  Restart();
  EXPECT_EQ(dispatcher_->Devices(caller_)[0].max_abi(), 2);
  agent.set_min_format(1);
  agent.set_max_format(3);
  Sync(agent);
  Restart();
  EXPECT_EQ(dispatcher_->Devices(caller_)[0].max_abi(), 2);
  EXPECT_EQ(dispatcher_->Devices(caller_)[0].max_format(), 3);
}

TEST_F(DispatcherTest, ARunWaitsForADeviceThatTakesItsVersions) {
  const auto accept = [this](const std::string& request, int abi, int format) {
    JobRecord record = NewRecord(request);
    record.mutable_job()->mutable_run();
    record.mutable_run()->set_target("x86-64-linux");
    record.mutable_run()->set_abi(abi);
    record.mutable_run()->set_format(format);
    return dispatcher_->Accept(caller_, record)->job().id();
  };
  const std::string newer_abi = accept("newer abi", 2, 1);
  accept("newer format", 1, 2);
  Restart();
  v1::AgentState agent = Agent("d");
  EXPECT_EQ(Sync(agent).attempts_size(), 0);
  // Its agent is updated.
  agent.set_sequence(++sequence_);
  agent.set_min_abi(1);
  agent.set_max_abi(2);
  const v1::DesiredAgentState desired = Sync(agent);
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).job_id(), newer_abi);
}

}  // namespace
}  // namespace slipway::server
