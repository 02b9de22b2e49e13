#include "client/run_fan_out.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr char kTarget[] = "x86-64-v3-linux";

absl::Status NotAsked() { return absl::UnimplementedError("nobody asks for this"); }

// Benchmarks succeed at once, but those of devices that hang, which end when they are cancelled or the client is interrupted.
class FakeClient final : public Client {
 public:
  absl::StatusOr<std::string> SubmitCompilation(const ModelFiles&, const CompileOptions&) override {
    return NotAsked();
  }
  absl::StatusOr<std::string> SubmitRun(const Digest&, const std::vector<NamedTensor>&,
                                        const RunOptions&) override {
    return NotAsked();
  }
  absl::StatusOr<std::string> SubmitBenchmark(const Digest&, const std::vector<NamedTensor>&,
                                              const BenchmarkOptions& options) override {
    return absl::StrCat("job ", options.run.device);
  }
  absl::StatusOr<Job> Wait(const std::string& job_id, const JobObserver& observer) override {
    Job job = {.id = job_id, .state = JobState::kQueued, .attempts = 1};
    observer(job);
    absl::MutexLock lock(&mutex_);
    waited_for_.insert(job_id);
    const auto is_over = [this, &job_id] { return IsOver(job_id); };
    mutex_.Await(absl::Condition(&is_over));
    if (cancelled_.contains(job_id)) {
      job.state = JobState::kCancelled;
      return job;
    }
    if (is_interrupted_) return absl::CancelledError("interrupted");
    job.state = JobState::kSucceeded;
    job.benchmark = BenchmarkResult{.samples_ns = {1}};
    return job;
  }
  absl::StatusOr<Job> GetJob(const std::string&) override { return NotAsked(); }
  absl::StatusOr<std::vector<Job>> ListJobs(const JobListOptions&) override { return NotAsked(); }
  absl::StatusOr<Job> CancelJob(const std::string& job_id) override {
    absl::MutexLock lock(&mutex_);
    if (job_id == uncancellable_) return absl::UnavailableError("no server");
    cancelled_.insert(job_id);
    return Job{.id = job_id, .state = JobState::kCancelled};
  }
  absl::StatusOr<std::vector<NamedTensor>> FetchOutputs(const RunResult&) override {
    return NotAsked();
  }
  absl::Status PutArtifact(const slipway::Artifact&) override { return NotAsked(); }
  absl::StatusOr<slipway::Artifact> GetArtifact(const Digest&) override { return NotAsked(); }
  absl::Status ExportArtifact(const Digest&, const std::string&) override { return NotAsked(); }
  absl::StatusOr<ArtifactSummary> DescribeArtifact(const Digest&) override { return NotAsked(); }
  absl::StatusOr<DeviceList> FindDevices(const DeviceListOptions& options) override {
    EXPECT_TRUE(options.available);
    return DeviceList{.devices = available_};
  }
  absl::StatusOr<std::vector<HistoryEntry>> ListHistory(const HistoryOptions&) override {
    return NotAsked();
  }
  absl::StatusOr<HistoryEntry> GetHistoryEntry(const std::string&) override { return NotAsked(); }
  absl::StatusOr<std::string> GetRecord(const std::string&) override { return NotAsked(); }
  absl::StatusOr<Labels> ChangeLabels(const std::string&, const Labels&,
                                      const std::vector<std::string>&) override {
    return NotAsked();
  }
  absl::StatusOr<ServerInfo> Info() override { return NotAsked(); }
  absl::StatusOr<ServerStatus> Status() override { return NotAsked(); }
  absl::StatusOr<Queue> ListQueue(const QueueListOptions&) override { return NotAsked(); }
  absl::StatusOr<Reservation> Reserve(const ReserveOptions&) override { return NotAsked(); }
  absl::StatusOr<std::vector<Reservation>> ListReservations(const std::string&) override {
    return NotAsked();
  }
  absl::StatusOr<Reservation> Unreserve(const std::string&) override { return NotAsked(); }
  absl::StatusOr<Device> SetAvailability(const std::string&, DeviceAction,
                                         const std::string&) override {
    return NotAsked();
  }
  absl::StatusOr<AgentOffer> OfferAgent(const AgentOfferOptions&) override { return NotAsked(); }
  absl::StatusOr<std::vector<AgentRollout>> ListAgentOffers() override { return NotAsked(); }
  absl::StatusOr<AgentOffer> WithdrawAgentOffer(const std::string&) override { return NotAsked(); }
  int64_t max_model_bytes() const override { return 0; }
  void Interrupt() override {
    absl::MutexLock lock(&mutex_);
    is_interrupted_ = true;
  }

  // Waits until its end is waited for.
  void AwaitWaiting(const std::string& job_id) {
    absl::MutexLock lock(&mutex_);
    const auto is_waited_for = [this, &job_id] { return waited_for_.contains(job_id); };
    mutex_.Await(absl::Condition(&is_waited_for));
  }
  std::set<std::string> cancelled() {
    absl::MutexLock lock(&mutex_);
    return cancelled_;
  }

  std::vector<Device> available_;  // Set before the fan-out begins; the same for the next.
  std::set<std::string> hanging_;
  std::string uncancellable_;

 private:
  bool IsOver(const std::string& job_id) const {
    return is_interrupted_ || cancelled_.contains(job_id) || !hanging_.contains(job_id);
  }

  absl::Mutex mutex_;
  std::set<std::string> waited_for_;
  std::set<std::string> cancelled_;
  bool is_interrupted_ = false;
};

class RunFanOutTest : public ::testing::Test {
 protected:
  RunFanOutTest() {
    for (const char* id : {"a", "b", "c"}) devices_.push_back({.id = id, .target = kTarget});
    client_.available_ = devices_;
    work_.compile = [this](const std::string& target) {
      absl::MutexLock lock(&mutex_);
      compiled_.push_back(target);
      return Digest::Of(target);
    };
    work_.submit = [this](const std::string& device, const Digest& artifact) {
      EXPECT_EQ(artifact, Digest::Of(kTarget));
      return client_.SubmitBenchmark(artifact, {}, {.run = {.device = device}});
    };
  }

  absl::Status Run(FanOut& fan_out, absl::Duration look_every = absl::InfiniteDuration()) {
    return RunFanOut(
        client_, fan_out, work_, [this](const FanOut&) { ++changes_; }, look_every);
  }

  FakeClient client_;
  std::vector<Device> devices_;
  FanOutWork work_;
  absl::Mutex mutex_;
  std::vector<std::string> compiled_;
  int changes_ = 0;
};

TEST_F(RunFanOutTest, AllAreMeasured) {
  FanOut fan_out(devices_, {});
  ASSERT_OK(Run(fan_out));
  EXPECT_THAT(compiled_, ElementsAre(kTarget));
  for (const FanOutRow& row : fan_out.rows()) EXPECT_TRUE(row.result.has_value()) << row.device;
  EXPECT_GE(changes_, 8);
}

TEST_F(RunFanOutTest, ADeviceThatIsNotThereIsGivenUp) {
  client_.hanging_ = {"job b"};
  client_.available_ = {devices_[0], devices_[2]};
  FanOut fan_out(devices_, {});
  ASSERT_OK(Run(fan_out, absl::Milliseconds(1)));
  EXPECT_TRUE(fan_out.rows()[0].result.has_value());
  EXPECT_TRUE(fan_out.rows()[1].is_lost);
  EXPECT_TRUE(fan_out.rows()[2].result.has_value());
}

TEST_F(RunFanOutTest, AnInterruptCancelsAllThatIsOpen) {
  client_.hanging_ = {"job a", "job b", "job c"};
  client_.uncancellable_ = "job c";
  FanOut fan_out(devices_, {});
  std::thread interrupter([this] {
    for (const char* job : {"job a", "job b", "job c"}) client_.AwaitWaiting(job);
    client_.Interrupt();
  });
  EXPECT_THAT(Run(fan_out),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("job \"job c\" may still run")));
  interrupter.join();
  EXPECT_THAT(client_.cancelled(), UnorderedElementsAre("job a", "job b"));
}

TEST_F(RunFanOutTest, NothingToMeasureOnIsNothingToDo) {
  FanOut fan_out({}, {});
  EXPECT_OK(Run(fan_out));
}

}  // namespace
}  // namespace slipway
