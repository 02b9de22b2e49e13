// What programs do and what is done with them, on the agent's own machine and on a device that is attached to it: it is the same.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/artifact.h"
#include "core/base/files.h"
#include "core/runtime/test_programs/hand_written_programs.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "device_agent/testing/agent_process.h"
#include "device_agent/testing/runner_place.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using State = v1::RunAttemptState;

class RunningPrograms : public AgentProcess, public ::testing::WithParamInterface<RunnerPlace> {
 protected:
  void SetUp() override {
    AgentProcess::SetUp();
    if (GetParam() == RunnerPlace::kAttached) AttachDevice();
  }
};

INSTANTIATE_TEST_SUITE_P(Places, RunningPrograms, kRunnerPlaces, NameOfPlace);

TEST_P(RunningPrograms, RunsAProgram) {
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
  EXPECT_GT(result.clock_resolution_ns(), 0);
  ASSERT_EQ(result.outputs_size(), 1);
  EXPECT_EQ(result.outputs(0).name(), "y");
  ASSERT_OK_AND_ASSIGN(const Tensor y, FromProto(result.outputs(0), GetTestProgramBlob));
  EXPECT_THAT(y.values<float>().subspan(0, 8),
              ::testing::ElementsAre(100, 101, 102, 103, 104, 105, 106, 107));
  // Forgotten once it is no longer wanted.
  server_->Want({});
  EXPECT_TRUE(server_->WaitFor([](const v1::AgentState& s) { return s.attempts_size() == 0; }));
}

TEST_P(RunningPrograms, LimitsOfLoopsAndBuffersAreTheJobs) {
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

TEST_P(RunningPrograms, InputsNotGivenAreRandomButTheSame) {
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
TEST_P(RunningPrograms, AProgramThatRottedInTheCacheIsFetchedAnew) {
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

TEST_P(RunningPrograms, Benchmarks) {
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
  const v1::BenchmarkResult& result = end->benchmark_result();
  EXPECT_THAT(result.samples_ns(), ::testing::Each(::testing::Gt(0)));
  EXPECT_GT(result.load_cold_ns(), 0);
  EXPECT_GT(result.first_run_ns(), 0);
  EXPECT_GT(result.peak_memory_bytes(), 64 << 10);
  EXPECT_TRUE(result.has_before());
  EXPECT_TRUE(result.has_after());
  // Of another machine what this one did meanwhile says nothing, and its clock is its own.
  const bool is_here = GetParam() == RunnerPlace::kHere;
  EXPECT_EQ(result.stamps_size() > 0, is_here);
  EXPECT_EQ(result.memory_after_bytes() > 0, is_here);
  if (!is_here) {
    EXPECT_EQ(result.iterations_per_sample(), 1);
    EXPECT_LE(result.peak_memory_bytes(), 2 << 20);
  }
  EXPECT_EQ(end->benchmark_result().steps_size(), 2);
  EXPECT_EQ(end->benchmark_result().device(), "test-device");
  EXPECT_FALSE(end->benchmark_result().has_peaks());
  EXPECT_THAT(end->benchmark_result().device_target(), HasSubstr("linux"));
}

// The second agent, of another state folder but the same cache, finds what the first one has measured.
TEST_P(RunningPrograms, TellsWhatItsMachineDoesAtMost) {
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

TEST_P(RunningPrograms, LargeTensorsAreBlobs) {
  StartAgent();
  constexpr int64_t kRows = 65536;
  v1::RunAssignment assignment = Assign(AddRows(kRows));
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
TEST_P(RunningPrograms, ACacheTooSmallForAProgramSaysSo) {
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

TEST_P(RunningPrograms, ACrashIsAFailedRunAndNotADeadAgent) {
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

TEST_P(RunningPrograms, RunnersSayWhatTheyDoWhereTheAgentDoes) {
  StartAgent({"--log-level", "debug"});
  const std::optional<State> end = RunToEnd(Assign(TestKernel::kCrash));
  ASSERT_TRUE(end.has_value());
  EXPECT_THAT(end->error().log_tail(), HasSubstr("calls the program"));
}

TEST_P(RunningPrograms, AFailingKernelIsNamed) {
  StartAgent();
  const std::optional<State> end = RunToEnd(Assign(TestKernel::kFail));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state(), State::FAILED);
  EXPECT_THAT(end->error().message(), AllOf(HasSubstr("step 0"), HasSubstr("Kernel"),
                                            HasSubstr("this kernel always fails")));
}

TEST_P(RunningPrograms, DeadlinesHold) {
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

TEST_P(RunningPrograms, MemoryLimitsHold) {
  StartAgent({"--runner-memory", "512MiB"});
  const std::optional<State> end = RunToEnd(Assign(TestKernel::kEatMemory));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state(), State::FAILED);
  EXPECT_EQ(end->error().code(), static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(end->error().message(), HasSubstr("no scratch memory left"));
  EXPECT_THAT(end->error().message(), HasSubstr("--runner-memory of the agent allows 512 MiB"));
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_P(RunningPrograms, WhatIsNoLongerWantedIsStopped) {
  StartAgent();
  const v1::RunAssignment assignment = Assign(TestKernel::kLoop);
  server_->Want({assignment});
  ASSERT_TRUE(WaitUntilRunning(assignment));
  // The next is wanted at once, and begins when the device is free.
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_P(RunningPrograms, ARunnerKilledFromOutsideMayBeTriedAgain) {
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

TEST_P(RunningPrograms, BadAssignmentsAreRefusedByName) {
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

}  // namespace
}  // namespace slipway
