// Commands about programs.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/render.h"
#include "client/shell/commands.h"
#include "client/shell/render_shell.h"
#include "client/value_differences.h"
#include "core/artifact/program_steps.h"
#include "core/artifact/slip_file.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

// For a call of the user's, who can interrupt it.
constexpr absl::Duration kCallDeadline = absl::Hours(24);

std::string FunctionOf(const CommandLine& line) {
  const std::string* const name = line.Find("function");
  return name == nullptr ? "" : *name;
}

// A program, and the inputs of a call of it.
struct Prepared {
  NamedProgram* program = nullptr;
  std::vector<const RemoteTensor*> inputs;
};

absl::StatusOr<Prepared> Prepare(Shell& shell, const CommandLine& line) {
  Prepared prepared;
  SLIPWAY_ASSIGN_OR_RETURN(prepared.program, shell.FindProgram(line.words.front()));
  SLIPWAY_ASSIGN_OR_RETURN(prepared.inputs, shell.FindTensors(line.words, 1));
  return prepared;
}

absl::StatusOr<int> Count(const CommandLine& line, absl::string_view key, int otherwise, int min,
                          int max) {
  const absl::StatusOr<int64_t> value = line.Integer(key, otherwise, min, max);
  if (!value.ok()) return WrongCall(value.status().message());
  return static_cast<int>(*value);
}

// What a program gives, in the order in which it computes it.
absl::StatusOr<std::vector<NamedTensor>> ValuesOf(Shell& shell, const NamedProgram& named,
                                                  absl::Span<const RemoteTensor* const> inputs) {
  StartedCall call = named.program.CallAsync(inputs, {.deadline = kCallDeadline});
  SLIPWAY_RETURN_IF_ERROR(shell.Await(call.done).status());
  std::vector<NamedTensor> values;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const bool is_ordered = named.as_computed.size() == call.outputs.size();
    const RemoteTensor& output =
        call.outputs[is_ordered ? static_cast<size_t>(named.as_computed[i]) : i];
    Future<Tensor> future = output.GetAsync();
    SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, shell.Await(future));
    values.push_back({output.name(), std::move(tensor)});
  }
  return values;
}

absl::StatusOr<NamedTensor> ValueOf(Shell& shell, const std::string& name) {
  SLIPWAY_ASSIGN_OR_RETURN(const RemoteTensor* const remote, shell.FindTensor(name));
  Future<Tensor> future = remote->GetAsync();
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, shell.Await(future));
  return NamedTensor{name, std::move(tensor)};
}

// A wrong call when more or fewer names are given than the function has outputs.
absl::Status CheckResults(const RemoteProgram& program, const CommandLine& line) {
  if (line.results.empty()) return absl::OkStatus();
  for (const RemoteFunction& function : program.functions()) {
    if (const std::string name = FunctionOf(line); !name.empty() && name != function.name) continue;
    if (line.results.size() == function.outputs.size()) return absl::OkStatus();
    return WrongCall(absl::StrCat(line.results.size(), " names are given, but \"",
                                  line.words.front(), "\" has ", function.outputs.size(),
                                  " outputs"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Tolerance>> ToleranceOf(const CommandLine& line) {
  if (line.options.empty()) return std::nullopt;
  const absl::StatusOr<double> relative = line.Real("relative", 0);
  if (!relative.ok()) return WrongCall(relative.status().message());
  const absl::StatusOr<double> absolute = line.Real("absolute", 0);
  if (!absolute.ok()) return WrongCall(absolute.status().message());
  return Tolerance{.relative = *relative, .absolute = *absolute};
}

}  // namespace

absl::Status Load(Shell& shell, const CommandLine& line) {
  const std::string& path = line.words.front();
  const std::string& name = line.results.front();
  SLIPWAY_ASSIGN_OR_RETURN(const int threads, Count(line, "threads", 1, 1, 1024));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Artifact artifact, ReadSlip(path),
                                absl::StrCat("\"", path, "\""));
  StartedProgram started = shell.session().LoadAsync(artifact, {.name = name, .threads = threads});
  SLIPWAY_RETURN_IF_ERROR(shell.Await(started.done).status());
  const NamedFunctions loaded{name, started.program.functions()};
  const absl::Duration took = started.program.load_time();
  const CheckedManifest& manifest = artifact.manifest();
  shell.Keep(name,
             NamedProgram{.program = std::move(started.program),
                          .as_computed = OutputsAsComputed(manifest.proto(), manifest.entry())});
  shell.Show([&] { return RenderProgram(loaded, took); },
             [&] { return RenderProgramJson(loaded, took); });
  return absl::OkStatus();
}

absl::Status Call(Shell& shell, const CommandLine& line) {
  SLIPWAY_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(shell, line));
  SLIPWAY_RETURN_IF_ERROR(CheckResults(prepared.program->program, line));
  StartedCall call = prepared.program->program.CallAsync(
      prepared.inputs,
      {.function = FunctionOf(line), .deadline = kCallDeadline, .output_names = line.results});
  SLIPWAY_ASSIGN_OR_RETURN(const CallReport report, shell.Await(call.done));
  std::vector<NamedTensorType> made;
  for (RemoteTensor& output : call.outputs) {
    made.push_back({output.name(), output.type()});
    shell.Keep(made.back().name, std::move(output));
  }
  shell.Show([&] { return RenderTensors(made, report.duration); },
             [&] { return RenderTensorsJson(made, report.duration); });
  return absl::OkStatus();
}

absl::Status Time(Shell& shell, const CommandLine& line) {
  SLIPWAY_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(shell, line));
  TimingOptions options;
  options.call.function = FunctionOf(line);
  options.call.deadline = kCallDeadline;
  SLIPWAY_ASSIGN_OR_RETURN(options.samples, Count(line, "samples", 100, 1, 1'000'000));
  SLIPWAY_ASSIGN_OR_RETURN(options.warmup, Count(line, "warmup", 10, 0, 1'000'000));
  SLIPWAY_ASSIGN_OR_RETURN(const int pause_ms, Count(line, "pause", 0, 0, 60'000));
  options.cool_down = absl::Milliseconds(pause_ms);
  if (const std::string* const cache = line.Find("cache"); cache != nullptr) {
    if (*cache != "cold" && *cache != "warm") {
      return WrongCall(absl::StrCat("\"cache\" is \"", *cache, "\"; cold or warm wanted"));
    }
    options.flush_cache = *cache == "cold";
  }
  Future<BenchmarkResult> future = prepared.program->program.TimeAsync(prepared.inputs, options);
  SLIPWAY_ASSIGN_OR_RETURN(const BenchmarkResult result, shell.Await(future));
  shell.Show([&] { return RenderTimes(result); }, [&] { return RenderTimesJson(result); });
  return absl::OkStatus();
}

absl::Status Profile(Shell& shell, const CommandLine& line) {
  SLIPWAY_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(shell, line));
  StartedCall call = prepared.program->program.CallAsync(
      prepared.inputs, {.function = FunctionOf(line), .deadline = kCallDeadline, .profile = true});
  SLIPWAY_ASSIGN_OR_RETURN(const CallReport report, shell.Await(call.done));
  const StepProfile profile = {report.steps, report.peaks, report.threads,
                               report.accelerator_peaks};
  shell.Show([&] { return RenderProfile(profile); },
             [&] { return RenderProfileJson(report.duration, profile); });
  return absl::OkStatus();
}

absl::Status Diff(Shell& shell, const CommandLine& line) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::optional<Tolerance> tolerance, ToleranceOf(line));
  std::vector<NamedTensor> first;
  std::vector<NamedTensor> second;
  if (shell.FindProgram(line.words[0]).ok()) {
    SLIPWAY_ASSIGN_OR_RETURN(NamedProgram* const one, shell.FindProgram(line.words[0]));
    SLIPWAY_ASSIGN_OR_RETURN(NamedProgram* const other, shell.FindProgram(line.words[1]));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<const RemoteTensor*> inputs,
                             shell.FindTensors(line.words, 2));
    SLIPWAY_ASSIGN_OR_RETURN_WITH(first, ValuesOf(shell, *one, inputs), line.words[0]);
    SLIPWAY_ASSIGN_OR_RETURN_WITH(second, ValuesOf(shell, *other, inputs), line.words[1]);
  } else {
    if (line.words.size() > 2) return WrongCall("two tensors are compared, and no more");
    SLIPWAY_ASSIGN_OR_RETURN(first.emplace_back(), ValueOf(shell, line.words[0]));
    SLIPWAY_ASSIGN_OR_RETURN(second.emplace_back(), ValueOf(shell, line.words[1]));
    // They are compared whatever they are called.
    second.front().name = first.front().name;
  }
  const ValueDifferences differences = CompareValues(first, second, tolerance);
  shell.Show([&] { return RenderDifferences(differences); },
             [&] { return RenderDifferencesJson(differences); });
  return absl::OkStatus();
}

}  // namespace slipway::cli
