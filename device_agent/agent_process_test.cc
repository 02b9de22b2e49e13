// The agent's process, whatever it runs.
#include "device_agent/testing/agent_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/plain_connection.h"
#include "tests/common/process_list.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using AgentProcessTest = AgentProcess;

TEST_F(AgentProcessTest, TellsItsMetrics) {
  const std::string socket = JoinPath(folder_.path(), "metrics");
  StartAgent({"--metrics-listen", absl::StrCat("unix:", socket)});
  ExpectSucceeds(Assign(TestKernel::kAdd));
  server_->Want({});
  ASSERT_TRUE(server_->WaitFor([](const v1::AgentState& s) { return s.attempts_size() == 0; }));
  EXPECT_THAT(
      testing::Ask(absl::StrCat("unix:", socket), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
      AllOf(HasSubstr("slipway_agent_attempts_ended_total{kind=\"run\",end=\"succeeded\"} 1\n"),
            HasSubstr("slipway_agent_busy 0\n"), Not(HasSubstr("test-device"))));
}

TEST_F(AgentProcessTest, ReportsWhatItIs) {
  StartAgent();
  const auto state = server_->WaitFor([](const v1::AgentState&) { return true; });
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->agent_id(), "test-device");
  EXPECT_EQ(state->instance_id().size(), 16u);
  ASSERT_EQ(state->devices_size(), 1);
  EXPECT_THAT(state->devices(0).target(), HasSubstr("linux"));
  EXPECT_GT(state->devices(0).cores(), 0);
  EXPECT_GT(state->devices(0).memory_bytes(), 1 << 20);
}

TEST_F(AgentProcessTest, ComesBackWhenTheServerDoes) {
  StartAgent();
  ExpectSucceeds(Assign(TestKernel::kAdd));
  server_.reset();
  server_ = std::make_unique<FakeServer>(address_);
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AgentProcessTest, KeepsTryingWhileAnotherHasItsId) {
  server_->FailSync(6, "another live instance at 10.0.0.1 uses this id");
  StartAgent();
  ASSERT_TRUE(server_->WaitFor([](const v1::AgentState&) { return true; }));
  while (!absl::StrContains(agent_->OutputTail(), "another agent uses this id")) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  server_->FailSync(0, "");
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AgentProcessTest, TellsWhenItIsReadyAndStopsWhenTold) {
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  UniqueFd reader(fds[0]);
  UniqueFd writer(fds[1]);
  SubprocessOptions options = AgentOptions({"--ready-fd", "5"});
  options.fds = {{5, writer.get()}};
  agent_ = *Subprocess::Start(options);
  writer.reset();
  char text[16];
  EXPECT_EQ(read(reader.get(), text, sizeof(text)), 6);
  EXPECT_EQ(std::string(text, 6), "ready\n");
  EXPECT_EQ(read(reader.get(), text, sizeof(text)), 0);
  agent_->Terminate();
  ASSERT_OK_AND_ASSIGN(const ExitStatus end, agent_->Wait(absl::Seconds(30)));
  EXPECT_TRUE(end.ok()) << end.ToString();
}

TEST_F(AgentProcessTest, OneAgentAFolder) {
  StartAgent();
  ASSERT_TRUE(server_->WaitFor([](const v1::AgentState&) { return true; }));
  ASSERT_OK_AND_ASSIGN(const auto second, Subprocess::Start(AgentOptions()));
  ASSERT_OK_AND_ASSIGN(const ExitStatus end, second->Wait(absl::Seconds(30)));
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(second->OutputTail(), HasSubstr("another agent uses this state folder"));
}

TEST_F(AgentProcessTest, BadFlagsAreExitCodeTwo) {
  ASSERT_OK_AND_ASSIGN(const auto agent, Subprocess::Start(AgentOptions({"--nonsense"})));
  ASSERT_OK_AND_ASSIGN(const ExitStatus end, agent->Wait(absl::Seconds(30)));
  EXPECT_EQ(end.exit_code, 2);
}

TEST_F(AgentProcessTest, ShortAttemptsAreShort) {
  StartAgent();
  ExpectSucceeds(Assign(TestKernel::kAdd));
  std::vector<absl::Duration> durations;
  for (int i = 0; i < 30; ++i) {
    const v1::RunAssignment assignment = Assign(TestKernel::kAdd);
    const absl::Time begin = absl::Now();
    ASSERT_TRUE(RunToEnd(assignment).has_value());
    durations.push_back(absl::Now() - begin);
    // As between jobs of a client; the next runner starts meanwhile.
    absl::SleepFor(absl::Milliseconds(10));
  }
  std::sort(durations.begin(), durations.end());
  const absl::Duration median = durations[durations.size() / 2];
  // An idle machine takes 5 ms; the bound is for a busy one.
  EXPECT_LT(median, absl::Milliseconds(200));
  std::cout << "median of an attempt: " << median << std::endl;
}

TEST_F(AgentProcessTest, AnIdleAgentIsSmall) {
  StartAgent();
  ExpectSucceeds(Assign(TestKernel::kAdd));
  server_->Want({});
  EXPECT_TRUE(server_->WaitFor([](const v1::AgentState& s) { return s.attempts_size() == 0; }));
  const int64_t bytes = testing::ResidentBytes(agent_->pid());
  EXPECT_GT(bytes, 0);
  EXPECT_LT(bytes, 20 << 20);
  std::cout << "idle: " << (bytes >> 10) << " KiB" << std::endl;
}

}  // namespace
}  // namespace slipway
