#include "server/compile_worker/worker_loop.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "core/base/files.h"
#include "core/store/file_blob_store.h"
#include "core/wire/digest_proto.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::worker {
namespace {

constexpr absl::Duration kSilence = absl::Seconds(2);

// A server that wants what the test says, and remembers what was reported.
class FakeTransport final : public WorkerTransport {
 public:
  absl::StatusOr<v1::DesiredWorkerState> Sync(const v1::WorkerState& state) override {
    absl::MutexLock lock(&mu_);
    last_ = state;
    ++syncs_;
    if (!failure_.ok()) return failure_;
    const auto awake = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return interrupted_ || desired_.version() != state.applied_version();
    };
    mu_.AwaitWithTimeout(absl::Condition(&awake), absl::Nanoseconds(state.park_ns()));
    if (std::exchange(interrupted_, false)) return absl::CancelledError("interrupted");
    return desired_;
  }
  void Interrupt() override {
    absl::MutexLock lock(&mu_);
    interrupted_ = true;
  }
  void Pause(absl::Duration pause, std::stop_token) override {
    absl::SleepFor(absl::Milliseconds(1));
    absl::MutexLock lock(&mu_);
    ++pauses_;
    longest_pause_ = std::max(longest_pause_, pause);
  }
  absl::Status Fetch(const Digest& digest, BlobStore& store, const RetryPolicy&) override {
    return store.Has(digest) ? absl::OkStatus() : absl::NotFoundError("no such blob");
  }
  absl::Status Send(absl::Span<const Digest> digests, BlobStore&, const RetryPolicy&) override {
    absl::MutexLock lock(&mu_);
    sent_ += digests.size();
    return absl::OkStatus();
  }

  void Want(const std::vector<v1::CompileAssignment>& assignments) {
    absl::MutexLock lock(&mu_);
    desired_.clear_attempts();
    std::string version = "v";
    for (const v1::CompileAssignment& assignment : assignments) {
      *desired_.add_attempts() = assignment;
      version += assignment.attempt_id();
    }
    desired_.set_version(version);
    desired_.set_silence_ns(absl::ToInt64Nanoseconds(kSilence));
  }
  void FailWith(absl::Status failure) {
    absl::MutexLock lock(&mu_);
    failure_ = std::move(failure);
  }
  // Waits until the last report satisfies `condition`; false after 20 s.
  bool WaitUntil(const std::function<bool(const v1::WorkerState&)>& condition) {
    absl::MutexLock lock(&mu_);
    const auto holds = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return condition(last_); };
    return mu_.AwaitWithTimeout(absl::Condition(&holds), absl::Seconds(20));
  }
  v1::WorkerState last() {
    absl::MutexLock lock(&mu_);
    return last_;
  }
  // Waits until there were so many.
  absl::Duration LongestPauseOf(int count) {
    absl::MutexLock lock(&mu_);
    const auto were = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return pauses_ >= count; };
    mu_.AwaitWithTimeout(absl::Condition(&were), absl::Seconds(20));
    return longest_pause_;
  }
  size_t sent() {
    absl::MutexLock lock(&mu_);
    return sent_;
  }

 private:
  absl::Mutex mu_;
  v1::DesiredWorkerState desired_ ABSL_GUARDED_BY(mu_);
  v1::WorkerState last_ ABSL_GUARDED_BY(mu_);
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
  bool interrupted_ ABSL_GUARDED_BY(mu_) = false;
  int syncs_ ABSL_GUARDED_BY(mu_) = 0;
  int pauses_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Duration longest_pause_ ABSL_GUARDED_BY(mu_);
  size_t sent_ ABSL_GUARDED_BY(mu_) = 0;
};

class WorkerLoopTest : public ::testing::Test {
 protected:
  WorkerLoopTest() : store_(*FileBlobStore::Create({.folder = folder_.path()})) {
    env_.transport = &transport_;
    env_.store = store_.get();
    env_.store_folder = folder_.path();
    env_.child_command = {"server/compile_worker/fake_compile_worker"};
    env_.take_machine_lock = false;
    loop_ = std::make_unique<WorkerLoop>(
        WorkerLoop::Options{
            .worker_id = "w", .instance_id = "i", .targets = {{"x86-64-linux", "f"}}},
        &env_);
    thread_ = std::thread([this] { loop_->Run(); });
  }
  ~WorkerLoopTest() override {
    loop_->Stop();
    thread_.join();
  }

  v1::CompileAssignment Assignment(const std::string& id, const std::string& model) {
    v1::CompileAssignment assignment;
    assignment.set_attempt_id(id);
    assignment.set_compile_key(std::string(64, 'c'));
    v1::ModelFile& file = *assignment.mutable_spec()->mutable_model()->add_files();
    *file.mutable_digest() = ToProto(*PutBytes(*store_, model));
    assignment.set_deadline_ns(20'000'000'000);
    return assignment;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("worker_loop_test");
  const std::unique_ptr<FileBlobStore> store_;
  FakeTransport transport_;
  AttemptEnvironment env_;
  std::unique_ptr<WorkerLoop> loop_;
  std::thread thread_;
};

TEST_F(WorkerLoopTest, CompilesSendsReportsAndForgets) {
  transport_.Want({Assignment("a", "program")});
  ASSERT_TRUE(transport_.WaitUntil([](const v1::WorkerState& state) {
    return state.attempts_size() == 1 &&
           state.attempts(0).state() == v1::CompileAttemptState::SUCCEEDED;
  }));
  EXPECT_EQ(transport_.last().applied_version(), "va");
  EXPECT_EQ(transport_.last().attempts(0).result().report().kernels(), 1);
  EXPECT_EQ(transport_.sent(), 3u);
  transport_.Want({});
  EXPECT_TRUE(transport_.WaitUntil(
      [](const v1::WorkerState& state) { return state.attempts_size() == 0; }));
}

TEST_F(WorkerLoopTest, StopsWhatIsNotWantedAnyMore) {
  transport_.Want({Assignment("a", "loop")});
  ASSERT_TRUE(transport_.WaitUntil([](const v1::WorkerState& state) {
    return state.attempts_size() == 1 && state.attempts(0).has_progress();
  }));
  transport_.Want({});
  EXPECT_TRUE(transport_.WaitUntil(
      [](const v1::WorkerState& state) { return state.attempts_size() == 0; }));
}

TEST_F(WorkerLoopTest, AFailureIsReported) {
  transport_.Want({Assignment("a", "nonsense")});
  ASSERT_TRUE(transport_.WaitUntil([](const v1::WorkerState& state) {
    return state.attempts_size() == 1 &&
           state.attempts(0).state() == v1::CompileAttemptState::FAILED;
  }));
  EXPECT_EQ(transport_.last().attempts(0).error().message(), "'nonsense' is no model");
  EXPECT_FALSE(transport_.last().attempts(0).retriable());
}

TEST_F(WorkerLoopTest, AMissingFileMayBeTriedAgain) {
  v1::CompileAssignment assignment = Assignment("a", "program");
  *assignment.mutable_spec()->mutable_model()->mutable_files(0)->mutable_digest() =
      ToProto(Digest::Of("never stored"));
  transport_.Want({assignment});
  ASSERT_TRUE(transport_.WaitUntil([](const v1::WorkerState& state) {
    return state.attempts_size() == 1 &&
           state.attempts(0).state() == v1::CompileAttemptState::FAILED;
  }));
  EXPECT_TRUE(transport_.last().attempts(0).retriable());
}

TEST_F(WorkerLoopTest, KeepsItsStateWhileTheServerIsAway) {
  transport_.Want({Assignment("a", "program")});
  ASSERT_TRUE(transport_.WaitUntil([](const v1::WorkerState& state) {
    return state.attempts_size() == 1 &&
           state.attempts(0).state() == v1::CompileAttemptState::SUCCEEDED;
  }));
  const int64_t before = transport_.last().sequence();
  transport_.FailWith(absl::UnavailableError("away"));
  transport_.Interrupt();
  ASSERT_TRUE(transport_.WaitUntil(
      [before](const v1::WorkerState& state) { return state.sequence() > before + 1; }));
  EXPECT_EQ(transport_.last().attempts(0).state(), v1::CompileAttemptState::SUCCEEDED);
  // Often enough not to count as lost.
  const absl::Duration longest = transport_.LongestPauseOf(12);
  EXPECT_GT(longest, kSilence / 4);
  EXPECT_LE(longest, kSilence / 2);
  transport_.FailWith(absl::OkStatus());
}

}  // namespace
}  // namespace slipway::worker
