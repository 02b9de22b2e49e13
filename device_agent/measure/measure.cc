#include "device_agent/measure/measure.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/runtime/load_program.h"
#include "device_agent/measure/machine_state.h"

namespace slipway {
namespace {

constexpr int64_t kMinSampleNs = 1'000'000;
constexpr int64_t kMaxIterations = 1 << 20;
// More foreign time than this makes a result disturbed; both, since a tick of the kernel's
// accounting is 10 ms and a short measurement would see it as a large share.
constexpr int64_t kDisturbedMillis = 50;
constexpr int64_t kDisturbedNs = 30'000'000;
// Profiled calls end after this many or this long.
constexpr int kProfiledCalls = 20;
constexpr int64_t kProfiledNs = 2'000'000'000;

int64_t NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

// A program and all a call needs.
struct Loaded {
  std::unique_ptr<Program> program;
  std::unique_ptr<ProgramContext> context;
  std::vector<Tensor> outputs;
};

absl::StatusOr<Loaded> LoadAll(const Artifact& artifact, const ProgramContextOptions& options) {
  Loaded loaded;
  SLIPWAY_ASSIGN_OR_RETURN(loaded.program, LoadProgram(artifact));
  SLIPWAY_ASSIGN_OR_RETURN(loaded.context, loaded.program->NewContext(options));
  loaded.outputs.resize(loaded.program->signature().outputs.size());
  return loaded;
}

// Asks the system to forget the artifact's pages; it keeps those that others use.
void DropFromPageCache(const Artifact& artifact) {
  for (const Digest& digest : artifact.manifest().blobs()) {
    const absl::string_view bytes = artifact.blob(digest).bytes();
    if (bytes.empty() || reinterpret_cast<uintptr_t>(bytes.data()) % 4096 != 0) continue;
    void* address = const_cast<char*>(bytes.data());
    // Takes them out of this process and, being clean pages of a file, out of memory.
    madvise(address, bytes.size(), MADV_PAGEOUT);
  }
}

class Measurement {
 public:
  Measurement(const Artifact& artifact, absl::Span<const Tensor> inputs,
              const MeasureOptions& options)
      : artifact_(artifact), inputs_(inputs), options_(options) {}

  absl::StatusOr<v1::BenchmarkResult> Run() {
    *result_.mutable_before() = ReadMachineState();
    SLIPWAY_RETURN_IF_ERROR(MeasureLoads());
    SLIPWAY_RETURN_IF_ERROR(ChooseIterations());
    for (int i = 0; i < options_.warmup; ++i) SLIPWAY_RETURN_IF_ERROR(Sample().status());
    SLIPWAY_RETURN_IF_ERROR(TakeSamples());
    *result_.mutable_after() = ReadMachineState();
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    result_.set_peak_memory_bytes(int64_t{usage.ru_maxrss} * 1024);
    result_.set_threads(options_.context.threads);
    if (options_.profile) SLIPWAY_RETURN_IF_ERROR(Profile());
    return std::move(result_);
  }

 private:
  absl::Status Call(const CallOptions& options = {}) {
    return loaded_.context->Run(inputs_, absl::MakeSpan(loaded_.outputs), options);
  }

  absl::Status MeasureLoads() {
    DropFromPageCache(artifact_);
    int64_t begin = NowNs();
    SLIPWAY_ASSIGN_OR_RETURN(loaded_, LoadAll(artifact_, options_.context));
    result_.set_load_cold_ns(NowNs() - begin);
    begin = NowNs();
    SLIPWAY_RETURN_IF_ERROR(Call());
    result_.set_first_run_ns(NowNs() - begin);
    begin = NowNs();
    SLIPWAY_RETURN_IF_ERROR(LoadAll(artifact_, options_.context).status());
    result_.set_load_warm_ns(NowNs() - begin);
    return absl::OkStatus();
  }

  absl::Status ChooseIterations() {
    while (true) {
      SLIPWAY_ASSIGN_OR_RETURN(const int64_t duration_ns, Sample());
      const int64_t next = NextIterations(iterations_, duration_ns);
      if (next <= iterations_) break;
      iterations_ = next;
    }
    result_.set_iterations_per_sample(iterations_);
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> Sample() {
    const int64_t begin = NowNs();
    for (int64_t i = 0; i < iterations_; ++i) SLIPWAY_RETURN_IF_ERROR(Call());
    return NowNs() - begin;
  }

  absl::Status TakeSamples() {
    result_.mutable_samples_ns()->Reserve(options_.samples);
    result_.set_start_time_ns(absl::ToUnixNanos(absl::Now()));
    const std::optional<CpuTimes> before = ReadCpuTimes();
    const int64_t begin = NowNs();
    for (int i = 0; i < options_.samples; ++i) {
      SLIPWAY_ASSIGN_OR_RETURN(const int64_t duration_ns, Sample());
      result_.add_samples_ns(duration_ns);
    }
    const int64_t wall_ns = NowNs() - begin;
    const std::optional<CpuTimes> after = ReadCpuTimes();
    if (before.has_value() && after.has_value()) {
      const int64_t share = ForeignShareMillis(*before, *after, wall_ns);
      result_.set_disturbed_millis(share);
      result_.set_disturbed(share > kDisturbedMillis &&
                            share * wall_ns / 1000 * after->processors > kDisturbedNs);
    }
    return absl::OkStatus();
  }

  absl::Status Profile() {
    SLIPWAY_RETURN_IF_ERROR(Call({.profile = true}));
    const std::vector<StepInfo>& steps = loaded_.program->steps();
    std::vector<int64_t> smallest(steps.size(), INT64_MAX);
    const int64_t begin = NowNs();
    for (int i = 0; i < kProfiledCalls && (i == 0 || NowNs() - begin < kProfiledNs); ++i) {
      SLIPWAY_RETURN_IF_ERROR(Call({.profile = true}));
      const absl::Span<const int64_t> durations = loaded_.context->step_durations_ns();
      for (size_t s = 0; s < steps.size(); ++s) smallest[s] = std::min(smallest[s], durations[s]);
    }
    for (size_t s = 0; s < steps.size(); ++s) {
      v1::StepTime& time = *result_.add_steps();
      time.set_name(steps[s].name);
      for (const std::string& name : steps[s].operators) time.add_operators(name);
      time.set_duration_ns(smallest[s]);
    }
    return absl::OkStatus();
  }

  const Artifact& artifact_;
  const absl::Span<const Tensor> inputs_;
  const MeasureOptions& options_;
  Loaded loaded_;
  int64_t iterations_ = 1;
  v1::BenchmarkResult result_;
};

}  // namespace

int64_t NextIterations(int64_t calls, int64_t duration_ns) {
  if (duration_ns >= kMinSampleNs || calls >= kMaxIterations) return calls;
  // A tenth more than needed, and at most ten times as many: a first guess is a bad one.
  const int64_t needed = calls * kMinSampleNs / std::max<int64_t>(duration_ns, 1) * 11 / 10 + 1;
  return std::clamp(needed, calls + 1, std::min(10 * calls, kMaxIterations));
}

absl::StatusOr<v1::BenchmarkResult> MeasureProgram(const Artifact& artifact,
                                                   absl::Span<const Tensor> inputs,
                                                   const MeasureOptions& options) {
  if (options.samples < 1 || options.warmup < 0) {
    return absl::InvalidArgumentError("samples must be 1 or more, and warm-up 0 or more");
  }
  return Measurement(artifact, inputs, options).Run();
}

}  // namespace slipway
