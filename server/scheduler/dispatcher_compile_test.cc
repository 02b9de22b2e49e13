// The dispatcher and workers.
#include <string>
#include <vector>

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
  EXPECT_EQ(DesiredOf(again)->attempts_size(), 1);
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
  EXPECT_EQ(DesiredOf(worker)->attempts_size(), 1);
  ASSERT_TRUE(dispatcher_->Cancel(caller_, second).ok());
  EXPECT_EQ(DesiredOf(worker)->attempts_size(), 0);
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

}  // namespace
}  // namespace slipway::server
