// Compiles a model and runs it here, on one thread, without server or agent: how fast its kernels are, as
// shares of the multiply-add peak measured in the same run, interleaved with the samples.
//
//   bazel run //tests/bench:model_bench -- MODEL.onnx [--target T] [--samples N] [--steps N]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/backends/cpu/cpu_pipeline.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/flags.h"
#include "core/base/status_macros.h"
#include "core/codegen/kernel_cache.h"
#include "core/compiler/compiler.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/operators/register_all.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/node_cost.h"
#include "core/passes/pipeline.h"
#include "core/runtime/load_program.h"
#include "core/target/arithmetic_peaks.h"
#include "core/target/target.h"
#include "core/tensor/random.h"
#include "tests/common/seeded_weights.h"

namespace slipway::bench {
namespace {

constexpr int64_t kMaxModelBytes = int64_t{1} << 31;

struct BenchOptions {
  std::string target;
  std::string cache;
  int64_t samples = 20;
  int64_t steps = 15;
  bool light = false;
};

struct StepRow {
  std::string name;
  int64_t operations = 0;
  int64_t best_ns = std::numeric_limits<int64_t>::max();
};

absl::Status RunBench(const std::string& path, const BenchOptions& options) {
  const SystemClock clock;
  const OperatorRegistry registry = StandardOperators();
  const Reference reference(registry);
  Target target = HostTarget();
  if (!options.target.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(target, ParseTarget(options.target));
  }
  const PassContext context{registry, reference};

  SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxModelBytes));
  SLIPWAY_ASSIGN_OR_RETURN(Graph graph, ImportOnnx({Blob::Own(bytes), {}}, registry));
  if (options.light) {
    SLIPWAY_ASSIGN_OR_RETURN(graph, InferType(std::move(graph), context));
    graph = testing::WithSeededWeights(std::move(graph), 1);
  }
  SLIPWAY_ASSIGN_OR_RETURN(const PipelineResult optimized,
                           RunPipeline(graph, CpuPipeline(target.host()), context, {}, clock));
  std::vector<int64_t> operations;  // Of the kernels, which are the program's first steps.
  for (const Node& node : optimized.graph.nodes) {
    if (registry.Find(node.op)->pattern != Pattern::kKernel) continue;
    SLIPWAY_ASSIGN_OR_RETURN(operations.emplace_back(),
                             ProductFlops(optimized.graph, node, registry));
  }

  CompileEnvironment environment;
  environment.clock = &clock;
  std::unique_ptr<KernelCache> cache;
  if (!options.cache.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(cache, FileKernelCache::Create({.folder = options.cache}));
    environment.kernel_cache = cache.get();
  }
  const absl::Duration start = clock.Monotonic();
  SLIPWAY_ASSIGN_OR_RETURN(const CompiledModel model,
                           CompileGraph(std::move(graph), target, {}, environment));
  std::printf(
      "compiled for %s in %.2f s: %ld kernels (%ld from the cache), %.1f MiB of constants\n",
      target.ToString().c_str(), absl::ToDoubleSeconds(clock.Monotonic() - start),
      static_cast<long>(model.report.kernels()), static_cast<long>(model.report.kernels_cached()),
      static_cast<double>(model.report.constant_bytes()) / (1 << 20));

  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, LoadProgram(model.artifact));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramContext> run, program->NewContext({}));
  std::vector<Tensor> inputs;
  for (const auto& input : program->signature().inputs) {
    SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, RandomTensor(input.type.Smallest(), 1, input.name));
    inputs.push_back(std::move(tensor));
  }
  std::vector<Tensor> outputs(program->signature().outputs.size());

  std::vector<StepRow> steps;
  for (const StepInfo& step : program->steps()) {
    steps.push_back({step.name + " (" + absl::StrJoin(step.operators, "+") + ")"});
  }
  for (size_t i = 0; i < operations.size() && i < steps.size(); ++i) {
    steps[i].operations = operations[i];
  }
  int64_t best_ns = std::numeric_limits<int64_t>::max();
  double peak = 0;
  for (int64_t sample = -2; sample < options.samples; ++sample) {
    peak = std::max(peak, MeasureArithmetic("f32", 1, clock, absl::Milliseconds(5)));
    const absl::Duration begin = clock.Monotonic();
    SLIPWAY_RETURN_IF_ERROR(run->Run(inputs, absl::MakeSpan(outputs), {.profile = true}));
    const int64_t ns = absl::ToInt64Nanoseconds(clock.Monotonic() - begin);
    if (sample < 0) continue;
    best_ns = std::min(best_ns, ns);
    const absl::Span<const StepTiming> profile = run->step_timings();
    for (size_t i = 0; i < steps.size(); ++i) {
      steps[i].best_ns = std::min(steps[i].best_ns, profile[i].duration_ns);
    }
  }

  std::sort(steps.begin(), steps.end(),
            [](const StepRow& a, const StepRow& b) { return a.best_ns > b.best_ns; });
  std::printf("%10s %10s %7s  step\n", "us", "GFLOP/s", "% peak");
  for (size_t i = 0; i < steps.size() && static_cast<int64_t>(i) < options.steps; ++i) {
    const double rate = static_cast<double>(steps[i].operations) / steps[i].best_ns;
    std::printf("%10.1f %10.1f %7.1f  %s\n", steps[i].best_ns / 1e3, rate, rate * 1e11 / peak,
                steps[i].name.c_str());
  }
  const double total = std::accumulate(operations.begin(), operations.end(), 0.0);
  std::printf(
      "%zu steps, %.2f GFLOP in %.2f ms (best of %ld): %.1f GFLOP/s, %.1f %% of the peak of %.1f\n",
      steps.size(), total / 1e9, best_ns / 1e6, static_cast<long>(options.samples), total / best_ns,
      total / best_ns * 1e11 / peak, peak / 1e9);
  return absl::OkStatus();
}

absl::Status Main(int argc, char** argv) {
  BenchOptions options;
  FlagSet flags("model_bench MODEL.onnx [flags]", "Compiles a model and times its steps here.");
  flags.Add("target", &options.target, "TARGET", "What to compile for; this machine without it.");
  flags.Add("kernel-cache", &options.cache, "FOLDER", "Keeps compiled kernels.");
  flags.Add("samples", &options.samples, 1, 1'000'000, "N", "Runs measured.");
  flags.Add("steps", &options.steps, 0, 1'000'000, "N", "Slowest steps shown.");
  flags.Add("seeded-weights", &options.light, "Replace the model's weights by random ones.");
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> arguments, flags.Parse(argc, argv));
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    std::fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  if (arguments.size() != 1) return absl::InvalidArgumentError("give one model; see --help");
  return RunBench(arguments[0], options);
}

}  // namespace
}  // namespace slipway::bench

int main(int argc, char** argv) {
  const absl::Status status = slipway::bench::Main(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "model_bench: %s\n", status.ToString().c_str());
  return 1;
}
