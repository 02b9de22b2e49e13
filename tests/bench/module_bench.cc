// Compiles a model for WebAssembly and for this machine's x86-64-v2, and runs both on one thread in turns: the one in Node, and if wanted in a page
// of Debian's Chromium, the other in this process. How long the compilations took, and the minima of the runs. With threads the module runs on one and on so
// many of them, in turns.
//
//   bazel run //tests/bench:module_bench -- MODEL.onnx [--browser] [--threads N] [--rounds N] [--steps N]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/library/library_files.h"
#include "client/library/library_plan.h"
#include "client/library/module_files.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/flags.h"
#include "core/base/status_macros.h"
#include "core/compiler/compiler.h"
#include "core/runtime/load_program.h"
#include "core/target/target.h"
#include "core/tensor/random.h"
#include "tests/common/command.h"

namespace slipway::bench {
namespace {

constexpr int64_t kMaxModelBytes = int64_t{1} << 31;

struct BenchOptions {
  std::string target = "wasm-32-wasi-simd128";
  int64_t threads = 1;
  int64_t rounds = 5;
  int64_t samples = 20;
  int64_t steps = 10;
  bool browser = false;
};

// Runs the module in a process of its own: the least milliseconds of a run, which it prints.
absl::StatusOr<double> TimeElsewhere(std::vector<std::string> argv) {
  const testing::CommandResult ran = testing::RunCommand({.argv = std::move(argv)});
  if (!ran.status.ok()) return absl::InternalError(ran.ToString());
  std::fputs(ran.err.c_str(), stdout);
  double ms = 0;
  if (!absl::SimpleAtod(absl::StripAsciiWhitespace(ran.out), &ms)) {
    return absl::InternalError(absl::StrCat("it says: ", ran.out));
  }
  return ms;
}

absl::StatusOr<CompiledModel> Compile(const std::string& path, const std::string& target_name) {
  const SystemClock clock;
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(target_name));
  ModelSource source;
  SLIPWAY_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, kMaxModelBytes));
  source.files = {{"model.onnx", Blob::Own(std::move(bytes))}};
  CompileEnvironment environment;
  environment.clock = &clock;
  const absl::Duration begin = clock.Monotonic();
  SLIPWAY_ASSIGN_OR_RETURN(CompiledModel compiled, CompileModel(source, target, {}, environment));
  std::printf("compiled for %s in %.2f s: %ld kernels\n", target_name.c_str(),
              absl::ToDoubleSeconds(clock.Monotonic() - begin),
              static_cast<long>(compiled.report.kernels()));
  return compiled;
}

// An engine on so many threads, and the least it took.
struct Way {
  std::string name;
  std::vector<std::string> argv;
  double least_ms = std::numeric_limits<double>::infinity();
};

std::vector<Way> WaysOf(const BenchOptions& options, const std::string& module_folder) {
  std::vector<Way> ways;
  const std::string samples = absl::StrCat(options.samples);
  std::vector<int64_t> numbers = {1};
  if (options.threads > 1) numbers.push_back(options.threads);
  for (const int64_t threads : numbers) {
    const std::string name = absl::StrCat(" on ", threads, threads == 1 ? " thread" : " threads");
    ways.push_back({"Node" + name,
                    {"/usr/bin/node", testing::RunfilePath("tests/bench/module_bench.mjs"),
                     module_folder, samples, absl::StrCat(threads)}});
    if (!options.browser) continue;
    ways.push_back({"Chromium" + name,
                    {"/usr/bin/python3", testing::RunfilePath("tests/bench/module_in_browser.py"),
                     module_folder, samples, absl::StrCat(threads)}});
  }
  return ways;
}

absl::Status RunBench(const std::string& path, BenchOptions options) {
  if (options.threads > 1) options.target += "-threads";
  SLIPWAY_ASSIGN_OR_RETURN(const CompiledModel module, Compile(path, options.target));
  SLIPWAY_ASSIGN_OR_RETURN(const CompiledModel native, Compile(path, "x86-64-v2-linux"));
  LibraryOptions library;
  library.name = "model";
  SLIPWAY_ASSIGN_OR_RETURN(const LibraryPlan plan, PlanLibrary(module.artifact));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<LibraryFile> files, RenderModule(plan, library));
  SLIPWAY_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("module-bench"));
  const std::string module_folder = JoinPath(folder.path(), "module");
  SLIPWAY_RETURN_IF_ERROR(WriteLibrary(files, module_folder));
  std::printf("module of %ld bytes\n", static_cast<long>(plan.object.size_bytes()));

  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, LoadProgram(native.artifact));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramContext> run, program->NewContext({}));
  std::vector<Tensor> inputs;
  for (const auto& input : program->signature().inputs) {
    SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, RandomTensor(input.type.Smallest(), 1, input.name));
    inputs.push_back(std::move(tensor));
  }
  std::vector<Tensor> outputs(program->signature().outputs.size());

  const SystemClock clock;
  double least_native = std::numeric_limits<double>::infinity();
  std::vector<Way> ways = WaysOf(options, module_folder);
  for (int64_t round = 0; round < options.rounds; ++round) {
    for (int64_t sample = -2; sample < options.samples; ++sample) {
      const absl::Duration begin = clock.Monotonic();
      SLIPWAY_RETURN_IF_ERROR(run->Run(inputs, absl::MakeSpan(outputs)));
      const double ms = absl::ToDoubleMilliseconds(clock.Monotonic() - begin);
      if (sample >= 0) least_native = std::min(least_native, ms);
    }
    for (Way& way : ways) {
      std::vector<std::string> argv = way.argv;
      if (&way == &ways.front() && round + 1 == options.rounds) {
        argv.push_back(absl::StrCat(options.steps));
      }
      SLIPWAY_ASSIGN_OR_RETURN_WITH(const double ms, TimeElsewhere(std::move(argv)), way.name);
      way.least_ms = std::min(way.least_ms, ms);
    }
  }
  for (const Way& way : ways) {
    std::printf("x86-64-v2 on 1 thread %.2f ms, %s in %s %.2f ms: %.1f %% of the speed\n",
                least_native, options.target.c_str(), way.name.c_str(), way.least_ms,
                100 * least_native / way.least_ms);
  }
  return absl::OkStatus();
}

absl::Status Main(int argc, char** argv) {
  BenchOptions options;
  FlagSet flags(
      "module_bench MODEL.onnx [flags]",
      "Times a model as WebAssembly in Node, and in Chromium, beside the same for x86-64-v2.");
  flags.Add("target", &options.target, "TARGET", "Of the module.");
  flags.Add("threads", &options.threads, 1, 64, "N",
            "Runs the module on one thread and on so many, for \"TARGET-threads\".");
  flags.Add("rounds", &options.rounds, 1, 1'000, "N", "Turns, each a new engine.");
  flags.Add("samples", &options.samples, 1, 1'000'000, "N", "Runs measured in a turn.");
  flags.Add("steps", &options.steps, 0, 1'000'000, "N", "Slowest steps shown.");
  flags.Add("browser", &options.browser, "Runs it in headless Chromium, too.");
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
  std::fprintf(stderr, "module_bench: %s\n", status.ToString().c_str());
  return 1;
}
