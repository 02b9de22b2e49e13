// Processes that were stopped and go on: whoever did not listen blames nobody for the silence.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

constexpr int kAgents = 3;
constexpr absl::Duration kSilence = absl::Seconds(5);

class AsleepTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(
        cluster_, Cluster::Start({.agents = kAgents,
                                  .server_flags = {absl::StrCat("--silence=",
                                                                absl::FormatDuration(kSilence))}}));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }
  void TearDown() override { EXPECT_OK(cluster_->StopAll()); }

  void LetServerSleep(absl::Duration time) {
    ASSERT_OK(cluster_->server().Suspend());
    absl::SleepFor(time);
    cluster_->server().Resume();
  }
  absl::StatusOr<std::string> Submit(TestKernel kernel, float first, const RunOptions& options) {
    const Artifact artifact = TestProgram(kernel);
    if (absl::Status put = client_->PutArtifact(artifact); !put.ok()) return put;
    Tensor x = Tensor::Zeros(DataType::kFloat32, {2, 8});
    x.mutable_values<float>()[0] = first;
    return client_->SubmitRun(artifact.digest(), {{"x", x}}, options);
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

TEST_F(AsleepTest, AServerThatWasStoppedLosesNoAttempt) {
  ASSERT_OK(client_->PutArtifact(TestProgram(TestKernel::kAdd)));
  std::atomic<bool> is_over = false;
  std::atomic<int> done = 0;
  // Agents have always just been told what to do, or are about to say that it is done.
  std::vector<std::thread> users;
  for (int i = 0; i < 2 * kAgents; ++i) {
    users.emplace_back([&] {
      while (!is_over) {
        const absl::StatusOr<std::string> id =
            client_->SubmitRun(TestProgram(TestKernel::kAdd).digest(), {}, {});
        ASSERT_OK(id);
        ASSERT_OK_AND_ASSIGN(const Job job, client_->Wait(*id, nullptr));
        EXPECT_EQ(job.state, JobState::kSucceeded) << job.error;
        EXPECT_EQ(job.attempts, 1) << job.id;
        ++done;
      }
    });
  }
  for (int i = 0; i < 3; ++i) {
    absl::SleepFor(absl::Milliseconds(500));
    const int before = done;
    LetServerSleep(kSilence + absl::Seconds(3));
    const absl::Time deadline = absl::Now() + absl::Seconds(20);
    while (done == before && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(10));
    EXPECT_GT(done, before);
  }
  is_over = true;
  for (std::thread& user : users) user.join();
}

TEST_F(AsleepTest, ARunThatEndedInTimeWhileTheServerWasStoppedHasSucceeded) {
  RunOptions options;
  options.deadlines.run = absl::Seconds(4);
  // A second or so.
  ASSERT_OK_AND_ASSIGN(const std::string id, Submit(TestKernel::kSlow, 400, options));
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while (client_->GetJob(id)->state != JobState::kRunning && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  // For longer than it waits for a report after the deadline.
  LetServerSleep(absl::Seconds(8));
  ASSERT_OK_AND_ASSIGN(const Job job, client_->Wait(id, nullptr));
  EXPECT_EQ(job.state, JobState::kSucceeded) << job.error;
  EXPECT_EQ(job.attempts, 1);
}

}  // namespace
}  // namespace slipway::testing
