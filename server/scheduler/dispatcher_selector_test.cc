// Jobs that wait for any device that matches.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/scheduler/dispatcher_fixture.h"

namespace slipway::server {
namespace {

using testing::DispatcherTest;
using v1::Job;

TEST_F(DispatcherTest, AJobGoesToADeviceThatMatches) {
  v1::AgentState small = Agent("small");
  small.mutable_devices(0)->set_cores(2);
  v1::AgentState large = Agent("large");
  large.mutable_devices(0)->set_cores(8);
  ASSERT_OK(Report(small));
  ASSERT_OK(Report(large));
  const std::string job = AcceptRun("r1", "cores>=4");
  EXPECT_EQ(Get(job).state(), Job::ASSIGNED);
  EXPECT_EQ(Get(job).assignee(), "large");
  const v1::DesiredAgentState desired = *DesiredOf(large);
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).device(), "large");
}

TEST_F(DispatcherTest, AJobThatNothingMatchesWaitsUntilSomethingDoes) {
  ASSERT_OK(Report(Agent("board")));
  const std::string by_label = AcceptRun("r1", "label:lab=berlin");
  const std::string by_cores = AcceptRun("r2", "cores>=4");
  EXPECT_EQ(Get(by_label).state(), Job::QUEUED);
  ASSERT_OK(dispatcher_->ChangeLabels(caller_, "board", {{"lab", "berlin"}}, {}).status());
  EXPECT_EQ(Get(by_label).state(), Job::ASSIGNED);
  EXPECT_EQ(Get(by_cores).state(), Job::QUEUED);
  v1::AgentState other = Agent("other");
  other.mutable_devices(0)->set_cores(4);
  ASSERT_OK(Report(other));
  EXPECT_EQ(Get(by_cores).assignee(), "other");
}

TEST_F(DispatcherTest, LabelsAndWhatWaitsForThemOutliveARestart) {
  ASSERT_OK(Report(Agent("board")));
  ASSERT_OK(dispatcher_->ChangeLabels(caller_, "board", {{"lab", "berlin"}}, {}).status());
  ASSERT_OK(Report(Agent("plain")));
  const std::string first = AcceptRun("r1", "label:lab=berlin");
  const std::string second = AcceptRun("r2", "label:lab=berlin");
  EXPECT_EQ(Get(first).assignee(), "board");
  Restart();
  EXPECT_EQ(Get(second).state(), Job::QUEUED);
  ASSERT_OK(Report(Agent("plain", "i2")));
  EXPECT_EQ(Get(second).state(), Job::QUEUED);
  ASSERT_OK(dispatcher_->Cancel(caller_, first).status());
  ASSERT_OK(Report(Agent("board", "i2")));
  EXPECT_EQ(Get(second).assignee(), "board");
  const std::vector<v1::Device> devices = dispatcher_->Devices(caller_);
  ASSERT_EQ(devices[0].labels_size(), 1);
  EXPECT_EQ(devices[0].labels(0).value(), "berlin");
}

}  // namespace
}  // namespace slipway::server
