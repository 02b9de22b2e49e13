#include "server/peers/benchmark_check.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;

v1::BenchmarkResult Honest() {
  v1::BenchmarkResult result;
  for (const int64_t sample : {1'000'000, 1'100'000, 1}) result.add_samples_ns(sample);
  result.set_iterations_per_sample(1);
  return result;
}

TEST(BenchmarkCheckTest, TakesWhatCanBe) {
  EXPECT_OK(CheckBenchmark(Honest(), 3));
  v1::BenchmarkResult long_one = Honest();
  long_one.set_samples_ns(0, absl::ToInt64Nanoseconds(kMaxDeadline) - 1'100'001);
  long_one.set_precision_ppm(-1);
  long_one.mutable_before()->set_temperature_millicelsius(-20'000);
  EXPECT_OK(CheckBenchmark(long_one, 3));
}

TEST(BenchmarkCheckTest, NamesWhatCannotBe) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  struct Case {
    std::function<void(v1::BenchmarkResult&)> spoil;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{
           {[](auto& r) { r.clear_samples_ns(); }, "it has 0 samples; 1 to 3 wanted"},
           {[](auto& r) { r.add_samples_ns(7); }, "it has 4 samples; 1 to 3 wanted"},
           {[](auto& r) { r.set_samples_ns(1, -5); }, "sample 2 took -5 ns; 1 or more wanted"},
           {[](auto& r) { r.set_samples_ns(2, 0); }, "sample 3 took 0 ns"},
           {[](auto& r) { r.set_samples_ns(1, kMost); }, "the samples up to number 2 took longer"},
           {[](auto& r) {
              r.set_samples_ns(0, absl::ToInt64Nanoseconds(kMaxDeadline) - 1'100'000);
            },
            "the samples up to number 3 took longer together than a job may, 24h"},
           {[](auto& r) { r.set_iterations_per_sample(0); }, "iterations_per_sample is 0; 1 or"},
           {[](auto& r) { r.set_load_cold_ns(-1); }, "load_cold_ns is -1; 0 or more wanted"},
           {[](auto& r) { r.set_load_warm_ns(-1); }, "load_warm_ns is -1"},
           {[](auto& r) { r.set_first_run_ns(-1); }, "first_run_ns is -1"},
           {[](auto& r) { r.set_peak_memory_bytes(-1); }, "peak_memory_bytes is -1"},
           {[](auto& r) { r.set_clock_resolution_ns(-1); }, "clock_resolution_ns is -1"},
           {[](auto& r) { r.set_threads(-1); }, "threads is -1"},
           {[](auto& r) { r.set_disturbed_millis(-1); }, "disturbed_millis is -1"},
           {[](auto& r) { r.set_start_time_ns(-1); }, "start_time_ns is -1"},
           {[](auto& r) { r.set_precision_ppm(-2); }, "precision_ppm is -2; -1 or more wanted"},
           {[](auto& r) { r.mutable_timings()->set_fetch_ns(-1); }, "timings.fetch_ns is -1"},
           {[](auto& r) { r.mutable_timings()->set_spawn_ns(-1); }, "timings.spawn_ns is -1"},
           {[](auto& r) { r.mutable_timings()->set_load_ns(-1); }, "timings.load_ns is -1"},
           {[](auto& r) { r.mutable_timings()->set_run_ns(-1); }, "timings.run_ns is -1"},
           {[](auto& r) { r.mutable_timings()->set_upload_ns(-1); }, "timings.upload_ns is -1"},
           {[](auto& r) { r.mutable_before()->set_cpu_frequency_hz(-1); },
            "before.cpu_frequency_hz"},
           {[](auto& r) { r.mutable_after()->set_load_millis(-1); }, "after.load_millis is -1"},
           {[](auto& r) { r.mutable_after()->add_accelerators()->set_power_milliwatts(-1); },
            "after.accelerators is -1"},
           {[](auto& r) {
              r.mutable_before()->add_accelerators()->set_name(std::string(257, 'x'));
            },
            "before: an accelerator's name has 257 bytes; at most 256"},
           {[](auto& r) {
              for (int i = 0; i < 65; ++i) r.mutable_before()->add_accelerators();
            },
            "before tells of 65 accelerators; at most 64"},
           {[](auto& r) { r.add_stamps()->add_accelerators()->set_clock_hz(-1); },
            "a stamp.accelerators is -1"},
           {[](auto& r) {
              v1::SampleStamp& stamp = *r.add_stamps();
              for (int i = 0; i < 65; ++i) stamp.add_accelerators();
            },
            "a stamp tells of 65 accelerators; at most 64"},
           {[](auto& r) { r.add_steps()->set_duration_ns(-1); }, "a step's duration_ns is -1"},
           {[](auto& r) { r.add_steps()->add_threads()->set_begin_ns(-1); },
            "a thread's begin_ns is -1"},
           {[](auto& r) { r.add_steps()->add_threads()->set_end_ns(-1); },
            "a thread's end_ns is -1"},
           {[](auto& r) { r.add_steps()->add_threads()->set_busy_ns(-1); },
            "a thread's busy_ns is -1"},
           {[](auto& r) { r.add_steps()->add_threads()->set_tasks(-1); }, "a thread's tasks is -1"},
           {[](auto& r) {
              v1::StepTime& step = *r.add_steps();
              for (int i = 0; i < 65; ++i) step.add_threads();
            },
            "a step tells of 65 threads; at most 64"},
       }) {
    v1::BenchmarkResult result = Honest();
    c.spoil(result);
    EXPECT_THAT(CheckBenchmark(result, 3),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.says)));
  }
}

}  // namespace
}  // namespace slipway::server
