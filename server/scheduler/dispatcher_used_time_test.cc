// The dispatcher where the time is limited for which an owner's jobs hold workers and devices.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"
#include "server/scheduler/dispatcher_fixture.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::server::testing::DispatcherTest;
using slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using v1::Job;

class DispatcherUsedTimeTest : public DispatcherTest {
 protected:
  void Limit(absl::Duration compile_time, absl::Duration device_time) {
    compile_time_ = compile_time;
    device_time_ = device_time;
    Restart();
  }
  absl::Status Submit(const std::string& request, const std::string& owner = "local") {
    JobRecord record = NewRecord(request);
    record.mutable_job()->set_owner(owner);
    record.mutable_job()->mutable_run();
    record.mutable_run()->set_target("x86-64-linux");
    return dispatcher_->Accept({.owner = owner}, record).status();
  }
  // Lets the agent have the one run that waits for so long, without a silence in it.
  void Run(const std::string& agent, absl::Duration time) {
    const v1::AgentState idle = Agent(agent);
    const v1::DesiredAgentState desired = Sync(idle);
    ASSERT_EQ(desired.attempts_size(), 1);
    const std::string& attempt = desired.attempts(0).attempt_id();
    const absl::Time end = clock_.Now() + time;
    while (clock_.Now() < end) {
      ASSERT_OK(Report(Holding(idle, desired, Attempt(attempt, v1::RunAttemptState::RUNNING))));
      Advance(std::min(absl::Seconds(5), end - clock_.Now()));
    }
    ASSERT_OK(Report(Holding(idle, desired, Attempt(attempt, v1::RunAttemptState::SUCCEEDED))));
  }
};

TEST_F(DispatcherUsedTimeTest, DeviceTimeIsLimitedAndComesBack) {
  Limit(absl::InfiniteDuration(), absl::Seconds(100));
  ASSERT_OK(Submit("1"));
  Run("a", absl::Seconds(60));
  ASSERT_OK(Submit("2"));
  Run("a", absl::Seconds(60));
  EXPECT_THAT(Submit("3"), StatusIs(absl::StatusCode::kResourceExhausted,
                                    AllOf(HasSubstr("2m"), HasSubstr("1m40s"), HasSubstr("24h"),
                                          HasSubstr("there is room again in "))));
  EXPECT_OK(Submit("4", "bob"));
  Advance(kUsedTimeWindow - absl::Hours(1));
  EXPECT_THAT(Submit("5"), StatusIs(absl::StatusCode::kResourceExhausted));
  Advance(absl::Hours(2));
  EXPECT_OK(Submit("6"));
}

TEST_F(DispatcherUsedTimeTest, WhatIsHeldNowCounts) {
  Limit(absl::InfiniteDuration(), absl::Seconds(100));
  ASSERT_OK(Submit("1"));
  const v1::AgentState idle = Agent("a");
  const v1::DesiredAgentState desired = Sync(idle);
  for (int i = 0; i < 20; ++i) {
    EXPECT_OK(Submit("2")) << i;
    ASSERT_OK(Report(Holding(
        idle, desired, Attempt(desired.attempts(0).attempt_id(), v1::RunAttemptState::RUNNING))));
    Advance(absl::Seconds(5));
  }
  EXPECT_THAT(Submit("3"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("what runs")));
}

TEST_F(DispatcherUsedTimeTest, WhatWasUsedIsKnownAfterARestart) {
  Limit(absl::InfiniteDuration(), absl::Seconds(50));
  ASSERT_OK(Submit("1"));
  Run("a", absl::Seconds(60));
  Restart();
  EXPECT_THAT(Submit("2"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("1m")));
  Advance(kUsedTimeWindow + absl::Hours(1));
  Restart();
  EXPECT_OK(Submit("3"));
}

TEST_F(DispatcherUsedTimeTest, LostAttemptsCountToo) {
  Limit(absl::InfiniteDuration(), absl::Seconds(15));
  ASSERT_OK(Submit("1"));
  ASSERT_EQ(Sync(Agent("a")).attempts_size(), 1);
  EXPECT_OK(Submit("2"));
  // The agent is silent.
  Advance(absl::Seconds(20));
  Advance(absl::Seconds(20));
  EXPECT_THAT(Submit("3"), StatusIs(absl::StatusCode::kResourceExhausted));
  Restart();
  EXPECT_THAT(Submit("3"), StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(DispatcherUsedTimeTest, CompileTimeIsAnother) {
  Limit(absl::Seconds(8), absl::InfiniteDuration());
  const std::string first = AcceptCompilation("1", "g");
  const v1::WorkerState worker = Worker("w");
  ASSERT_EQ(Sync(worker).attempts_size(), 1);
  Advance(absl::Seconds(8));
  EXPECT_OK(Submit("2"));
  JobRecord record = NewRecord("3");
  record.mutable_job()->mutable_compilation();
  record.mutable_compilation()->set_group("h");
  EXPECT_THAT(dispatcher_->Accept(caller_, record),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("compilations have used")));
  // What the artifact cache has takes no time.
  record.mutable_job()->set_state(Job::SUCCEEDED);
  record.mutable_job()->mutable_compilation_result();
  EXPECT_OK(dispatcher_->Accept(caller_, record));
}

}  // namespace
}  // namespace slipway::server
