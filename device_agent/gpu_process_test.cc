// An agent of a machine with NVIDIA's libraries, which here are fakes: what it says of its GPUs, and that programs compute there.
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/artifact/artifact.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "device_agent/testing/twice_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/fake_gpu.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr char kTwice[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 4 y)
{
  .reg .b32 %r<4>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<6>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r1, %r1, %r2, %r3;
  mul.wide.u32 %rd1, %r1, 4;
  ld.param.u64 %rd2, [x];
  ld.param.u64 %rd3, [y];
  add.s64 %rd4, %rd2, %rd1;
  add.s64 %rd5, %rd3, %rd1;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd5], %f2;
  ret;
}
.visible .entry spoil(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 4 y)
{
  trap;
}
)";

Artifact Twice(const std::string& device, const std::string& entry = "twice") {
  return TwiceProgram(
      {.device = device, .kind = v1::Code::KIND_PTX, .text = kTwice, .entry = entry});
}

class GpuTest : public TwiceProcess {
 protected:
  // Confined programs find no library but in the system's folders and in that of accelerators.
  void StartWithGpu(const std::vector<std::string>& more = {}) {
    const std::string cache = JoinPath(folder_.path(), "cache");
    ASSERT_OK_AND_ASSIGN(const std::string libraries, testing::PutFakeGpu(cache));
    SubprocessOptions options = AgentOptions({"--accelerator", "cuda", "--cache-dir", cache});
    for (const std::string& flag : more) options.argv.push_back(flag);
    options.environment.emplace_back("LD_LIBRARY_PATH", libraries);
    agent_ = *Subprocess::Start(options);
  }
};

TEST_F(GpuTest, TellsItsGpusAndComputesThere) {
  StartWithGpu();
  const std::optional<v1::AgentState> state =
      server_->WaitFor([](const v1::AgentState& told) { return told.devices_size() == 1; });
  ASSERT_TRUE(state.has_value());
  EXPECT_THAT(state->devices(0).target(), EndsWith(",cuda-sm80"));
  const auto& accelerators = state->devices(0).inventory().accelerators();
  ASSERT_GE(accelerators.size(), 2);
  EXPECT_EQ(accelerators[0], "Fake H100, sm90, 80.0 GiB, driver 550.54.15");
  EXPECT_EQ(accelerators[1], "Fake L4, sm89, 24.0 GiB, driver 550.54.15");
  ExpectTwice(Twice("cuda-sm80"));
  // A kernel that fails takes its process's context along; the next program has another process.
  ExpectFails(Twice("cuda-sm80", "spoil"), absl::StatusCode::kInternal,
              "CUDA_ERROR_LAUNCH_FAILED (719)");
  ExpectTwice(Twice("cuda-sm80"));
}

TEST_F(GpuTest, TellsWhatItsGpuDoesAtMost) {
  measures_ = true;
  StartWithGpu();
  const std::optional<v1::AgentState> state = server_->WaitFor([](const v1::AgentState& told) {
    return told.devices_size() == 1 && told.devices(0).peaks().on_threads_size() > 0;
  });
  ASSERT_TRUE(state.has_value());
  const v1::DevicePeaks& peaks = state->devices(0).peaks();
  // The one that programs may use.
  ASSERT_EQ(peaks.accelerators_size(), 1);
  EXPECT_EQ(peaks.accelerators(0).name(), "Fake GPU");
  EXPECT_EQ(peaks.accelerators(0).arithmetic_size(), 4);
  EXPECT_GT(peaks.accelerators(0).to_host_bytes_per_second(), 0);
}

TEST_F(GpuTest, ABenchmarkTellsOfGpusTheirStateAndTheirTime) {
  StartWithGpu({"--no-measure"});
  v1::RunAssignment assignment = Assign(Twice("cuda-sm80"));
  v1::BenchmarkSpec benchmark;
  *benchmark.mutable_run() = assignment.run();
  benchmark.set_samples(3);
  benchmark.set_profile(true);
  *assignment.mutable_benchmark() = benchmark;
  const std::optional<v1::RunAttemptState> end = RunToEnd(assignment);
  ASSERT_TRUE(end.has_value());
  ASSERT_TRUE(end->has_benchmark_result()) << end->DebugString();
  for (const v1::MachineState& machine :
       {end->benchmark_result().before(), end->benchmark_result().after()}) {
    ASSERT_EQ(machine.accelerators_size(), 2);
    EXPECT_EQ(machine.accelerators(0).name(), "Fake H100");
    EXPECT_EQ(machine.accelerators(0).clock_hz(), 1'980'000'000);
    EXPECT_EQ(machine.accelerators(1).name(), "Fake L4");
  }
  // With the samples the one that the program uses.
  ASSERT_GE(end->benchmark_result().stamps_size(), 1);
  for (const v1::SampleStamp& stamp : end->benchmark_result().stamps()) {
    ASSERT_EQ(stamp.accelerators_size(), 1);
    EXPECT_EQ(stamp.accelerators(0).name(), "Fake H100");
    EXPECT_EQ(stamp.accelerators(0).clock_hz(), 1'980'000'000);
    EXPECT_FALSE(stamp.accelerators(0).throttled());
  }
  // Of it, too, a joule from the beginning of the samples to their end.
  const auto& energy = end->benchmark_result().energy();
  ASSERT_GE(energy.size(), 1);
  EXPECT_EQ(energy[energy.size() - 1].counter(), "gpu-0");
  EXPECT_EQ(energy[energy.size() - 1].microjoules(), 1'000'000);
  // A kernel takes a microsecond of the fake's clock.
  std::vector<int64_t> durations;
  for (const v1::StepTime& step : end->benchmark_result().steps()) {
    durations.push_back(step.duration_ns());
  }
  EXPECT_THAT(durations, ::testing::Contains(1000));
}

// The fake has 30 degrees, and a clock that never changes; of this machine's processor nothing need be known.
TEST_F(GpuTest, ABenchmarkWaitsForItsGpu) {
  StartWithGpu({"--no-measure"});
  v1::RunAssignment assignment = Assign(Twice("cuda-sm80"));
  v1::BenchmarkSpec benchmark;
  *benchmark.mutable_run() = assignment.run();
  benchmark.set_samples(1);
  benchmark.mutable_settling()->set_cool_down_millicelsius(20'000);
  benchmark.mutable_settling()->set_until_steady(true);
  benchmark.mutable_settling()->set_longest_ns(3'000'000'000);
  *assignment.mutable_benchmark() = benchmark;
  const std::optional<v1::RunAttemptState> end = RunToEnd(assignment);
  ASSERT_TRUE(end.has_value());
  ASSERT_TRUE(end->has_benchmark_result()) << end->DebugString();
  const v1::Settled& settled = end->benchmark_result().settled();
  EXPECT_FALSE(settled.is_cool());
  EXPECT_GE(settled.cooled_ns(), 3'000'000'000);
  EXPECT_GE(settled.steadied_ns(), 2'000'000'000);
  EXPECT_GE(settled.temperature_millicelsius(), 30'000);
}

TEST_F(GpuTest, AProgramForAGpuThatIsNotThereIsRefused) {
  StartWithGpu();
  for (const char* gpu : {"cuda-sm90", "cuda-sm90a"}) {
    ExpectFails(Twice(gpu), absl::StatusCode::kFailedPrecondition,
                absl::StrCat("needs a \"", gpu, "\""));
  }
}

TEST_F(GpuTest, AnAgentThatWasNotToldToLetsNoProgramUseOne) {
  StartAgent();
  ExpectFails(Twice("cuda-sm80"), absl::StatusCode::kFailedPrecondition, "cuda");
}

TEST_F(GpuTest, AMachineWithoutALibrarySaysWhatToInstall) {
  SubprocessOptions options;
  options.argv = {"device_agent/slipway-agent", "accelerators", "cuda"};
  options.environment = {{"LD_LIBRARY_PATH", "/nonexistent"}, {"CUDA_VISIBLE_DEVICES", ""}};
  options.stderr_stream = ChildStream::Tail();
  const std::unique_ptr<Subprocess> asked = *Subprocess::Start(options);
  ASSERT_OK_AND_ASSIGN(const ExitStatus end, asked->Wait(absl::Seconds(30)));
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(asked->OutputTail(), HasSubstr("cuda: "));
}

}  // namespace
}  // namespace slipway
