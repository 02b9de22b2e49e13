#include "device_agent/measure/measure.h"

#include <time.h>

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "core/runtime/load_program.h"
#include "core/runtime/test_programs/test_programs.h"
#include "device_agent/measure/clock_resolution.h"
#include "device_agent/measure/machine_state.h"
#include "device_agent/measure/samples.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::Each;
using ::testing::Gt;

Tensor TestInput() { return Tensor::Zeros(DataType::kFloat32, {2, 8}); }

TEST(MeasureProgram, MeasuresAShortProgram) {
  MeasureOptions options;
  options.samples = 5;
  options.warmup = 1;
  options.profile = true;
  ASSERT_OK_AND_ASSIGN(
      const v1::BenchmarkResult result,
      MeasureProgram(TestProgram(TestKernel::kAdd), AllDrivers(), {TestInput()}, options));
  EXPECT_EQ(result.samples_ns_size(), 5);
  // Shorter than a millisecond, so many calls are in a sample, and the sample is about that long.
  EXPECT_GT(result.iterations_per_sample(), 100);
  EXPECT_THAT(result.samples_ns(), Each(Gt(100'000)));
  EXPECT_GT(result.load_cold_ns(), 0);
  EXPECT_GT(result.load_warm_ns(), 0);
  EXPECT_GT(result.first_run_ns(), 0);
  EXPECT_GT(result.peak_memory_bytes(), 1 << 20);
  EXPECT_EQ(result.clock_resolution_ns(), ClockResolutionNs());
  EXPECT_EQ(result.threads(), 1);
  EXPECT_GT(result.start_time_ns(), 0);
  ASSERT_EQ(result.steps_size(), 2);
  for (const v1::StepTime& step : result.steps()) {
    EXPECT_GE(step.duration_ns(), 0);
    EXPECT_LT(step.duration_ns(), 1'000'000'000);
  }
  EXPECT_EQ(result.steps(0).name(), "Kernel");
  EXPECT_EQ(result.steps(0).operators(0), "Add");
}

TEST(MeasureProgram, TellsErrors) {
  EXPECT_THAT(MeasureProgram(TestProgram(TestKernel::kFail), AllDrivers(), {TestInput()}, {}),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(MeasureProgram(TestProgram(TestKernel::kAdd), AllDrivers(), {}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  MeasureOptions options;
  options.samples = 0;
  EXPECT_THAT(MeasureProgram(TestProgram(TestKernel::kAdd), AllDrivers(), {TestInput()}, options),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(TakeSamples, WithCachesFlushedCallsOnceASample) {
  int calls = 0;
  v1::BenchmarkResult result;
  ASSERT_OK(TakeSamples(
      [&] {
        ++calls;
        return absl::OkStatus();
      },
      {.warmup = 2, .samples = 3, .flush_cache = true, .cool_down_ns = 1}, result));
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(result.samples_ns_size(), 3);
  EXPECT_EQ(result.iterations_per_sample(), 1);
}

// The processor is taken away in one of the calls that tell how many a sample has.
TEST(TakeSamples, OneSlowCallMakesNoShortSamples) {
  for (const int slow : {1, 2}) {
    int64_t now_ns = 0;
    int calls = 0;
    v1::BenchmarkResult result;
    ASSERT_OK(TakeSamples(
        [&] {
          now_ns += ++calls == slow ? 4'000'000 : 1'000;
          return absl::OkStatus();
        },
        {.samples = 3, .min_sample_ns = 1'000'000, .device_ns = [&] { return now_ns; }}, result));
    EXPECT_GE(result.iterations_per_sample(), 1000) << slow;
    EXPECT_THAT(result.samples_ns(), Each(Gt(999'999))) << slow;
  }
}

// Calls that take about as long as each other.
absl::Status Spin() {
  const absl::Time end = absl::Now() + absl::Microseconds(20);
  while (absl::Now() < end) {
  }
  return absl::OkStatus();
}

TEST(TakeSamples, EndsWhenTheMedianIsKnownWellEnough) {
  SampleOptions options = {.samples = 100'000, .min_sample_ns = 1, .precision_goal_ppm = 900'000};
  v1::BenchmarkResult easy;
  ASSERT_OK(TakeSamples(Spin, options, easy));
  EXPECT_LT(easy.samples_ns_size(), 1000);
  EXPECT_GE(easy.samples_ns_size(), 50);
  EXPECT_TRUE(easy.has_precision_ppm());
  EXPECT_LE(easy.precision_ppm(), 900'000);
  // To a millionth it never is where calls differ; then all samples are taken, and the result says how exactly it is.
  options.samples = 131;
  options.precision_goal_ppm = 1;
  v1::BenchmarkResult hard;
  int calls = 0;
  const auto spin_differently = [&calls] {
    for (int i = ++calls * 5 % 7; i > 0; --i) SLIPWAY_RETURN_IF_ERROR(Spin());
    return Spin();
  };
  ASSERT_OK(TakeSamples(spin_differently, options, hard));
  EXPECT_EQ(hard.samples_ns_size(), 131);
  EXPECT_GT(hard.precision_ppm(), 1);
  options.samples = 3;
  v1::BenchmarkResult few;
  ASSERT_OK(TakeSamples(Spin, options, few));
  EXPECT_EQ(few.precision_ppm(), -1);
  options.precision_goal_ppm = 0;
  v1::BenchmarkResult none;
  ASSERT_OK(TakeSamples(Spin, options, none));
  EXPECT_FALSE(none.has_precision_ppm());
  options.precision_goal_ppm = -1;
  EXPECT_THAT(TakeSamples(Spin, options, none), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(NextIterations, ComesToAMillisecond) {
  EXPECT_EQ(NextIterations(1, 1'000'000), 1);
  EXPECT_EQ(NextIterations(1, 500'000), 3);
  EXPECT_EQ(NextIterations(1, 100), 10);
  EXPECT_EQ(NextIterations(1000, 1'200'000), 1000);
  EXPECT_EQ(NextIterations(1000, 0), 10000);
  EXPECT_EQ(NextIterations(1 << 20, 0), 1 << 20);
  // Where longer samples are asked for.
  EXPECT_EQ(NextIterations(10, 1'200'000, 3'600'000), 34);
}

TEST(MachineState, ParsesProcStat) {
  int64_t ticks = 0;
  int processors = 0;
  ASSERT_TRUE(
      ParseProcStat("cpu  10 20 30 4000 500 6 7 8 90 0\ncpu0 5 10 15 2000 250 3 3 4 45 0\n"
                    "cpu1 5 10 15 2000 250 3 4 4 45 0\nintr 1 2 3\n",
                    ticks, processors));
  EXPECT_EQ(ticks, 10 + 20 + 30 + 6 + 7 + 8);
  EXPECT_EQ(processors, 2);
  for (const char* bad : {"", "cpu", "cpu a b c d\ncpu0 1", "cpu0 1 2 3 4", "intr 5"}) {
    EXPECT_FALSE(ParseProcStat(bad, ticks, processors)) << bad;
  }
  EXPECT_TRUE(ReadCpuTimes().has_value());
}

TEST(MachineState, ParsesCpuInfo) {
  const char* text =
      "processor\t: 0\nmodel name\t: A: B\ncpu MHz\t\t: 2000.5\n\n"
      "processor\t: 1\ncache size\t: 512 KB\ncpu MHz\t\t: 3000\n\n"
      "processor\t: none\ncpu MHz\t\t: 4000\n";
  EXPECT_EQ(ParseCpuInfo(text, 0), 2'000'500'000);
  EXPECT_EQ(ParseCpuInfo(text, 1), 3'000'000'000);
  EXPECT_EQ(ParseCpuInfo(text, 2), 0);
  EXPECT_EQ(ParseCpuInfo("processor : 0\ncpu MHz : fast\n", 0), 0);
  EXPECT_EQ(ParseCpuInfo("", 0), 0);
}

TEST(MachineState, ForeignShareIsWhatOthersTook) {
  const CpuTimes before{1000, 100, 2};
  // Of 2 x 1000 ns, all worked 900, of which this process 400.
  EXPECT_EQ(ForeignShareMillis(before, {1900, 500, 2}, 1000), 250);
  // Accounting is coarse: own time may be ahead.
  EXPECT_EQ(ForeignShareMillis(before, {1000, 500, 2}, 1000), 0);
  EXPECT_EQ(ForeignShareMillis(before, {9000, 100, 2}, 1000), 1000);
  EXPECT_EQ(ForeignShareMillis(before, before, 0), 0);
}

TEST(MachineState, TellsTheTimeOfThisProcessAndOfTheMachine) {
  const std::optional<CpuTimes> before = ReadCpuTimes();
  const clock_t start = clock();
  while (clock() - start < CLOCKS_PER_SEC / 10) {
  }
  const int64_t took_ns = int64_t{clock() - start} * 1'000'000'000 / CLOCKS_PER_SEC;
  const std::optional<CpuTimes> after = ReadCpuTimes();
  ASSERT_TRUE(before.has_value() && after.has_value());
  EXPECT_NEAR(after->own_ns - before->own_ns, took_ns, 20e6);
  // That is counted in ticks of 10 ms, and others work too.
  EXPECT_GE(after->machine_ns - before->machine_ns, took_ns / 2);
  EXPECT_GE(after->processors, 1);
}

TEST(MachineState, IsReadable) {
  const v1::MachineState state = ReadMachineState();
  EXPECT_GE(state.load_millis(), 0);
  EXPECT_GE(state.cpu_frequency_hz(), 0);
}

}  // namespace
}  // namespace slipway
