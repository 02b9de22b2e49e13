// Samples: how long calls take, and how long each step of them.
//
// A sample is the execution of kernels with inputs resident, on the monotonic clock of the machine that does it. Calls that are too short for the
// clock are made several times for one sample.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_SAMPLES_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_SAMPLES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/runtime/program.h"
#include "core/runtime/step_timing.h"
#include "device_agent/measure/accelerator_watch.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

inline constexpr int64_t kMinSampleNs = 1'000'000;

struct SampleOptions {
  int warmup = 10;    // Dropped; 0 or more.
  int samples = 100;  // Kept; 1 or more.
  int64_t min_sample_ns = kMinSampleNs;
  // Data is driven out of the processor's caches before each sample, which is a single call then.
  bool flush_cache = false;
  // A sample is a single call, however short.
  bool single_calls = false;
  // The clock by which samples are, where it is another machine's (ProgramContext::worked_ns); of what this one did meanwhile nothing is told.
  std::function<int64_t()> device_ns = {};
  // Looked at between samples; null: there are none.
  AcceleratorWatch* accelerators = nullptr;
  // Pause before each sample.
  int64_t cool_down_ns = 0;
  // Over 0: sampling ends early when the median is known to so many millionths of it, 95 % confident, in spite of what
  // the samples depend on each other; the result says how exactly it is known. Looked at after 50 samples and from then on
  // whenever there are a quarter more (Y. S. Chow, H. Robbins, On the asymptotic theory of fixed-width sequential confidence
  // intervals for the mean, Annals of Mathematical Statistics 36 (1965), 457-462, is why one may look so often).
  int64_t precision_goal_ppm = 0;
};

// Sets samples, calls in each, when they began, and what the machine did meanwhile (stamps.h). Errors of
// `call`; INVALID_ARGUMENT for options out of range.
absl::Status TakeSamples(absl::FunctionRef<absl::Status()> call, const SampleOptions& options,
                         v1::BenchmarkResult& result);

// The steps of a program with the smallest time of each over several calls. `call` calls `context` with a profile.
absl::Status ProfileSteps(const Program& program, const ProgramContext& context,
                          absl::FunctionRef<absl::Status()> call, v1::BenchmarkResult& result);

// The threads of a step that are told: the first.
inline constexpr size_t kMaxToldThreads = 64;

// The steps of a program with what was measured of each, and what so many runs cost.
std::vector<v1::StepTime> StepTimes(const Program& program, absl::Span<const StepTiming> timings);

// Smallest number of calls that make a sample long enough, given that `calls` took `duration_ns`.
int64_t NextIterations(int64_t calls, int64_t duration_ns, int64_t min_sample_ns = kMinSampleNs);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_SAMPLES_H_
