// The dispatcher and workers.
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
using slipway::server::testing::kSilence;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
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
  dispatcher_->LocalWorkerEnded(LocalWorkerId(0), "worker 'local-0' crashed", "", /*counted=*/true);
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

// The server's own workers, which end before they report.
class NoCompilerTest : public DispatcherTest {
 protected:
  void FailToStart(int times = 1, const std::string& last_words = "confined\nno libz.so\n") {
    for (int i = 0; i < times; ++i) {
      dispatcher_->LocalWorkerEnded(LocalWorkerId(0), "worker 'local-0' ended with exit code 127",
                                    last_words, /*counted=*/true);
    }
  }
};

TEST_F(NoCompilerTest, CompilationsFailWithTheLastWords) {
  const std::string first = AcceptCompilation("1");
  const std::string run = AcceptRun("2");
  FailToStart(kMaxFailedStarts - 1);
  EXPECT_EQ(Get(first).state(), Job::QUEUED);
  EXPECT_EQ(dispatcher_->CompilationsWanted(), 1);
  FailToStart();
  const Job job = Get(first);
  EXPECT_EQ(job.state(), Job::FAILED);
  EXPECT_EQ(job.error().code(), static_cast<int>(absl::StatusCode::kUnavailable));
  EXPECT_THAT(job.error().message(),
              AllOf(HasSubstr("'x86-64-linux'"), HasSubstr("3 in a row"),
                    HasSubstr("ended with exit code 127, saying 'no libz.so'; mend"),
                    HasSubstr("slipway-compile-worker with --server")));
  EXPECT_EQ(job.error().log_tail(), "confined\nno libz.so\n");
  EXPECT_EQ(Get(run).state(), Job::QUEUED);
  // Others fail at once; and yet a worker is wanted, to be tried again.
  EXPECT_EQ(Get(AcceptCompilation("3")).state(), Job::FAILED);
  EXPECT_EQ(dispatcher_->CompilationsWanted(), 1);
}

TEST_F(NoCompilerTest, AWorkerThatReportsEndsIt) {
  int told = 0;
  demand_ = [&told] { ++told; };
  Restart();
  FailToStart(kMaxFailedStarts);
  EXPECT_EQ(told, 1);
  Sync(Worker(LocalWorkerId(0)));
  EXPECT_EQ(told, 2);
  EXPECT_EQ(dispatcher_->CompilationsWanted(), 0);
  const std::string id = AcceptCompilation("1");
  EXPECT_EQ(Get(id).state(), Job::ASSIGNED);
  // It ends, and then two that do not report; the one before does not count.
  FailToStart(kMaxFailedStarts);
  Advance(kFirstBackoff);
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
  FailToStart();
  EXPECT_EQ(Get(id).state(), Job::FAILED);
}

TEST_F(NoCompilerTest, WorkersThatEndAfterTheyReportedDoNotCount) {
  std::string id = AcceptCompilation("1");
  for (int i = 0; i < 2 * kMaxFailedStarts; ++i) {
    Sync(Worker(LocalWorkerId(0), 'f', absl::StrCat("i", i)));
    FailToStart(kMaxFailedStarts);
    Advance(kLongestBackoff);
    if (Get(id).state() == Job::FAILED) {  // It was killed in all its attempts.
      EXPECT_EQ(Get(id).error().code(), static_cast<int>(absl::StatusCode::kAborted));
      id = AcceptCompilation(absl::StrCat("again", i));
    }
    EXPECT_EQ(Get(id).state(), Job::QUEUED);
  }
}

TEST_F(NoCompilerTest, WorkersThatWereToldToEndDoNotCount) {
  const std::string id = AcceptCompilation("1");
  for (int i = 0; i < 2 * kMaxFailedStarts; ++i) {
    dispatcher_->LocalWorkerEnded(LocalWorkerId(0), "told", "", /*counted=*/false);
  }
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
}

TEST_F(NoCompilerTest, AnotherWorkerTakesWhatItCompilesFor) {
  v1::WorkerState arm = Worker("far", 'e');
  v1::TargetSupport& target = *arm.add_targets();
  target.set_family("arm-64-linux");
  target.set_fingerprint(std::string(64, 'e'));
  Sync(arm);
  const std::string id = AcceptCompilation("1");
  v1::WorkerState other = Worker("near", 'c');
  Sync(other);
  EXPECT_EQ(Get(id).state(), Job::QUEUED);
  FailToStart(kMaxFailedStarts);
  EXPECT_EQ(Get(id).state(), Job::ASSIGNED);
  EXPECT_EQ(Get(id).assignee(), "near");
  // What comes now is keyed for it too, and shares its attempt or waits for it.
  const std::string same = AcceptCompilation("2", "other");
  EXPECT_EQ(Get(same).assignee(), "near");
  const std::string next = AcceptCompilation("3", "third", 'c');
  EXPECT_EQ(Get(next).state(), Job::QUEUED);
  // Until it is gone too.
  Advance(kSilence);
  FailToStart();
  EXPECT_EQ(Get(same).state(), Job::FAILED);
  EXPECT_EQ(Get(next).state(), Job::FAILED);
  EXPECT_THAT(Get(next).error().message(), HasSubstr("4 in a row"));
}

TEST_F(NoCompilerTest, LastWordsAreBoundedAndReadable) {
  const std::string id = AcceptCompilation("1");
  FailToStart(kMaxFailedStarts, std::string(100'000, 'x') + "\xff");
  EXPECT_EQ(Get(id).error().log_tail(), std::string(kMaxLastWordsBytes - 1, 'x') + "?");
  EXPECT_LT(Get(id).error().message().size(), 1'500u);
  FailToStart(1, " \n");
  EXPECT_THAT(Get(AcceptCompilation("2")).error().message(), Not(HasSubstr("saying")));
}

}  // namespace
}  // namespace slipway::server
