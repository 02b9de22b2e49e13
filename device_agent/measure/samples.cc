#include "device_agent/measure/samples.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/runtime/step_timing.h"
#include "core/statistics/quantile.h"
#include "device_agent/measure/stamps.h"

namespace slipway {
namespace {

// Samples after which it is asked for the first time how exactly the median is known.
constexpr int kFirstLook = 50;
constexpr int64_t kMaxIterations = 1 << 20;
// Profiled calls end after this many or this long.
constexpr int kProfiledCalls = 20;
constexpr int64_t kProfiledNs = 2'000'000'000;

int64_t NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

// Fills the caches with something else: reads and writes twice the last level's size.
class CacheFlush {
 public:
  CacheFlush() {
    const long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    bytes_.resize(static_cast<size_t>(std::clamp<long>(size * 2, 8 << 20, 256 << 20)));
  }
  void Run() {
    constexpr size_t kLine = 64;
    volatile char* const bytes = bytes_.data();
    for (size_t i = 0; i < bytes_.size(); i += kLine) bytes[i] = static_cast<char>(bytes[i] + 1);
  }

 private:
  std::vector<char> bytes_;
};

// How exactly the median is known, in millionths of it; -1: not at all.
int64_t PrecisionPpm(absl::Span<const int64_t> samples_ns) {
  const std::vector<double> series(samples_ns.begin(), samples_ns.end());
  const Estimate median = EstimateQuantile(series, 0.5);
  if (!median.interval.has_value() || !(median.value > 0)) return -1;
  const double distance =
      std::max(median.interval->high - median.value, median.value - median.interval->low);
  // A ratio of times that fit is far from the largest number but for hostile ones.
  return static_cast<int64_t>(std::min(std::ceil(distance / median.value * 1e6), 1e15));
}

class Sampler {
 public:
  Sampler(absl::FunctionRef<absl::Status()> call, const SampleOptions& options)
      : call_(call), options_(options) {
    if (options.flush_cache) flush_.emplace();
  }

  absl::Status Run(v1::BenchmarkResult& result) {
    if (!options_.flush_cache && !options_.single_calls)
      SLIPWAY_RETURN_IF_ERROR(ChooseIterations());
    result.set_iterations_per_sample(iterations_);
    for (int i = 0; i < options_.warmup; ++i) SLIPWAY_RETURN_IF_ERROR(Sample().status());
    result.mutable_samples_ns()->Reserve(options_.samples);
    result.set_start_time_ns(absl::ToUnixNanos(absl::Now()));
    std::optional<MachineWatch> watch;
    if (!options_.device_ns) watch.emplace(NowNs(), "", options_.accelerators);
    int next_look = kFirstLook;
    for (int i = 0; i < options_.samples; ++i) {
      SLIPWAY_ASSIGN_OR_RETURN(const int64_t duration_ns, Sample());
      result.add_samples_ns(duration_ns);
      if (watch.has_value()) watch->Sampled(end_ns_);
      if (options_.precision_goal_ppm == 0 || i + 1 < std::min(next_look, options_.samples)) {
        continue;
      }
      next_look += next_look / 4;
      result.set_precision_ppm(PrecisionPpm(result.samples_ns()));
      if (result.precision_ppm() >= 0 && result.precision_ppm() <= options_.precision_goal_ppm) {
        break;
      }
    }
    if (watch.has_value()) watch->Finish(NowNs(), result);
    return absl::OkStatus();
  }

 private:
  absl::Status ChooseIterations() {
    while (true) {
      SLIPWAY_ASSIGN_OR_RETURN(int64_t next, IterationsAfterASample());
      // A call that the processor was taken from looks long enough: the next one seldom is, too.
      if (next <= iterations_) {
        SLIPWAY_ASSIGN_OR_RETURN(next, IterationsAfterASample());
      }
      if (next <= iterations_) return absl::OkStatus();
      iterations_ = next;
    }
  }
  absl::StatusOr<int64_t> IterationsAfterASample() {
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t duration_ns, Sample());
    return NextIterations(iterations_, duration_ns, options_.min_sample_ns);
  }

  absl::StatusOr<int64_t> Sample() {
    if (options_.cool_down_ns > 0) absl::SleepFor(absl::Nanoseconds(options_.cool_down_ns));
    if (flush_.has_value()) flush_->Run();
    const int64_t begin = ClockNs();
    for (int64_t i = 0; i < iterations_; ++i) SLIPWAY_RETURN_IF_ERROR(call_());
    end_ns_ = ClockNs();
    // A program that asks the device for nothing takes none of its time; a sample has some.
    return std::max<int64_t>(1, end_ns_ - begin);
  }
  int64_t ClockNs() const { return options_.device_ns ? options_.device_ns() : NowNs(); }

  const absl::FunctionRef<absl::Status()> call_;
  const SampleOptions options_;
  std::optional<CacheFlush> flush_;
  int64_t iterations_ = 1;
  int64_t end_ns_ = 0;  // Of the last sample.
};

v1::StepTime::Copied CopiedOf(const StepInfo& step) {
  switch (step.copied) {
    case StepInfo::Copied::kWithin:
      break;
    case StepInfo::Copied::kFromHost:
      return v1::StepTime::FROM_HOST;
    case StepInfo::Copied::kToHost:
      return v1::StepTime::TO_HOST;
  }
  return v1::StepTime::COPIED_UNSPECIFIED;
}

// Left unset where the sum is larger than any number.
void SetCost(const StepCost& cost, int64_t runs, v1::StepTime& time) {
  int64_t flops = 0;
  int64_t bytes = 0;
  int64_t constant_bytes = 0;
  if (__builtin_mul_overflow(cost.flops, runs, &flops) ||
      __builtin_mul_overflow(cost.bytes, runs, &bytes) ||
      __builtin_mul_overflow(cost.constant_bytes, runs, &constant_bytes)) {
    return;
  }
  time.set_flops(flops);
  time.set_bytes(bytes);
  time.set_constant_bytes(constant_bytes);
  time.set_product_type(cost.product_type);
  time.set_product_precision(cost.product_precision);
}

// Nothing where no loop was run by several.
void SetThreads(absl::Span<const ThreadTiming> threads, v1::StepTime& time) {
  if (absl::c_all_of(threads, [](const ThreadTiming& thread) { return thread.tasks == 0; })) return;
  for (const ThreadTiming& thread : threads.subspan(0, kMaxToldThreads)) {
    v1::ThreadWork& work = *time.add_threads();
    work.set_begin_ns(thread.begin_ns);
    work.set_end_ns(thread.end_ns);
    work.set_busy_ns(thread.busy_ns);
    work.set_tasks(thread.tasks);
  }
}

}  // namespace

int64_t NextIterations(int64_t calls, int64_t duration_ns, int64_t min_sample_ns) {
  if (duration_ns >= min_sample_ns || calls >= kMaxIterations) return calls;
  // A tenth more than needed, and at most ten times as many: a first guess is a bad one.
  const double needed = static_cast<double>(calls) * static_cast<double>(min_sample_ns) /
                            static_cast<double>(std::max<int64_t>(duration_ns, 1)) * 1.1 +
                        1;
  return std::clamp(static_cast<int64_t>(std::min(needed, 1e15)), calls + 1,
                    std::min(10 * calls, kMaxIterations));
}

absl::Status TakeSamples(absl::FunctionRef<absl::Status()> call, const SampleOptions& options,
                         v1::BenchmarkResult& result) {
  if (options.samples < 1 || options.warmup < 0 || options.precision_goal_ppm < 0) {
    return absl::InvalidArgumentError(
        "samples must be 1 or more, and warm-up and the goal for precision 0 or more");
  }
  return Sampler(call, options).Run(result);
}

std::vector<v1::StepTime> StepTimes(const Program& program, absl::Span<const StepTiming> timings) {
  const std::vector<StepInfo>& steps = program.steps();
  std::vector<v1::StepTime> times(steps.size());
  for (size_t s = 0; s < steps.size(); ++s) {
    times[s].set_name(steps[s].name);
    for (const std::string& name : steps[s].operators) times[s].add_operators(name);
    times[s].set_duration_ns(timings[s].duration_ns);
    times[s].set_device(static_cast<int32_t>(steps[s].device));
    times[s].set_copied(CopiedOf(steps[s]));
    if (steps[s].library.has_value() && steps[s].library->is_used) {
      times[s].set_library(steps[s].library->name);
    }
    if (steps[s].cost.has_value()) SetCost(*steps[s].cost, timings[s].runs, times[s]);
    SetThreads(timings[s].threads, times[s]);
  }
  return times;
}

absl::Status ProfileSteps(const Program& program, const ProgramContext& context,
                          absl::FunctionRef<absl::Status()> call, v1::BenchmarkResult& result) {
  SLIPWAY_RETURN_IF_ERROR(call());
  std::vector<StepTiming> smallest;
  const int64_t begin = NowNs();
  for (int i = 0; i < kProfiledCalls && (i == 0 || NowNs() - begin < kProfiledNs); ++i) {
    SLIPWAY_RETURN_IF_ERROR(call());
    const absl::Span<const StepTiming> timings = context.step_timings();
    if (smallest.empty()) smallest.assign(timings.begin(), timings.end());
    for (size_t s = 0; s < smallest.size(); ++s) {
      if (timings[s].duration_ns < smallest[s].duration_ns) smallest[s] = timings[s];
    }
  }
  for (v1::StepTime& time : StepTimes(program, smallest)) *result.add_steps() = std::move(time);
  return absl::OkStatus();
}

}  // namespace slipway
