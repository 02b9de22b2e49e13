// An agent whose device is attached by a command: what can happen between the two.
#include <signal.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/bare_runner/protocol.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/test_programs/test_programs.h"
#include "device_agent/attached/attached_device.h"
#include "device_agent/attached/stream_greeting.h"
#include "device_agent/testing/agent_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/process_list.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using State = v1::RunAttemptState;

class AttachedDeviceProcess : public AgentProcess {
 protected:
  void SetUp() override {
    AgentProcess::SetUp();
    AttachDevice();
  }
  // As a cable that is pulled: whatever runs there ends without a word.
  void Unplug() {
    for (const testing::RunningProcess& process : testing::ListProcesses(mark())) {
      kill(process.pid, SIGKILL);
    }
  }
  // The next one, which is there ahead.
  void AwaitRunner() {
    const auto is_runner = [](const testing::RunningProcess& process) {
      return absl::StartsWith(process.program, "slipway-bare-runner");
    };
    // Each is two processes.
    while (absl::c_count_if(testing::ListProcesses(mark()), is_runner) < 2) {
      absl::SleepFor(absl::Milliseconds(10));
    }
  }
  // Until the agent knows that the next one is gone, too.
  void AwaitNoRunner() {
    ASSERT_TRUE(testing::AwaitNoProcess(mark(), absl::Seconds(30)).empty());
    while (!Runners().empty()) absl::SleepFor(absl::Milliseconds(10));
  }
  // Where the agent keeps things there.
  std::string folder() const { return JoinPath(device_home(), ".cache/slipway/attached"); }
  // Finds the processes there.
  std::string mark() const { return absl::StrCat("NONE=", device_home()); }
};

TEST_F(AttachedDeviceProcess, NothingIsInstalledAndNothingStaysRunning) {
  StartAgent();
  ExpectSucceeds(Assign(TestKernel::kAdd));
  const std::filesystem::directory_iterator files(folder());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  AwaitRunner();
  agent_->Kill();
  for (const testing::RunningProcess& left : testing::AwaitNoProcess(mark(), absl::Seconds(30))) {
    ADD_FAILURE() << left.ToString() << " is left";
  }
}

TEST_F(AttachedDeviceProcess, ADeviceThatIsUnpluggedMayBeTriedAgain) {
  StartAgent();
  ExpectSucceeds(Assign(TestKernel::kAdd));
  const v1::RunAssignment assignment = Assign(TestKernel::kLoop);
  server_->Want({assignment});
  ASSERT_TRUE(WaitUntilRunning(assignment));
  Unplug();
  const std::optional<State> end = server_->WaitForEnd(assignment.attempt_id());
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state(), State::FAILED);
  EXPECT_TRUE(end->retriable());
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kUnavailable))
      << end->ShortDebugString();
  EXPECT_THAT(end->error().message(), HasSubstr("the attached device is lost"));
  // It is plugged in again, as another one: nothing of before is there, nor the next runner.
  AwaitRunner();
  Unplug();
  AwaitNoRunner();
  ASSERT_OK(RemoveTree(device_home()));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AttachedDeviceProcess, AnAgentWhoseDeviceIsNotThereEndsAndSaysWhy) {
  flags_ = {"--exec-prefix", R"(sh -c 'echo error: device not found >&2; exit 1')"};
  StartAgent();
  ASSERT_OK_AND_ASSIGN(const ExitStatus end, agent_->Wait(absl::Seconds(60)));
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(agent_->OutputTail(), HasSubstr("error: device not found"));
}

TEST_F(AttachedDeviceProcess, ACallWhoseTimeIsUpIsStopped) {
  StartAgent();
  v1::RunAssignment assignment = Assign(TestKernel::kLoop);
  assignment.set_deadline_ns(absl::ToInt64Nanoseconds(absl::Milliseconds(2500)));
  const std::optional<State> end = RunToEnd(assignment);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kDeadlineExceeded));
  // Its two steps are one list, of which nobody knows how far it is.
  EXPECT_THAT(end->error().message(), Not(HasSubstr("in step")));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AttachedDeviceProcess, ADeviceWithoutMemoryForAProgramSaysSo) {
  StartAgent({"--runner-memory", "256MiB"});
  ExpectSucceeds(Assign(TestKernel::kAdd));
  constexpr int64_t kManyRows = 3 << 20;  // 96 MiB an end: there is room for one.
  const std::optional<State> full = RunToEnd(Assign(AddRows(kManyRows)));
  ASSERT_TRUE(full.has_value());
  EXPECT_EQ(full->state(), State::FAILED);
  EXPECT_EQ(full->error().code(), static_cast<int>(absl::StatusCode::kResourceExhausted))
      << full->ShortDebugString();
  EXPECT_THAT(full->error().message(), HasSubstr("--runner-memory of the agent allows 256 MiB"));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

// Storage that fills up while the device is away, and is made free again.
TEST_F(AttachedDeviceProcess, ADeviceWithoutRoomForABareRunnerSaysSo) {
  const std::string full = JoinPath(folder_.path(), "full");
  // A limit on file sizes stands in for storage that is full.
  flags_ = {"--exec-prefix",
            absl::StrCat("sh -c ",
                         QuoteForShell(
                             absl::StrCat("test -e ", full, R"( && ulimit -f 8; exec $0 $1 "$2")")),
                         " ", StandInPrefix(device_home()))};
  StartAgent();
  ExpectSucceeds(Assign(TestKernel::kAdd));
  AwaitRunner();
  ASSERT_OK(WriteFileAtomically(full, "", /*durable=*/false));
  Unplug();
  AwaitNoRunner();
  ASSERT_OK(RemoveTree(device_home()));
  const std::optional<State> end = RunToEnd(Assign(TestKernel::kAdd));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kResourceExhausted))
      << end->ShortDebugString();
  EXPECT_THAT(end->error().message(), HasSubstr("the device has no room for the"));
  EXPECT_FALSE(end->retriable());
  ASSERT_EQ(std::filesystem::remove(full), true);
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AttachedDeviceProcess, ABareRunnerThatIsKilledThereMayBeTriedAgain) {
  StartAgent();
  ExpectSucceeds(Assign(TestKernel::kAdd));
  const v1::RunAssignment assignment = Assign(TestKernel::kLoop);
  server_->Want({assignment});
  ASSERT_TRUE(WaitUntilRunning(assignment));
  // The process that runs programs, whose parent tells how it ended.
  const auto works = [](const testing::RunningProcess& process) {
    return testing::ProcessorTime(process.pid) > absl::Milliseconds(50);
  };
  std::vector<testing::RunningProcess> runners;
  do {
    runners = testing::ListProcesses(mark());
  } while (absl::c_none_of(runners, works));
  ASSERT_EQ(kill(absl::c_find_if(runners, works)->pid, SIGKILL), 0);
  const std::optional<State> end = server_->WaitForEnd(assignment.attempt_id());
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state(), State::FAILED);
  EXPECT_TRUE(end->retriable());
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kAborted));
  EXPECT_THAT(end->error().message(),
              AllOf(HasSubstr("SIGKILL"), HasSubstr("in step 0 'Kernel', kernel")));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AttachedDeviceProcess, WhatIsForAnotherArchitectureIsRefusedByName) {
  StartAgent();
  v1::Manifest manifest = TestProgramManifest(TestKernel::kAdd);
  manifest.set_target("arm-64-linux");
  manifest.mutable_devices(0)->set_target("arm-64-linux");
  const std::optional<State> end = RunToEnd(Assign(manifest));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state(), State::FAILED);
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kFailedPrecondition))
      << end->ShortDebugString();
  EXPECT_THAT(end->error().message(), HasSubstr("arm-64"));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AttachedDeviceProcess, IsMeasuredByScenariosOfOneCallAtATime) {
  StartAgent();
  const auto measure = [&](const v1::BenchmarkSpec& how) {
    v1::RunAssignment assignment = Assign(TestKernel::kAdd);
    v1::BenchmarkSpec benchmark = how;
    *benchmark.mutable_run() = assignment.run();
    *assignment.mutable_benchmark() = benchmark;
    return RunToEnd(assignment);
  };
  v1::BenchmarkSpec several;
  several.mutable_scenario()->set_kind(v1::Scenario::OFFLINE);
  several.mutable_scenario()->set_instances(2);
  const std::optional<State> refused = measure(several);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->error().code(), static_cast<int>(absl::StatusCode::kUnimplemented))
      << refused->ShortDebugString();
  EXPECT_THAT(refused->error().message(),
              AllOf(HasSubstr("attached: "), HasSubstr("one call at a time")));
  for (const v1::Scenario::Kind kind : {v1::Scenario::SINGLE_STREAM, v1::Scenario::MULTI_STREAM,
                                        v1::Scenario::OFFLINE, v1::Scenario::SERVER}) {
    SCOPED_TRACE(v1::Scenario::Kind_Name(kind));
    v1::BenchmarkSpec how;
    how.set_samples(20);
    how.mutable_scenario()->set_kind(kind);
    if (kind != v1::Scenario::SINGLE_STREAM) how.mutable_scenario()->set_instances(1);
    if (kind == v1::Scenario::MULTI_STREAM) how.mutable_scenario()->set_calls_per_query(3);
    if (kind == v1::Scenario::SERVER) how.mutable_scenario()->set_qps_millis(1'000'000);
    const std::optional<State> end = measure(how);
    ASSERT_TRUE(end.has_value());
    ASSERT_EQ(end->state(), State::SUCCEEDED) << end->ShortDebugString();
    const v1::BenchmarkResult& result = end->benchmark_result();
    EXPECT_EQ(result.samples_ns_size(), 20);
    EXPECT_GE(result.scenario().calls(), 20);
    // What this machine did meanwhile is not the device's.
    EXPECT_EQ(result.stamps_size(), 0);
    EXPECT_EQ(result.energy_size(), 0);
    EXPECT_THAT(result.energy_unknown(), HasSubstr("attached"));
    EXPECT_GT(result.clock_resolution_ns(), 0);
  }
}

TEST_F(AttachedDeviceProcess, SettlesByWhatTheDeviceTellsOfItself) {
  StartAgent();
  v1::RunAssignment assignment = Assign(TestKernel::kAdd);
  const v1::RunSpec run = assignment.run();
  v1::BenchmarkSpec& benchmark = *assignment.mutable_benchmark();
  *benchmark.mutable_run() = run;
  benchmark.mutable_settling()->set_until_steady(true);
  benchmark.mutable_settling()->set_cool_down_millicelsius(200'000);
  benchmark.mutable_settling()->set_longest_ns(3'000'000);
  const std::optional<State> end = RunToEnd(assignment);
  ASSERT_TRUE(end.has_value());
  ASSERT_EQ(end->state(), State::SUCCEEDED) << end->ShortDebugString();
  const v1::BenchmarkResult& result = end->benchmark_result();
  ASSERT_TRUE(result.has_settled());
  ASSERT_TRUE(result.has_before());
  // As cool as that is any machine that tells how hot it is.
  EXPECT_EQ(result.settled().is_cool(), result.before().temperature_millicelsius() > 0);
}

// A device that says what it is as a bare runner does, nothing of its files, and from then on what it likes.
class HostileDevice : public AttachedDeviceProcess {
 protected:
  void Answer(const std::string& bytes) {
    const std::string said = JoinPath(folder_.path(), "said");
    ASSERT_OK(WriteFileAtomically(said, bytes, /*durable=*/false));
    // The first one describes the device.
    const std::string script = JoinPath(folder_.path(), "script");
    const std::string first = JoinPath(folder_.path(), "first");
    slipway_bare_hello hello = {};
    hello.protocol = SLIPWAY_BARE_PROTOCOL;
    hello.machine = 62;  // EM_X86_64
    hello.oldest_abi = SLIPWAY_OLDEST_ABI_VERSION;
    hello.newest_abi = SLIPWAY_ABI_VERSION;
    hello.processors = 1;
    hello.memory_bytes = uint64_t{1} << 32;
    const std::string greeting = JoinPath(folder_.path(), "greeting");
    ASSERT_OK(WriteFileAtomically(
        greeting,
        absl::StrCat(absl::string_view(kStreamGreeting, sizeof(kStreamGreeting) - 1),
                     absl::string_view(reinterpret_cast<const char*>(&hello), sizeof(hello))),
        /*durable=*/false));
    ASSERT_OK(WriteFileAtomically(script,
                                  absl::StrCat("case \"$1\" in *slipway-file*) exit;; esac\nmkdir ",
                                               first, " 2> /dev/null && more=/dev/null || more=",
                                               said, "\ncat ", greeting, " $more\nexec sleep 60\n"),
                                  /*durable=*/false));
    flags_ = {"--exec-prefix", absl::StrCat("sh ", script)};
    StartAgent();
  }
  static std::string Message(uint32_t kind, const slipway_bare_reply& reply) {
    const slipway_bare_header header = {kind, sizeof(reply)};
    return absl::StrCat(absl::string_view(reinterpret_cast<const char*>(&header), sizeof(header)),
                        absl::string_view(reinterpret_cast<const char*>(&reply), sizeof(reply)));
  }
  void ExpectLost(const std::string& why) {
    const std::optional<State> end = RunToEnd(Assign(TestKernel::kAdd));
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kUnavailable))
        << end->ShortDebugString();
    EXPECT_THAT(end->error().message(), HasSubstr(why));
    EXPECT_TRUE(end->retriable());
  }
};

TEST_F(HostileDevice, AnswersWhatNobodyAsked) {
  Answer(Message(SLIPWAY_BARE_RUN, {}));
  ExpectLost("it answers what was not asked");
}

TEST_F(HostileDevice, EndsByASignalThatWouldStopItsRunner) {
  Answer(Message(SLIPWAY_BARE_END, {.flags = SIGSTOP}));
  ExpectLost("the attached device is lost");
}

TEST_F(HostileDevice, EndsByASignalThatEndsNobody) {
  Answer(Message(SLIPWAY_BARE_END, {.flags = SIGCHLD}));
  ExpectLost("the attached device is lost");
}

TEST_F(HostileDevice, EndsByASignalThatThereIsNot) {
  Answer(Message(SLIPWAY_BARE_END, {.flags = UINT32_MAX}));
  ExpectLost("the attached device is lost");
}

}  // namespace
}  // namespace slipway
