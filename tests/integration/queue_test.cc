// Who may have devices when, with real processes: the queue says why, over restarts of server and agent.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/client.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

class QueueProcesses : public ::testing::Test {
 protected:
  void SetUp() override { Start({}); }
  void Start(Cluster::Options options) {
    cluster_.reset();
    absl::StatusOr<std::unique_ptr<Cluster>> cluster = Cluster::Start(std::move(options));
    ASSERT_OK(cluster);
    cluster_ = *std::move(cluster);
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
    ASSERT_OK_AND_ASSIGN(const std::vector<Device> devices, client_->ListDevices());
    ASSERT_EQ(devices.size(), 1u);
    device_ = devices[0].id;
  }
  void TearDown() override {
    if (cluster_ != nullptr) EXPECT_OK(cluster_->StopAll());
  }

  absl::StatusOr<std::string> Submit() {
    const Artifact artifact = TestProgram(TestKernel::kAdd);
    const absl::Status put = client_->PutArtifact(artifact);
    if (!put.ok()) return put;
    return client_->SubmitRun(artifact.digest(), {}, {});
  }
  AvailabilityState State() { return client_->ListDevices()->at(0).availability->state; }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
  std::string device_;
};

TEST_F(QueueProcesses, ADrainedDeviceStaysSoOverRestartsAndTheQueueSaysWhy) {
  ASSERT_OK_AND_ASSIGN(const Device drained,
                       client_->SetAvailability(device_, DeviceAction::kDrain, "a new fan"));
  EXPECT_EQ(drained.availability->state, AvailabilityState::kDrained);
  ASSERT_OK_AND_ASSIGN(const std::string id, Submit());
  ASSERT_OK_AND_ASSIGN(const Queue queue, client_->ListQueue({}));
  ASSERT_EQ(queue.jobs.size(), 1u);
  EXPECT_EQ(queue.jobs[0].job_id, id);
  EXPECT_EQ(queue.jobs[0].waits.kind, WaitKind::kDrained);
  EXPECT_EQ(queue.jobs[0].waits.device, device_);
  EXPECT_EQ(queue.jobs[0].waits.detail, "a new fan");

  cluster_->server().Kill();
  ASSERT_OK(cluster_->server().Start());
  cluster_->agent(0).Kill();
  ASSERT_OK(cluster_->agent(0).Start());
  EXPECT_EQ(State(), AvailabilityState::kDrained);
  ASSERT_OK_AND_ASSIGN(const Job waits, client_->GetJob(id));
  EXPECT_EQ(waits.state, JobState::kQueued);
  EXPECT_EQ(waits.waits->kind, WaitKind::kDrained);

  ASSERT_OK(client_->SetAvailability(device_, DeviceAction::kUndrain, ""));
  ASSERT_OK_AND_ASSIGN(const Job ran, client_->Wait(id, nullptr));
  EXPECT_EQ(ran.state, JobState::kSucceeded) << ran.error;
}

TEST_F(QueueProcesses, AReservationSurvivesTheServer) {
  ReserveOptions options;
  options.device = device_;
  options.length = absl::Hours(1);
  options.purpose = "a try";
  ASSERT_OK_AND_ASSIGN(const Reservation made, client_->Reserve(options));
  EXPECT_THAT(client_->Reserve(options), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(State(), AvailabilityState::kReserved);
  cluster_->server().Kill();
  ASSERT_OK(cluster_->server().Start());
  ASSERT_OK_AND_ASSIGN(const std::vector<Reservation> listed, client_->ListReservations(""));
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].id, made.id);
  // It is one's own: work goes on.
  ASSERT_OK_AND_ASSIGN(const std::string id, Submit());
  ASSERT_OK_AND_ASSIGN(const Job ran, client_->Wait(id, nullptr));
  EXPECT_EQ(ran.state, JobState::kSucceeded) << ran.error;
  ASSERT_OK(client_->Unreserve(made.id));
  EXPECT_EQ(State(), AvailabilityState::kAvailable);
}

// The real program on this machine, by the way that all programs take, until what is usual is known.
TEST_F(QueueProcesses, AnIdleDeviceIsProbedAndPasses) {
  Start({.server_flags = {"--probe-every", "200ms"}});
  DeviceHealth health;
  const absl::Time end = absl::Now() + absl::Minutes(1);
  while (health.usual_call == absl::ZeroDuration() && absl::Now() < end) {
    ASSERT_OK_AND_ASSIGN(const std::vector<Device> devices, client_->ListDevices());
    health = *devices.at(0).health;
    ASSERT_EQ(health.probe_error, "");
  }
  EXPECT_GT(health.usual_call, absl::ZeroDuration());
  EXPECT_EQ(health.failures, 0);
  // None of it is a job of anybody's.
  EXPECT_THAT(*client_->ListJobs({}), ::testing::IsEmpty());
  ASSERT_OK_AND_ASSIGN(const std::string id, Submit());
  ASSERT_OK_AND_ASSIGN(const Job ran, client_->Wait(id, nullptr));
  EXPECT_EQ(ran.state, JobState::kSucceeded) << ran.error;
}

}  // namespace
}  // namespace slipway::testing
