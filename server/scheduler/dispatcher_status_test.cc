#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/scheduler/dispatcher_fixture.h"

namespace slipway::server::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DispatcherStatusTest : public DispatcherTest {
 protected:
  v1::ServerStatus Status() {
    v1::ServerStatus status;
    dispatcher_->AddStatus(&status);
    return status;
  }
  // "run QUEUED 2".
  std::vector<std::string> Jobs() {
    std::vector<std::string> jobs;
    const v1::ServerStatus status = Status();
    for (const v1::JobSum& sum : status.jobs()) {
      jobs.push_back(absl::StrCat(sum.kind(), " ", sum.state(), " ", sum.count()));
    }
    return jobs;
  }
  // "ANY_DEVICE 2 for 5s".
  std::vector<std::string> Waiting() {
    std::vector<std::string> waiting;
    const v1::ServerStatus status = Status();
    for (const v1::WaitingSum& sum : status.waiting()) {
      waiting.push_back(absl::StrCat(v1::WaitingSum::Need_Name(sum.need()), " ", sum.count(),
                                     " for ",
                                     absl::FormatDuration(absl::Nanoseconds(sum.longest_ns()))));
    }
    return waiting;
  }
};

TEST_F(DispatcherStatusTest, SumsJobsUpToTheirEnd) {
  EXPECT_THAT(Jobs(), IsEmpty());
  const std::string first = AcceptRun("a", "board");
  AcceptRun("b", "board");
  clock_.Advance(absl::Seconds(5));
  AcceptBenchmark("c");
  AcceptCompilation("d");
  EXPECT_THAT(Jobs(), ElementsAre("compilation QUEUED 1", "run QUEUED 2", "benchmark QUEUED 1"));
  EXPECT_THAT(Waiting(),
              ElementsAre("WORKER 1 for 0", "NAMED_DEVICE 2 for 5s", "ANY_DEVICE 1 for 0"));
  ASSERT_OK(dispatcher_->Cancel(caller_, first));
  EXPECT_THAT(Waiting(),
              ElementsAre("WORKER 1 for 0", "NAMED_DEVICE 1 for 5s", "ANY_DEVICE 1 for 0"));
  ASSERT_OK(Report(Agent("board")));
  EXPECT_THAT(Jobs(), ElementsAre("compilation QUEUED 1", "run ASSIGNED 1", "benchmark QUEUED 1"));
  const v1::ServerStatus status = Status();
  EXPECT_EQ(status.counters().jobs_accepted(), 4);
  EXPECT_EQ(status.max_queued_jobs(), 20);
  EXPECT_EQ(status.devices_busy(), 1);
}

TEST_F(DispatcherStatusTest, TellsDevicesApartByWhatTheyDo) {
  ASSERT_OK(Report(Agent("a")));
  ASSERT_OK(Report(Agent("b")));
  AcceptRun("r", "a");
  v1::ServerStatus status = Status();
  EXPECT_EQ(status.devices_idle(), 1);
  EXPECT_EQ(status.devices_busy(), 1);
  EXPECT_EQ(status.devices_lost(), 0);
  clock_.Advance(kSilence + absl::Seconds(1));
  dispatcher_->Tick();
  status = Status();
  EXPECT_EQ(status.devices_idle() + status.devices_busy(), 0);
  EXPECT_EQ(status.devices_lost(), 2);
  EXPECT_EQ(status.counters().attempts_lost(), 1);
}

TEST_F(DispatcherStatusTest, PeersAreToldWhatTheirLogsAreToShow) {
  const v1::AgentState agent = Agent("a");
  const v1::DesiredAgentState before = Sync(agent);
  EXPECT_EQ(before.log_level(), "");
  dispatcher_->SetLogLevelOfPeers("debug");
  // What is wanted is something else now, so that a parked call is answered.
  const v1::DesiredAgentState after = *DesiredOf(agent);
  EXPECT_NE(after.version(), before.version());
  EXPECT_EQ(after.log_level(), "debug");
  EXPECT_EQ(Sync(Worker("w")).log_level(), "debug");
  dispatcher_->SetLogLevelOfPeers("");
  EXPECT_EQ(DesiredOf(agent)->version(), before.version());
  EXPECT_EQ(DesiredOf(agent)->log_level(), "");
}

TEST_F(DispatcherStatusTest, AgentsAreToldHowLongTheReturnOfAllTakes) {
  const int64_t of_one = Sync(Agent("a")).return_within_ns();
  EXPECT_GT(of_one, 0);
  Sync(Agent("b"));
  EXPECT_EQ(Sync(Agent("c")).return_within_ns(), 3 * of_one);
}

TEST_F(DispatcherStatusTest, AnAttemptIsNotLostBecauseTheLevelChanged) {
  const v1::AgentState agent = Agent("a");
  ASSERT_OK(Report(agent));
  AcceptRun("r", "a");
  const v1::DesiredAgentState desired = *DesiredOf(agent);
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).request_id(), "r");
  dispatcher_->SetLogLevelOfPeers("debug");
  v1::AgentState running = Holding(
      agent, desired, Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::RUNNING));
  EXPECT_EQ(Sync(running).attempts_size(), 1);
  EXPECT_EQ(Status().counters().attempts_lost(), 0);
}

TEST_F(DispatcherStatusTest, AFullQueueIsRefused) {
  for (int i = 0; i < 20; ++i) AcceptRun(absl::StrCat(i));
  const v1::ServerStatus status = Status();
  ASSERT_EQ(status.refusals_size(), 1);
  EXPECT_EQ(status.refusals(0).cause(), v1::ServerRefusal::QUEUE);
  EXPECT_THAT(status.refusals(0).message(), HasSubstr("--max-queued-jobs"));
}

TEST_F(DispatcherStatusTest, AStoreThatRefusesIsToldUntilItTakesSomething) {
  database_.Refuse(absl::ResourceExhaustedError("the disk is full"));
  EXPECT_FALSE(dispatcher_->Accept(caller_, NewRecord("a")).ok());
  v1::ServerStatus status = Status();
  ASSERT_EQ(status.refusals_size(), 1);
  EXPECT_EQ(status.refusals(0).cause(), v1::ServerRefusal::STORE);
  EXPECT_THAT(status.refusals(0).message(), HasSubstr("the disk is full"));
  // Nobody comes, and yet it is found out when that is over.
  const absl::Duration wait = dispatcher_->Tick();
  EXPECT_LE(wait, absl::Seconds(1));
  EXPECT_EQ(Status().refusals_size(), 1);
  database_.Refuse(absl::OkStatus());
  clock_.Advance(wait);
  dispatcher_->Tick();
  EXPECT_EQ(Status().refusals_size(), 0);
}

}  // namespace
}  // namespace slipway::server::testing
