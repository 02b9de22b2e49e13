#include "core/compiler/compiler.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/library_name.h"
#include "core/artifact/limits.h"
#include "core/backends/all_backends.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/compiler/evaluated_graph.h"
#include "core/compiler/kept_values.h"
#include "core/compiler/limits.h"
#include "core/compiler/own_operator.h"
#include "core/compiler/read_model.h"
#include "core/graph/edit.h"
#include "core/graph/verifier.h"
#include "core/operators/fused.h"
#include "core/operators/products.h"
#include "core/passes/fold_constant_pass.h"
#include "core/passes/fold_pad_pass.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/open_extents.h"
#include "core/passes/pipeline.h"
#include "core/passes/quantize_pass.h"
#include "core/reference/reference.h"
#include "core/schedules/kernel_schedule.h"
#include "core/wire/precision_proto.h"

namespace slipway {
namespace {

void AddStage(absl::string_view name, absl::Duration duration, int64_t nodes,
              google::protobuf::RepeatedPtrField<v1::StageTime>& stages) {
  v1::StageTime& stage = *stages.Add();
  stage.set_name(std::string(name));
  stage.set_duration_ns(absl::ToInt64Nanoseconds(duration));
  stage.set_nodes_after(nodes);
}

// The text is for people; what does not fit is said at its end.
std::string Bounded(std::string text) {
  if (static_cast<int64_t>(text.size()) <= kMaxPrintedGraphBytes) return text;
  const std::string note = absl::StrCat("\n# cut here: the text has ", text.size(), " bytes\n");
  text.resize(kMaxPrintedGraphBytes - note.size());
  return text + note;
}

// As many lines as can be read again; the last one says what is left out.
std::string Bounded(const std::vector<std::string>& lines) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string note =
        absl::StrCat("# cut here: there are ", lines.size() - i, " kernels more\n");
    if (text.size() + lines[i].size() + note.size() > kMaxSchedulesBytes) return text + note;
    text += lines[i];
  }
  return text;
}

// As many kernels as have room, in a report and in each of its texts.
void AddCandidates(const std::vector<KernelCandidates>& kernels, v1::CompileReport& report) {
  int64_t left = kMaxCandidatesBytes;
  for (const KernelCandidates& kernel : kernels) {
    v1::KernelCandidates added;
    added.set_kernel(kernel.kernel);
    added.set_schedule(kernel.schedule);
    if (kernel.schedule.size() > kMaxCandidateBytes) continue;
    for (const std::string& candidate : kernel.candidates) {
      if (candidate.size() <= kMaxCandidateBytes) added.add_candidates(candidate);
    }
    for (const std::string& step : kernel.steps) {
      added.add_steps(std::string(Utf8Prefix(step, kMaxStepNameBytes)));
    }
    left -= static_cast<int64_t>(added.ByteSizeLong());
    if (left < 0) return;
    *report.add_candidates() = std::move(added);
  }
}

absl::Status CheckName(const Graph& graph, ValueId id) {
  const std::string& name = graph.values[id].name;
  const int limit = ReaderLimits().binding_name_bytes;
  if (name.size() <= static_cast<size_t>(limit)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("the name of graph input or output \"",
                                                   Utf8Prefix(name, 64), "...\" has ", name.size(),
                                                   " bytes, more than the limit of ", limit));
}

// What is open must have a name, by which a program gets to know it.
void NameOpenInputs(Graph& graph) {
  for (const ValueId id : graph.inputs) {
    Value& value = graph.values[id];
    if (!value.type.has_value()) continue;
    RefineType(value, WithNamedExtents(value.name, *value.type, graph.symbols));
  }
}

// Callers of a program tell its inputs and outputs apart by their names.
absl::Status CheckNames(const Graph& graph) {
  for (const ValueId id : graph.inputs) SLIPWAY_RETURN_IF_ERROR(CheckName(graph, id));
  absl::flat_hash_set<ValueId> seen;
  for (const ValueId id : graph.outputs) {
    SLIPWAY_RETURN_IF_ERROR(CheckName(graph, id));
    if (seen.insert(id).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("graph output \"", graph.values[id].name, "\" is listed twice; list it once"));
  }
  return absl::OkStatus();
}

// Of a graph of kernels: what one multiplies in that is not f32, or f32.
Precision ProductsOf(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.op != kFusedOperator) continue;
    if (const Precision own = ProductsOfNode(node); own != Precision::kFloat32) return own;
    const auto& body = *node.attributes.FindAs<std::shared_ptr<const Graph>>(kFusedBody);
    for (const Node& inner : body->nodes) {
      if (MakesProducts(inner.op) &&
          body->value(inner.inputs[0]).type->dtype() == DataType::kBfloat16) {
        return Precision::kBfloat16;
      }
    }
  }
  return Precision::kFloat32;
}

// What no program may have is refused before kernels are made for it.
absl::Status CheckSizes(const Graph& graph, const MemoryPlan& memory) {
  const ReaderLimits limits;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    if (memory.values[id].buffer == kNoBuffer || !value.type->is_static() ||
        value.type->byte_size() <= limits.value_bytes) {
      continue;
    }
    return absl::ResourceExhaustedError(absl::StrCat(
        "value \"", value.name, "\" is ", ToString(*value.type), " and takes ",
        value.type->byte_size(), " bytes, more than the ", limits.value_bytes,
        " that kernels can index; split it, or give open dimensions less with --dimension"));
  }
  if (WholeArenaBytes(memory) <= limits.arena_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "what is alive at one time takes ", WholeArenaBytes(memory), " bytes, more than the ",
      limits.arena_bytes, " that programs may have; give dimensions less with --dimension"));
}

// One compilation, stage by stage.
class Compilation {
 public:
  Compilation(const Target& target, const CompilerOptions& options,
              const CompileEnvironment& environment, KnownOperators operators)
      : target_(options.library_name.empty() ? target : WithoutPermissions(target)),
        options_(options),
        environment_(environment),
        operators_(std::move(operators)),
        reference_(operators_.registry, operators_.kernels) {}

  absl::StatusOr<CompiledModel> Run(const ModelSource& model);
  absl::StatusOr<CompiledModel> Run(Graph graph);

 private:
  void Announce(absl::string_view stage) const {
    if (environment_.progress) environment_.progress(stage, 0, 0);
  }
  absl::StatusOr<PipelineResult> Optimize(Graph graph, const BackendPipeline& pipeline);
  absl::StatusOr<Graph> ApplyPrecision(Graph graph);
  void Report(const std::vector<LeftProduct>& products);
  void Report(const PipelineResult& optimized);
  void Report(const BackendResult& result);

  const Target target_;
  const CompilerOptions& options_;
  const CompileEnvironment& environment_;
  const KnownOperators operators_;
  const Reference reference_;
  v1::CompileReport report_;
};

absl::StatusOr<PipelineResult> Compilation::Optimize(Graph graph, const BackendPipeline& pipeline) {
  const PassContext context{operators_.registry, reference_};
  PipelineOptions options;
  options.print_after = options_.print_after;
  options.without = options_.without;
  return RunPipeline(std::move(graph), pipeline, context, options, *environment_.clock);
}

void Compilation::Report(const PipelineResult& optimized) {
  for (const PassReport& pass : optimized.passes) {
    AddStage(pass.name, pass.duration, pass.nodes_after, *report_.mutable_passes());
    v1::StageTime& stage = *report_.mutable_passes()->rbegin();
    for (const std::string& note : pass.notes) {
      if (stage.notes_size() == kMaxNotes) break;
      stage.add_notes(std::string(Utf8Prefix(note, kMaxNoteBytes)));
    }
  }
  report_.set_precision(ToProto(ProductsOf(optimized.graph)));
  report_.set_arena_bytes(optimized.memory.arena_bytes);
  report_.set_printed_graph(Bounded(optimized.printed_graph));
}

void Compilation::Report(const BackendResult& result) {
  for (const BackendStage& stage : result.stages) {
    AddStage(stage.name, stage.duration, 0, *report_.mutable_stages());
  }
  report_.set_kernels_compiled(result.kernels_compiled);
  report_.set_kernels_cached(result.kernels_cached);
  report_.set_kernels(result.kernels_compiled + result.kernels_cached);
  report_.set_code_bytes(result.code_bytes);
  report_.set_constant_bytes(result.constant_bytes);
  if (!options_.schedules.empty()) report_.set_kernels_recorded(result.kernels_recorded);
  if (options_.print_schedules) report_.set_printed_schedules(Bounded(result.schedules));
  if (options_.tell_candidates) AddCandidates(result.candidates, report_);
}

absl::StatusOr<CompiledModel> Compilation::Run(const ModelSource& model) {
  Announce("import");
  const absl::Duration start = environment_.clock->Monotonic();
  SLIPWAY_ASSIGN_OR_RETURN(Graph graph, ReadModel(model, options_, operators_.registry));
  AddStage("import", environment_.clock->Monotonic() - start,
           static_cast<int64_t>(graph.nodes.size()), *report_.mutable_stages());
  if (!options_.evaluate.has_value()) return Run(std::move(graph));
  Announce("evaluate");
  const absl::Duration evaluating = environment_.clock->Monotonic();
  SLIPWAY_RETURN_IF_ERROR(KeepValues(options_.keep, graph));
  SLIPWAY_ASSIGN_OR_RETURN(
      graph, EvaluatedGraph(graph, *options_.evaluate, operators_.registry, reference_));
  AddStage("evaluate", environment_.clock->Monotonic() - evaluating, 0, *report_.mutable_stages());
  CompilerOptions constants;
  constants.compile_key = options_.compile_key;
  SLIPWAY_ASSIGN_OR_RETURN(CompiledModel evaluated,
                           CompileGraph(std::move(graph), target_, constants, environment_));
  evaluated.report.mutable_stages()->MergeFrom(report_.stages());
  return evaluated;
}

// Whatever names are given or told of are those of the graph as it stands here, whose types are known.
absl::StatusOr<Graph> Compilation::ApplyPrecision(Graph graph) {
  if (!options_.observe && options_.ranges.empty()) return graph;
  if (options_.observe && !options_.ranges.empty()) {
    return absl::InvalidArgumentError(
        "what ranges are given for cannot be observed as well; leave one out");
  }
  const PassContext context{operators_.registry, reference_};
  SLIPWAY_RETURN_IF_ERROR(Verify(graph, context.registry));
  SLIPWAY_ASSIGN_OR_RETURN(graph, InferType(std::move(graph), context));
  SLIPWAY_ASSIGN_OR_RETURN(graph, FoldConstantButQuantized(std::move(graph), context));
  // Before anything stands between a Pad and the product that reads it.
  if (!absl::c_linear_search(options_.without, "FoldPad")) {
    SLIPWAY_ASSIGN_OR_RETURN(graph, FoldPad(std::move(graph), context));
  }
  if (options_.observe) {
    const QuantizationPlan plan = PlanQuantization(graph, context);
    Report(plan.left);
    SLIPWAY_RETURN_IF_ERROR(KeepValues(plan.Observed(), graph));
    return graph;
  }
  SLIPWAY_ASSIGN_OR_RETURN(QuantizedGraph quantized,
                           Quantize(std::move(graph), options_.ranges, context));
  report_.set_integer_products(quantized.integer_products);
  Report(quantized.left);
  return std::move(quantized.graph);
}

void Compilation::Report(const std::vector<LeftProduct>& products) {
  for (const LeftProduct& product : products) {
    if (report_.float_products_size() == kMaxFloatProducts) break;
    v1::FloatProduct& left = *report_.add_float_products();
    left.set_node(std::string(Utf8Prefix(product.node, kMaxFloatProductBytes)));
    left.set_reason(std::string(Utf8Prefix(product.reason, kMaxFloatProductBytes)));
  }
}

absl::StatusOr<CompiledModel> Compilation::Run(Graph graph) {
  SLIPWAY_ASSIGN_OR_RETURN(ScheduleRecords schedules, ParseScheduleRecords(options_.schedules));
  report_.set_records(static_cast<int64_t>(schedules.size()));
  if (!options_.library_name.empty()) {
    SLIPWAY_RETURN_IF_ERROR(CheckLibraryName(options_.library_name));
  }
  SLIPWAY_RETURN_IF_ERROR(KeepValues(options_.keep, graph));
  NameOpenInputs(graph);
  SLIPWAY_ASSIGN_OR_RETURN(graph, ApplyPrecision(std::move(graph)));
  SLIPWAY_RETURN_IF_ERROR(CheckNames(graph));
  BackendEnvironment backend_environment;
  backend_environment.registry = &operators_.registry;
  backend_environment.own_lowerings = &operators_.own_lowerings;
  backend_environment.clock = environment_.clock;
  backend_environment.kernel_cache = environment_.kernel_cache;
  backend_environment.max_processes = environment_.threads;
  backend_environment.kernel_deadline = environment_.kernel_deadline;
  backend_environment.kernel_memory_bytes = environment_.kernel_memory_bytes;
  backend_environment.keep_blob = environment_.keep_blob;
  if (environment_.progress) {
    backend_environment.kernel_progress = [this](int64_t done, int64_t total) {
      environment_.progress("kernels", done, total);
    };
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<TargetBackend> backend,
                           BackendFor(target_, backend_environment));

  Announce("passes");
  const absl::Duration start = environment_.clock->Monotonic();
  SLIPWAY_ASSIGN_OR_RETURN(
      const PipelineResult optimized,
      Optimize(std::move(graph), backend->PipelineFor(target_, options_.precision)));
  AddStage("passes", environment_.clock->Monotonic() - start,
           static_cast<int64_t>(optimized.graph.nodes.size()), *report_.mutable_stages());
  Report(optimized);
  SLIPWAY_RETURN_IF_ERROR(CheckSizes(optimized.graph, optimized.memory));

  Announce("kernels");
  SLIPWAY_ASSIGN_OR_RETURN(
      BackendResult result,
      backend->Compile({optimized.graph, optimized.memory, target_, options_.compile_key,
                        options_.library_name, std::move(schedules)}));
  Report(result);
  Announce("done");
  return CompiledModel{std::move(result.artifact), std::move(report_)};
}

}  // namespace

absl::StatusOr<CompiledModel> CompileModel(const ModelSource& model, const Target& target,
                                           const CompilerOptions& options,
                                           const CompileEnvironment& environment) {
  SLIPWAY_ASSIGN_OR_RETURN(KnownOperators operators, KnowOperators(environment.own_operators));
  return Compilation(target, options, environment, std::move(operators)).Run(model);
}

absl::StatusOr<CompiledModel> CompileGraph(Graph graph, const Target& target,
                                           const CompilerOptions& options,
                                           const CompileEnvironment& environment) {
  SLIPWAY_ASSIGN_OR_RETURN(KnownOperators operators, KnowOperators(environment.own_operators));
  return Compilation(target, options, environment, std::move(operators)).Run(std::move(graph));
}

}  // namespace slipway
