#include "device_agent/measure/measure.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/runtime/load_program.h"
#include "device_agent/measure/machine_state.h"
#include "device_agent/measure/samples.h"

namespace slipway {
namespace {

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
    const SampleOptions samples = {.warmup = options_.warmup,
                                   .samples = options_.samples,
                                   .precision_goal_ppm = options_.precision_goal_ppm};
    SLIPWAY_RETURN_IF_ERROR(TakeSamples([this] { return Call(); }, samples, result_));
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

  absl::Status Profile() {
    return ProfileSteps(
        *loaded_.program, *loaded_.context, [this] { return Call({.profile = true}); }, result_);
  }

  const Artifact& artifact_;
  const absl::Span<const Tensor> inputs_;
  const MeasureOptions& options_;
  Loaded loaded_;
  v1::BenchmarkResult result_;
};

}  // namespace

absl::StatusOr<v1::BenchmarkResult> MeasureProgram(const Artifact& artifact,
                                                   absl::Span<const Tensor> inputs,
                                                   const MeasureOptions& options) {
  if (options.samples < 1 || options.warmup < 0) {
    return absl::InvalidArgumentError("samples must be 1 or more, and warm-up 0 or more");
  }
  return Measurement(artifact, inputs, options).Run();
}

}  // namespace slipway
