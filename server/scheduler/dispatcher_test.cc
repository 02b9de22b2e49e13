// The dispatcher over a store in memory and a clock that tests move.
#include "server/scheduler/dispatcher.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/storage/memory_store.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using v1::Job;

constexpr absl::Duration kSilence = absl::Seconds(10);

class FakeArtifacts final : public ArtifactSource {
 public:
  absl::Status FillAssignment(const v1::RunSpec&, v1::RunAssignment* assignment) override {
    assignment->set_manifest("manifest");
    return fill;
  }
  absl::Status Admit(const CompilationFacts&, v1::CompilationResult*) override { return admit; }
  absl::Status CheckOutputs(const v1::RunResult&) override { return absl::OkStatus(); }

  absl::Status fill;
  absl::Status admit;
};

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() { Restart(); }

  // As a new process over the same store would.
  void Restart() {
    dispatcher_.reset();
    dispatcher_ = *Dispatcher::Create({.jobs = &store_,
                                       .devices = &store_,
                                       .artifacts = &artifacts_,
                                       .clock = &clock_,
                                       .ids = &ids_,
                                       .hub = &hub_},
                                      {.silence = kSilence, .max_queued_jobs = 20});
  }

  JobRecord NewRecord(const std::string& request) {
    JobRecord record;
    Job& job = *record.mutable_job();
    job.set_id(ids_.Next(clock_.Now()));
    job.set_owner("local");
    job.set_request_id(request);
    job.set_state(Job::QUEUED);
    job.set_create_time_ns(absl::ToUnixNanos(clock_.Now()));
    job.mutable_deadlines()->set_queue_ns(absl::ToInt64Nanoseconds(absl::Hours(1)));
    job.mutable_deadlines()->set_run_ns(absl::ToInt64Nanoseconds(absl::Minutes(10)));
    job.mutable_deadlines()->set_total_ns(absl::ToInt64Nanoseconds(absl::Hours(2)));
    record.set_work_digest(request);
    record.set_queued_time_ns(job.create_time_ns());
    return record;
  }
  std::string AcceptRun(const std::string& request, const std::string& device = "") {
    JobRecord record = NewRecord(request);
    record.mutable_job()->mutable_run()->set_device(device);
    record.mutable_run()->set_target("x86-64-linux");
    return dispatcher_->Accept(caller_, record)->job().id();
  }
  std::string AcceptBenchmark(const std::string& request) {
    JobRecord record = NewRecord(request);
    record.mutable_job()->mutable_benchmark()->set_samples(1);
    record.mutable_run()->set_target("x86-64-linux");
    return dispatcher_->Accept(caller_, record)->job().id();
  }
  std::string AcceptCompilation(const std::string& request, const std::string& group = "g",
                                char fingerprint = 'f') {
    JobRecord record = NewRecord(request);
    v1::CompilationSpec& spec = *record.mutable_job()->mutable_compilation();
    spec.mutable_model()->set_format(v1::MODEL_FORMAT_ONNX);
    v1::Digest& file = *spec.mutable_model()->add_files()->mutable_digest();
    file.set_sha256(std::string(64, 'e'));
    file.set_size_bytes(1);
    spec.mutable_target()->set_name("x86-64-linux");
    record.mutable_compilation()->set_group(group);
    record.mutable_compilation()->set_compile_key("key");
    record.mutable_compilation()->set_fingerprint(std::string(64, fingerprint));
    return dispatcher_->Accept(caller_, record)->job().id();
  }

  v1::AgentState Agent(const std::string& id, const std::string& instance = "i1") {
    v1::AgentState state;
    state.set_agent_id(id);
    state.set_instance_id(instance);
    state.set_sequence(++sequence_);
    state.set_min_protocol(1);
    state.set_max_protocol(1);
    state.add_devices()->set_id(id);
    state.mutable_devices(0)->set_target("x86-64-linux");
    return state;
  }
  v1::WorkerState Worker(const std::string& id, char fingerprint = 'f',
                         const std::string& instance = "i1") {
    v1::WorkerState state;
    state.set_worker_id(id);
    state.set_instance_id(instance);
    state.set_sequence(++sequence_);
    state.set_min_protocol(1);
    state.set_max_protocol(1);
    state.set_capacity(1);
    state.set_fingerprint(std::string(64, fingerprint));
    return state;
  }
  // Reports and returns what is wanted.
  template <typename State>
  auto Sync(const State& state) {
    EXPECT_TRUE(Report(state).ok());
    return *dispatcher_->DesiredOf(state);
  }
  absl::Status Report(const v1::AgentState& state) {
    return dispatcher_->AgentReported(state, "here");
  }
  absl::Status Report(const v1::WorkerState& state) {
    return dispatcher_->WorkerReported(state, "here");
  }

  v1::RunAttemptState Attempt(const std::string& id, v1::RunAttemptState::State state) {
    v1::RunAttemptState attempt;
    attempt.set_attempt_id(id);
    attempt.set_state(state);
    if (state == v1::RunAttemptState::SUCCEEDED) attempt.mutable_run_result()->set_device("d");
    return attempt;
  }
  v1::CompileAttemptState Attempt(const std::string& id, v1::CompileAttemptState::State state) {
    v1::CompileAttemptState attempt;
    attempt.set_attempt_id(id);
    attempt.set_state(state);
    return attempt;
  }
  // A report of `before`'s peer that holds `attempt` and has applied `desired`.
  template <typename State, typename Desired, typename AttemptState>
  State Holding(State before, const Desired& desired, const AttemptState& attempt) {
    before.set_sequence(++sequence_);
    before.set_applied_version(desired.version());
    before.clear_attempts();
    *before.add_attempts() = attempt;
    return before;
  }

  Job Get(const std::string& id) { return store_.Get(id)->job(); }
  void Advance(absl::Duration step) {
    clock_.Advance(step);
    dispatcher_->Tick();
  }

  const Caller caller_{.owner = "local"};
  FakeClock clock_;
  IdGenerator ids_{[] { return 1; }};
  ChangeHub hub_;
  FakeArtifacts artifacts_;
  MemoryDatabase database_;
  MemoryStore store_{&database_};
  std::unique_ptr<Dispatcher> dispatcher_;
  int64_t sequence_ = 0;
};

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

  const std::string attempt = desired.attempts(0).attempt_id();
  desired = Sync(Holding(agent, desired, Attempt(attempt, v1::RunAttemptState::RUNNING)));
  EXPECT_EQ(Get(first).state(), Job::RUNNING);
  desired = Sync(Holding(agent, desired, Attempt(attempt, v1::RunAttemptState::SUCCEEDED)));
  EXPECT_EQ(Get(first).state(), Job::SUCCEEDED);
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).job_id(), second);
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

TEST_F(DispatcherTest, CancelOfAWaitingRunAndOfNone) {
  EXPECT_EQ(dispatcher_->Cancel(caller_, AcceptRun("1"))->state(), Job::CANCELLED);
  EXPECT_THAT(dispatcher_->Cancel(caller_, "nonsense"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(dispatcher_->Cancel(caller_, ids_.Next(clock_.Now())),
              StatusIs(absl::StatusCode::kNotFound));
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
  Sync(Holding(agent, desired, done));
  EXPECT_EQ(Get(benchmark).state(), Job::SUCCEEDED);
  EXPECT_THAT(Get(benchmark).benchmark_result().samples_ns(), ElementsAre(42));
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
  dispatcher_->AgentCallBegan(agent);
  Advance(absl::Minutes(5));
  EXPECT_EQ(Get(id).state(), Job::ASSIGNED);
  dispatcher_->AgentCallEnded(agent);
  Advance(kSilence);
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
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
  EXPECT_THAT(dispatcher_->DesiredOf(old), StatusIs(absl::StatusCode::kAborted));
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
  EXPECT_THAT(dispatcher_->DesiredOf(agent), StatusIs(absl::StatusCode::kUnavailable));
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
  dispatcher_->AgentCallBegan(agent);
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

TEST_F(DispatcherTest, TheQueueHasAnEnd) {
  for (int i = 0; i < 20; ++i) AcceptRun(absl::StrCat("r", i), "nobody");
  JobRecord record = NewRecord("one more");
  record.mutable_job()->mutable_run();
  EXPECT_THAT(dispatcher_->Accept(caller_, record), StatusIs(absl::StatusCode::kResourceExhausted));
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

TEST_F(DispatcherTest, CompilationsOfAGroupShareAnAttempt) {
  const std::string first = AcceptCompilation("1"), second = AcceptCompilation("2");
  const std::string other = AcceptCompilation("3", "other group");
  EXPECT_EQ(dispatcher_->CompilationsWanted(), 2);
  v1::WorkerState worker = Worker("w");
  v1::DesiredWorkerState desired = Sync(worker);
  ASSERT_EQ(desired.attempts_size(), 1);
  const std::string attempt = desired.attempts(0).attempt_id();
  EXPECT_EQ(Get(second).state(), Job::ASSIGNED);
  EXPECT_EQ(Get(other).state(), Job::QUEUED);
  desired = Sync(Holding(worker, desired, Attempt(attempt, v1::CompileAttemptState::RUNNING)));
  // One that comes late joins what runs.
  const std::string third = AcceptCompilation("4");
  EXPECT_EQ(Get(third).state(), Job::RUNNING);
  EXPECT_EQ(dispatcher_->Counters().compilations_coalesced(), 2);
  // The first may go.
  EXPECT_EQ(dispatcher_->Cancel(caller_, first)->state(), Job::CANCELLED);
  v1::WorkerState again = worker;
  again.set_sequence(sequence_);
  EXPECT_EQ(dispatcher_->DesiredOf(again)->attempts_size(), 1);
  v1::CompileAttemptState done = Attempt(attempt, v1::CompileAttemptState::SUCCEEDED);
  done.mutable_result()->mutable_report()->set_kernels_compiled(7);
  desired = Sync(Holding(worker, desired, done));
  EXPECT_EQ(Get(second).compilation_result().report().kernels_compiled(), 7);
  EXPECT_EQ(Get(third).state(), Job::SUCCEEDED);
  EXPECT_EQ(Get(first).state(), Job::CANCELLED);
  EXPECT_EQ(dispatcher_->Counters().kernels_compiled(), 7);
  EXPECT_EQ(desired.attempts(0).job_id(), other);
}

TEST_F(DispatcherTest, WorkersAreShownWithWhatTheyDo) {
  const std::string id = AcceptCompilation("1");
  Sync(Worker("w"));
  std::vector<v1::Worker> shown = dispatcher_->Workers(caller_);
  ASSERT_EQ(shown.size(), 1);
  EXPECT_EQ(shown[0].id(), "w");
  EXPECT_EQ(shown[0].fingerprint(), std::string(64, 'f'));
  EXPECT_EQ(shown[0].last_seen_ns(), absl::ToUnixNanos(clock_.Now()));
  EXPECT_FALSE(shown[0].lost());
  EXPECT_THAT(shown[0].job_ids(), ElementsAre(id));
  Advance(kSilence);
  shown = dispatcher_->Workers(caller_);
  EXPECT_TRUE(shown[0].lost());
  EXPECT_THAT(shown[0].job_ids(), ElementsAre());
}

TEST_F(DispatcherTest, CancellingAllOfAGroupStopsIt) {
  const std::string first = AcceptCompilation("1"), second = AcceptCompilation("2");
  v1::WorkerState worker = Worker("w");
  ASSERT_EQ(Sync(worker).attempts_size(), 1);
  ASSERT_TRUE(dispatcher_->Cancel(caller_, first).ok());
  EXPECT_EQ(dispatcher_->DesiredOf(worker)->attempts_size(), 1);
  ASSERT_TRUE(dispatcher_->Cancel(caller_, second).ok());
  EXPECT_EQ(dispatcher_->DesiredOf(worker)->attempts_size(), 0);
}

TEST_F(DispatcherTest, AGroupWhoseWorkerCrashedIsCompiledTogetherAgain) {
  const std::string first = AcceptCompilation("1"), second = AcceptCompilation("2");
  Sync(Worker(LocalWorkerId(0)));
  dispatcher_->LocalWorkerEnded(LocalWorkerId(0), "worker 'local-0' crashed", /*counted=*/true);
  EXPECT_EQ(Get(first).state(), Job::QUEUED);
  EXPECT_TRUE(dispatcher_->Workers(caller_).empty());
  Advance(kFirstBackoff);
  const v1::DesiredWorkerState desired = Sync(Worker(LocalWorkerId(0), 'f', "i2"));
  EXPECT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(Get(first).attempts(), 2);
  EXPECT_EQ(Get(second).attempts(), 2);
}

TEST_F(DispatcherTest, AnIncompleteArtifactIsTriedAgain) {
  const std::string id = AcceptCompilation("1");
  v1::WorkerState worker = Worker("w");
  const v1::DesiredWorkerState desired = Sync(worker);
  artifacts_.admit = absl::FailedPreconditionError("blobs are missing");
  Sync(Holding(worker, desired,
               Attempt(desired.attempts(0).attempt_id(), v1::CompileAttemptState::SUCCEEDED)));
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
}

TEST_F(DispatcherTest, LocalWorkersEndWithTheServerAndThatDoesNotCount) {
  const std::string local = AcceptCompilation("1");
  const std::string remote = AcceptCompilation("2", "other");
  Sync(Worker(LocalWorkerId(0)));
  Sync(Worker("far"));
  Restart();
  EXPECT_EQ(Get(local).state(), Job::QUEUED);
  EXPECT_EQ(Get(local).attempts(), 0);
  EXPECT_EQ(Get(remote).state(), Job::ASSIGNED);
}

TEST_F(DispatcherTest, WaitingCompilationsFollowTheCompilerOfTheServer) {
  const std::string id = AcceptCompilation("1", "g", 'a');
  EXPECT_EQ(Sync(Worker("far", 'c')).attempts_size(), 0);
  const v1::DesiredWorkerState desired = Sync(Worker(LocalWorkerId(0), 'b'));
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).job_id(), id);
  EXPECT_NE(desired.attempts(0).compile_key(), "key");
}

TEST_F(DispatcherTest, CompilationsGoToWorkersThatCompileForTheirTarget) {
  const std::string id = AcceptCompilation("1");  // For x86-64-linux, fingerprint f.
  const auto for_family = [this](const std::string& worker, const std::string& family) {
    v1::WorkerState state = Worker(worker);
    v1::TargetSupport& target = *state.add_targets();
    target.set_family(family);
    target.set_fingerprint(std::string(64, 'f'));
    return state;
  };
  EXPECT_EQ(Sync(for_family("arm", "arm-64-linux")).attempts_size(), 0);
  EXPECT_EQ(Sync(for_family("gpu", "x86-64-linux,cuda")).attempts_size(), 0);
  // Nor does a compiler of the server's own that is for something else take it over.
  EXPECT_EQ(Sync(for_family(LocalWorkerId(0), "wasm-32-wasi")).attempts_size(), 0);
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
  const v1::DesiredWorkerState desired = Sync(for_family("x86", "x86-64-linux"));
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).compile_key(), "key");

  EXPECT_EQ(dispatcher_->WorkersTargets().size(), 4u);
  std::vector<std::string> shown;
  for (const v1::Worker& worker : dispatcher_->Workers(caller_)) {
    ASSERT_EQ(worker.targets_size(), 1);
    EXPECT_EQ(worker.targets(0).fingerprint(), worker.fingerprint());
    shown.push_back(worker.id() + " " + worker.targets(0).family());
  }
  EXPECT_THAT(shown, ::testing::UnorderedElementsAre("arm arm-64-linux", "gpu x86-64-linux,cuda",
                                                     LocalWorkerId(0) + " wasm-32-wasi",
                                                     "x86 x86-64-linux"));
}

TEST_F(DispatcherTest, AWorkerFromBeforeTargetsCompilesForTheCpusOfItsTime) {
  AcceptCompilation("1");
  EXPECT_EQ(Sync(Worker("old")).attempts_size(), 1);
  EXPECT_EQ(dispatcher_->WorkersTargets(),
            (TargetFingerprints{{"arm-64-linux", std::string(64, 'f')},
                                {"x86-64-linux", std::string(64, 'f')}}));
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
  EXPECT_EQ(dispatcher_->FindDevice("d")->offer.abis, (VersionRange{1, 1}));
  EXPECT_EQ(dispatcher_->FindDevice("d")->offer.formats, (VersionRange{1, 1}));

  // A change of either is kept.
  v1::AgentState agent = Agent("d");
  agent.set_min_abi(1);
  agent.set_max_abi(2);
  Sync(agent);
  Restart();
  EXPECT_EQ(dispatcher_->FindDevice("d")->offer.abis, (VersionRange{1, 2}));
  agent.set_min_format(1);
  agent.set_max_format(3);
  Sync(agent);
  Restart();
  EXPECT_EQ(dispatcher_->FindDevice("d")->offer.abis, (VersionRange{1, 2}));
  EXPECT_EQ(dispatcher_->FindDevice("d")->offer.formats, (VersionRange{1, 3}));
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
