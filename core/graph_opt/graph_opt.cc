// graph_opt: reads a graph, runs passes by name, prints it.
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/backends/all_backends.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/flags.h"
#include "core/base/status_macros.h"
#include "core/graph/memory_plan.h"
#include "core/graph_opt/read_graph.h"
#include "core/graph_opt/write_graph.h"
#include "core/operators/register_all.h"
#include "core/passes/gradient_pass.h"
#include "core/passes/gradients/register_all.h"
#include "core/passes/pipeline.h"
#include "core/passes/recompute_pass.h"
#include "core/reference/reference.h"
#include "core/target/target.h"

namespace slipway {
namespace {

struct Options {
  ReadGraphOptions read;
  WriteGraphOptions write;
  int64_t opset = kOpset;
  std::string passes;
  std::string target;
  std::string output;
  bool table = true;
};

// What is run by name alone, with the options that it has by itself.
std::map<std::string, NamedPass> KnownPasses() {
  std::map<std::string, NamedPass> known;
  for (const NamedPass& pass : PassesForEveryTarget()) known.emplace(pass.name, pass);
  const auto gradient = [](Graph graph, const PassContext& context) {
    return Gradient(std::move(graph), {}, StandardGradients(), context);
  };
  const auto recompute = [](Graph graph, const PassContext& context) {
    return Recompute(std::move(graph), {}, context);
  };
  known.emplace("Gradient", NamedPass{"Gradient", gradient, /*descends=*/false});
  known.emplace("Recompute", NamedPass{"Recompute", recompute, /*descends=*/false});
  return known;
}

// The passes that the names stand for, InferType first.
absl::StatusOr<std::vector<NamedPass>> FindPasses(const std::string& names) {
  const std::vector<NamedPass> every = PassesForEveryTarget();
  const std::map<std::string, NamedPass> known = KnownPasses();
  std::vector<NamedPass> wanted = {every.front()};
  for (const absl::string_view name : absl::StrSplit(names, ',', absl::SkipEmpty())) {
    if (name == "all") {
      wanted.insert(wanted.end(), every.begin() + (wanted.size() == 1), every.end());
      continue;
    }
    const auto found = known.find(std::string(name));
    if (found == known.end()) {
      std::vector<std::string> all;
      for (const auto& [known_name, pass] : known) all.push_back(known_name);
      return absl::InvalidArgumentError(
          absl::StrCat("there is no pass \"", name, "\"; known are all and ",
                       absl::StrJoin(all, ", "), ", those of backends by --target"));
    }
    if (found->first != wanted.back().name) wanted.push_back(found->second);
  }
  return wanted;
}

// What a graph has become, and how.
struct Optimized {
  Graph graph;
  std::vector<PassReport> passes;
  std::optional<MemoryPlan> memory;  // Of a backend's pipeline.
};

std::string Table(const Optimized& optimized) {
  std::string table =
      absl::StrFormat("%-24s %12s %10s %16s\n", "pass", "ms", "nodes", "constant bytes");
  absl::Duration total;
  for (const PassReport& report : optimized.passes) {
    absl::StrAppendFormat(&table, "%-24s %12.3f %10d %16d\n", report.name,
                          absl::ToDoubleMilliseconds(report.duration), report.nodes_after,
                          report.constant_bytes_after);
    total += report.duration;
  }
  absl::StrAppendFormat(&table, "%-24s %12.3f\n", "total", absl::ToDoubleMilliseconds(total));
  if (optimized.memory.has_value()) {
    absl::StrAppendFormat(&table, "arena %d bytes, lower bound %d\n", optimized.memory->arena_bytes,
                          optimized.memory->arena_lower_bound_bytes);
  }
  return table;
}

absl::StatusOr<Optimized> RunPasses(Graph graph, const Options& options,
                                    const PassContext& context) {
  const SystemClock clock;
  if (!options.target.empty()) {
    if (!options.passes.empty()) {
      return absl::InvalidArgumentError("--passes and --target exclude each other");
    }
    SLIPWAY_ASSIGN_OR_RETURN(const Target target, options.target == "host"
                                                      ? absl::StatusOr<Target>(HostTarget())
                                                      : ParseTarget(options.target));
    BackendEnvironment environment;
    environment.registry = &context.registry;
    environment.clock = &clock;
    SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<TargetBackend> backend,
                             BackendFor(target, environment));
    SLIPWAY_ASSIGN_OR_RETURN(
        PipelineResult result,
        RunPipeline(std::move(graph), backend->PipelineFor(target), context, {}, clock));
    return Optimized{std::move(result.graph), std::move(result.passes), std::move(result.memory)};
  }
  Optimized optimized{std::move(graph), {}, std::nullopt};
  if (options.passes.empty()) return optimized;
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<NamedPass> passes, FindPasses(options.passes));
  for (const NamedPass& pass : passes) {
    SLIPWAY_ASSIGN_OR_RETURN(optimized.graph, RunPass(pass, std::move(optimized.graph), context,
                                                      clock, optimized.passes));
  }
  return optimized;
}

absl::Status Run(const std::string& path, const Options& options) {
  const OperatorRegistry registry = StandardOperators();
  const Reference reference(registry);
  const PassContext context{registry, reference};
  const SystemClock clock;
  const absl::Duration start = clock.Monotonic();
  SLIPWAY_ASSIGN_OR_RETURN(Graph graph, ReadGraph(path, options.read, registry));
  const absl::Duration reading = clock.Monotonic() - start;
  SLIPWAY_ASSIGN_OR_RETURN(const Optimized optimized,
                           RunPasses(std::move(graph), options, context));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string text,
                           WriteGraph(optimized.graph, registry, options.write));
  if (options.table) {
    std::fprintf(stderr, "%s read in %.3f ms\n%s", path.c_str(),
                 absl::ToDoubleMilliseconds(reading), Table(optimized).c_str());
  }
  if (!options.output.empty()) return WriteFileAtomically(options.output, text, false);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();
}

absl::Status Main(int argc, const char* const* argv) {
  Options options;
  FlagSet flags(
      "graph_opt [flags] FILE",
      "Reads a graph (ONNX, .graph, .graphpb, NNVM's -symbol.json), runs passes, prints it.");
  flags.Add("passes", &options.passes, "NAME,...",
            "Passes to run in this order; all: those for every target.");
  flags.Add("target", &options.target, "TARGET",
            "Run the whole pipeline of this target's backend.");
  flags.Add("to", &options.write.to, "FORM", "text, json, dot, onnx or proto.");
  flags.Add("output", &options.output, "FILE", "Where to write it; standard output otherwise.");
  flags.Add("max-elements", &options.write.max_elements, 0, INT64_MAX, "N",
            "text: constants with more elements are written as digests.");
  flags.Add("opset", &options.opset, 1, kOpset, "N", "onnx: the opset to write.");
  flags.Add("dimension", &options.read.dimensions, "NAME=EXTENT",
            "Extent of a symbolic dimension.");
  flags.Add("external", &options.read.external, "NAME",
            "A file of external data beside the model.");
  flags.Add("parameters", &options.read.parameters, "FILE", "NNVM: the file of parameters.");
  flags.Add("table", &options.table, "Whether to say on standard error what each pass took.");
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> files, flags.Parse(argc, argv));
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    std::fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  if (files.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("one file is wanted, not ", files.size(), "; --help says more"));
  }
  options.write.opset = static_cast<int>(options.opset);
  return Run(files[0], options);
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  const absl::Status status = slipway::Main(argc, argv);
  if (!status.ok()) std::fprintf(stderr, "graph_opt: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
