// The agent's binary against a fake server.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "core/artifact/artifact.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/runtime/test_programs/hand_written_programs.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "device_agent/testing/grpc_fake_server.h"
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
using State = v1::RunAttemptState;

constexpr char kAgent[] = "device_agent/slipway-agent";

class AgentProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = *TemporaryFolder::Create("agent");
    setenv("SLIPWAY_LOCK_DIR", JoinPath(folder_.path(), "locks").c_str(), 1);
    address_ = "unix:" + JoinPath(folder_.path(), "socket");
    server_ = std::make_unique<FakeServer>(address_);
  }

  SubprocessOptions AgentOptions(const std::vector<std::string>& flags = {}) {
    SubprocessOptions options;
    options.argv = {kAgent,
                    "--server",
                    address_,
                    "--state-dir",
                    JoinPath(folder_.path(), "state"),
                    "--id",
                    "test-device",
                    measures_ ? "--measure" : "--no-measure"};
    for (const std::string& flag : flags) options.argv.push_back(flag);
    options.stderr_stream = ChildStream::Tail();
    options.follow_parent = true;
    return options;
  }
  void StartAgent(const std::vector<std::string>& flags = {}) {
    agent_ = *Subprocess::Start(AgentOptions(flags));
  }

  v1::RunAssignment Assign(const Artifact& artifact) {
    for (const Digest& digest : artifact.manifest().blobs()) {
      EXPECT_OK(server_->blobs().blobs().Put(digest, artifact.blob(digest).bytes()));
    }
    v1::RunAssignment assignment;
    assignment.set_attempt_id(absl::StrCat("attempt-", ++attempts_));
    assignment.set_job_id("job");
    assignment.set_device("test-device");
    assignment.set_manifest(artifact.manifest().bytes());
    *assignment.mutable_run()->mutable_manifest() = ToProto(artifact.digest());
    assignment.set_deadline_ns(absl::ToInt64Nanoseconds(absl::Seconds(30)));
    return assignment;
  }
  v1::RunAssignment Assign(const v1::Manifest& manifest) {
    return Assign(*Artifact::Create(manifest, GetTestProgramBlob));
  }
  v1::RunAssignment Assign(TestKernel kernel) { return Assign(TestProgramManifest(kernel)); }

  std::optional<State> RunToEnd(const v1::RunAssignment& assignment) {
    server_->Want({assignment});
    return server_->WaitForEnd(assignment.attempt_id());
  }
  void ExpectSucceeds(const v1::RunAssignment& assignment) {
    const std::optional<State> end = RunToEnd(assignment);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->state(), State::SUCCEEDED) << end->ShortDebugString();
  }
  bool WaitUntilRunning(const v1::RunAssignment& assignment) {
    return server_
        ->WaitFor([&](const v1::AgentState& state) {
          return state.attempts_size() == 1 &&
                 state.attempts(0).attempt_id() == assignment.attempt_id() &&
                 state.attempts(0).state() == State::RUNNING;
        })
        .has_value();
  }
  // Of the agent's child processes, which are runners: each is the child of a thread.
  std::vector<pid_t> Runners() {
    std::vector<pid_t> pids;
    const std::string tasks = absl::StrCat("/proc/", agent_->pid(), "/task");
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
      const absl::StatusOr<std::string> found = ReadFile(task.path().string() + "/children", 4096);
      if (!found.ok()) continue;  // The thread has ended.
      for (const absl::string_view text : absl::StrSplit(*found, ' ', absl::SkipEmpty())) {
        pid_t pid = 0;
        if (absl::SimpleAtoi(text, &pid)) pids.push_back(pid);
      }
    }
    return pids;
  }

  TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<FakeServer> server_;
  std::unique_ptr<Subprocess> agent_;
  int attempts_ = 0;
  bool measures_ = false;  // What the machine does at most.
};

Tensor Rows(int64_t rows, float value) {
  Tensor tensor = Tensor::Zeros(DataType::kFloat32, {rows, 8});
  for (float& element : tensor.mutable_values<float>()) element = value;
  return tensor;
}

TEST_F(AgentProcessTest, RunsAProgram) {
  StartAgent();
  v1::RunAssignment assignment = Assign(TestKernel::kAdd);
  *assignment.mutable_run()->add_inputs() = ToInlineProto("x", Rows(2, 100));
  const std::optional<State> end = RunToEnd(assignment);
  ASSERT_TRUE(end.has_value());
  ASSERT_EQ(end->state(), State::SUCCEEDED) << end->ShortDebugString();
  const v1::RunResult& result = end->run_result();
  EXPECT_EQ(result.device(), "test-device");
  EXPECT_GT(result.timings().load_ns(), 0);
  EXPECT_GT(result.timings().run_ns(), 0);
  ASSERT_EQ(result.outputs_size(), 1);
  EXPECT_EQ(result.outputs(0).name(), "y");
  ASSERT_OK_AND_ASSIGN(const Tensor y, FromProto(result.outputs(0), GetTestProgramBlob));
  EXPECT_THAT(y.values<float>().subspan(0, 8),
              ::testing::ElementsAre(100, 101, 102, 103, 104, 105, 106, 107));
  // Forgotten once it is no longer wanted.
  server_->Want({});
  EXPECT_TRUE(server_->WaitFor([](const v1::AgentState& s) { return s.attempts_size() == 0; }));
}

TEST_F(AgentProcessTest, LimitsOfLoopsAndBuffersAreTheJobs) {
  StartAgent();
  HandWrittenProgram program = While();
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, program.builder.Build());
  const auto assign = [&](int64_t loop_turns, int64_t dynamic_bytes) {
    v1::RunAssignment assignment = Assign(artifact);
    v1::RunSpec& run = *assignment.mutable_run();
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      *run.add_inputs() =
          ToInlineProto(artifact.manifest().signature().inputs[i].name, program.inputs[i]);
    }
    run.set_loop_turns(loop_turns);
    run.set_dynamic_bytes(dynamic_bytes);
    return assignment;
  };
  ExpectSucceeds(assign(0, 0));
  ExpectSucceeds(assign(4, 4096));
  for (const auto& [turns, bytes, message] :
       {std::tuple(3, 4096,
                   "more than 3 turns in this call; if they would end, allow more with "
                   "--loop-turns"),
        std::tuple(4, 1, "of the 1 allowed; allow more with --dynamic-bytes"),
        std::tuple(-1, 0, "0 at least"), std::tuple(0, -1, "0 at least")}) {
    const std::optional<State> end = RunToEnd(assign(turns, bytes));
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->state(), State::FAILED);
    EXPECT_THAT(end->error().message(), HasSubstr(message));
  }
}

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

TEST_F(AgentProcessTest, InputsNotGivenAreRandomButTheSame) {
  StartAgent();
  v1::RunAssignment first = Assign(TestKernel::kAdd);
  v1::RunAssignment second = Assign(TestKernel::kAdd);
  v1::RunAssignment other = Assign(TestKernel::kAdd);
  other.mutable_run()->set_seed(7);
  const auto a = RunToEnd(first);
  const auto b = RunToEnd(second);
  const auto c = RunToEnd(other);
  ASSERT_TRUE(a.has_value() && b.has_value() && c.has_value());
  const auto bytes = [](const State& s) { return s.run_result().outputs(0).inline_data(); };
  EXPECT_EQ(bytes(*a), bytes(*b));
  EXPECT_NE(bytes(*a), bytes(*c));
}

// Altered at equal size and without a trace in its time of writing, by something else on the device or by the disk.
TEST_F(AgentProcessTest, AProgramThatRottedInTheCacheIsFetchedAnew) {
  const std::string cache = JoinPath(folder_.path(), "cache");
  StartAgent({"--cache-dir", cache});
  const auto sum = [this] {
    v1::RunAssignment assignment = Assign(TestKernel::kAdd);
    *assignment.mutable_run()->add_inputs() = ToInlineProto("x", Rows(2, 100));
    const std::optional<State> end = RunToEnd(assignment);
    EXPECT_TRUE(end.has_value() && end->state() == State::SUCCEEDED);
    return end.has_value() ? end->run_result().outputs(0).inline_data() : "";
  };
  const std::string right = sum();
  int altered = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(JoinPath(cache, "blobs"))) {
    if (!entry.is_regular_file()) continue;
    struct stat before {};
    ASSERT_EQ(stat(entry.path().c_str(), &before), 0);
    {
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(before.st_size / 2);
      file.write("rot", 3);
    }
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, entry.path().c_str(), times, 0), 0);
    ++altered;
  }
  ASSERT_GE(altered, 2);  // Its code and its constants.
  EXPECT_EQ(sum(), right);
}

TEST_F(AgentProcessTest, Benchmarks) {
  StartAgent();
  v1::RunAssignment assignment = Assign(TestKernel::kAdd);
  const v1::RunSpec spec = assignment.run();
  v1::BenchmarkSpec& benchmark = *assignment.mutable_benchmark();
  *benchmark.mutable_run() = spec;
  benchmark.set_warmup(1);
  benchmark.set_samples(4);
  benchmark.set_profile(true);
  const std::optional<State> end = RunToEnd(assignment);
  ASSERT_TRUE(end.has_value());
  ASSERT_EQ(end->state(), State::SUCCEEDED) << end->ShortDebugString();
  EXPECT_EQ(end->benchmark_result().samples_ns_size(), 4);
  EXPECT_EQ(end->benchmark_result().steps_size(), 2);
  EXPECT_EQ(end->benchmark_result().device(), "test-device");
  EXPECT_FALSE(end->benchmark_result().has_peaks());
  EXPECT_THAT(end->benchmark_result().device_target(), HasSubstr("linux"));
}

// The second agent, of another state folder but the same cache, finds what the first one has measured.
TEST_F(AgentProcessTest, TellsWhatItsMachineDoesAtMost) {
  measures_ = true;
  const std::string cache = JoinPath(folder_.path(), "cache");
  StartAgent({"--cache-dir", cache});
  const auto has_peaks = [](const v1::AgentState& state) {
    return state.devices(0).peaks().on_threads_size() > 0;
  };
  const std::optional<v1::AgentState> first = server_->WaitFor(has_peaks);
  ASSERT_TRUE(first.has_value());
  const v1::DevicePeaks::OnThreads& one = first->devices(0).peaks().on_threads(0);
  EXPECT_EQ(one.threads(), 1);
  EXPECT_GT(one.arithmetic(0).operations_per_second(), 0);
  EXPECT_EQ(one.reading().rbegin()->level(), "memory");

  v1::RunAssignment assignment = Assign(TestKernel::kAdd);
  const v1::RunSpec spec = assignment.run();
  *assignment.mutable_benchmark()->mutable_run() = spec;
  assignment.mutable_benchmark()->set_samples(1);
  assignment.mutable_benchmark()->set_profile(true);
  const std::optional<State> end = RunToEnd(assignment);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->benchmark_result().peaks().SerializeAsString(),
            first->devices(0).peaks().SerializeAsString());

  agent_.reset();
  StartAgent({"--cache-dir", cache, "--state-dir", JoinPath(folder_.path(), "other")});
  const std::optional<v1::AgentState> second = server_->WaitFor([&](const v1::AgentState& state) {
    return has_peaks(state) && state.instance_id() != first->instance_id();
  });
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->devices(0).peaks().SerializeAsString(),
            first->devices(0).peaks().SerializeAsString());
}

TEST_F(AgentProcessTest, LargeTensorsAreBlobs) {
  StartAgent();
  constexpr int64_t kRows = 65536;
  v1::Manifest manifest = TestProgramManifest(TestKernel::kAdd);
  for (const int index : {0, 2, 3}) {
    manifest.mutable_buffers(index)->mutable_size()->set_constant(kRows * 32);
    manifest.mutable_values(index)->mutable_shape(0)->set_value(kRows);
  }
  v1::RunAssignment assignment = Assign(manifest);
  const Tensor input = Rows(kRows, 5);
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(server_->blobs().blobs(), input.bytes()));
  *assignment.mutable_run()->add_inputs() = ToBlobProto("x", input.type(), digest);
  // The connection breaks twice on the way.
  server_->blobs().SetFaults({.reads = 2, .read_bytes = 1 << 20});
  const std::optional<State> end = RunToEnd(assignment);
  ASSERT_TRUE(end.has_value());
  ASSERT_EQ(end->state(), State::SUCCEEDED) << end->ShortDebugString();
  ASSERT_TRUE(end->run_result().outputs(0).has_blob());
  ASSERT_OK_AND_ASSIGN(const Tensor y,
                       FromProto(end->run_result().outputs(0),
                                 [&](const Digest& d) { return server_->blobs().blobs().Get(d); }));
  EXPECT_EQ(y.values<float>()[0], 5.0f);
  EXPECT_EQ(y.values<float>()[8 * kRows - 1], 12.0f);
  // Nothing was sent twice: the input, and less than 64 KiB of code and constants.
  EXPECT_LT(server_->blobs().bytes_read(), input.byte_size() + (64 << 10));
}

// What the program itself needs is not removed to make room for the rest of it.
TEST_F(AgentProcessTest, ACacheTooSmallForAProgramSaysSo) {
  const v1::RunAssignment assignment = Assign(TestKernel::kAdd);
  int64_t bytes = 0;
  const Artifact program = TestProgram(TestKernel::kAdd);
  for (const Digest& digest : program.manifest().blobs()) {
    bytes += digest.size_bytes();
  }
  StartAgent({"--cache-quota", absl::StrCat(bytes - 1)});
  const std::optional<State> end = RunToEnd(assignment);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kResourceExhausted))
      << end->ShortDebugString();
  EXPECT_THAT(end->error().message(), HasSubstr("quota"));
  agent_.reset();
  StartAgent({"--cache-quota", absl::StrCat(bytes)});
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AgentProcessTest, ACrashIsAFailedRunAndNotADeadAgent) {
  StartAgent();
  const std::optional<State> end = RunToEnd(Assign(TestKernel::kCrash));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state(), State::FAILED);
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kAborted));
  EXPECT_THAT(end->error().message(), AllOf(HasSubstr("killed by signal 11 (SIGSEGV)"),
                                            HasSubstr("in step 0 'Kernel', kernel 2 of code 0")));
  EXPECT_THAT(end->error().log_tail(), Not(HasSubstr("calls the program")));
  EXPECT_FALSE(end->retriable());
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AgentProcessTest, RunnersSayWhatTheyDoWhereTheAgentDoes) {
  StartAgent({"--log-level", "debug"});
  const std::optional<State> end = RunToEnd(Assign(TestKernel::kCrash));
  ASSERT_TRUE(end.has_value());
  EXPECT_THAT(end->error().log_tail(), HasSubstr("calls the program"));
}

TEST_F(AgentProcessTest, AFailingKernelIsNamed) {
  StartAgent();
  const std::optional<State> end = RunToEnd(Assign(TestKernel::kFail));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state(), State::FAILED);
  EXPECT_THAT(end->error().message(), AllOf(HasSubstr("step 0"), HasSubstr("Kernel"),
                                            HasSubstr("this kernel always fails")));
}

TEST_F(AgentProcessTest, DeadlinesHold) {
  StartAgent();
  v1::RunAssignment assignment = Assign(TestKernel::kLoop);
  assignment.set_deadline_ns(absl::ToInt64Nanoseconds(absl::Milliseconds(300)));
  const std::optional<State> end = RunToEnd(assignment);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state(), State::FAILED);
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(end->error().message(), HasSubstr("did not end in 300ms"));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AgentProcessTest, MemoryLimitsHold) {
  StartAgent({"--runner-memory", "512MiB"});
  const std::optional<State> end = RunToEnd(Assign(TestKernel::kEatMemory));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state(), State::FAILED);
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(end->error().message(), HasSubstr("no scratch memory left"));
  EXPECT_THAT(end->error().message(), HasSubstr("--runner-memory of the agent allows 512 MiB"));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AgentProcessTest, WhatIsNoLongerWantedIsStopped) {
  StartAgent();
  const v1::RunAssignment assignment = Assign(TestKernel::kLoop);
  server_->Want({assignment});
  ASSERT_TRUE(WaitUntilRunning(assignment));
  // The next is wanted at once, and begins when the device is free.
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AgentProcessTest, ARunnerKilledFromOutsideMayBeTriedAgain) {
  StartAgent();
  const v1::RunAssignment assignment = Assign(TestKernel::kLoop);
  server_->Want({assignment});
  ASSERT_TRUE(WaitUntilRunning(assignment));
  const std::vector<pid_t> runners = Runners();
  ASSERT_FALSE(runners.empty());
  for (const pid_t pid : runners) kill(pid, SIGKILL);
  const std::optional<State> end = server_->WaitForEnd(assignment.attempt_id());
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state(), State::FAILED);
  EXPECT_TRUE(end->retriable());
  EXPECT_THAT(end->error().message(), HasSubstr("SIGKILL"));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AgentProcessTest, BadAssignmentsAreRefusedByName) {
  StartAgent();
  v1::RunAssignment wrong_name = Assign(TestKernel::kAdd);
  *wrong_name.mutable_run()->add_inputs() = ToInlineProto("z", Rows(2, 1));
  std::optional<State> end = RunToEnd(wrong_name);
  ASSERT_TRUE(end.has_value());
  EXPECT_THAT(end->error().message(),
              HasSubstr("no input \"z\"; the program takes \"x\" f32[2, 8]"));
  v1::RunAssignment wrong_shape = Assign(TestKernel::kAdd);
  *wrong_shape.mutable_run()->add_inputs() = ToInlineProto("x", Rows(3, 1));
  end = RunToEnd(wrong_shape);
  ASSERT_TRUE(end.has_value());
  EXPECT_THAT(end->error().message(),
              HasSubstr("input \"x\" is f32[2, 8], but f32[3, 8] is given"));
  v1::RunAssignment wrong_device = Assign(TestKernel::kAdd);
  wrong_device.set_device("other");
  end = RunToEnd(wrong_device);
  ASSERT_TRUE(end.has_value());
  EXPECT_THAT(end->error().message(), HasSubstr("no device \"other\", only \"test-device\""));
  v1::RunAssignment bad_manifest = Assign(TestKernel::kAdd);
  bad_manifest.set_manifest("garbage");
  end = RunToEnd(bad_manifest);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
  v1::RunAssignment missing_blob = Assign(TestKernel::kAdd);
  const Artifact program = TestProgram(TestKernel::kAdd);
  for (const Digest& digest : program.manifest().blobs()) {
    ASSERT_OK(server_->blobs().blobs().Remove(digest));
  }
  end = RunToEnd(missing_blob);
  ASSERT_TRUE(end.has_value());
  EXPECT_THAT(end->error().message(), HasSubstr("cannot fetch blob"));
  EXPECT_TRUE(end->retriable());
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
