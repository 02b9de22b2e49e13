#include "core/passes/pipeline.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/passes/bodies.h"
#include "core/passes/canonicalize_ops_pass.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/delay_dequantize_pass.h"
#include "core/passes/delay_resize_pass.h"
#include "core/passes/eliminate_common_subexpr_pass.h"
#include "core/passes/expand_gradients_pass.h"
#include "core/passes/fold_constant_pass.h"
#include "core/passes/fold_pad_pass.h"
#include "core/passes/fold_quantization_pass.h"
#include "core/passes/fold_scale_axis_pass.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/lower_strings_pass.h"
#include "core/passes/plan_memory_pass.h"
#include "core/passes/recognize_gelu_pass.h"
#include "core/passes/simplify_inference_pass.h"

namespace slipway {
namespace {

constexpr absl::string_view kPlanMemory = "PlanMemory";

std::vector<NamedPass> AllPasses(const BackendPipeline& backend) {
  std::vector<NamedPass> passes = PassesForEveryTarget();
  passes.insert(passes.end(), backend.passes.begin(), backend.passes.end());
  return passes;
}

absl::Status CheckPrintAfter(const std::string& name, const BackendPipeline& backend) {
  const std::vector<std::string> known = PassNames(backend);
  if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("there is no pass \"", name,
                                                 "\" for this target to print after; known are ",
                                                 absl::StrJoin(known, ", ")));
}

absl::Status CheckWithout(absl::Span<const std::string> without, const BackendPipeline& backend) {
  std::set<std::string> optional;
  for (const NamedPass& pass : AllPasses(backend)) {
    if (pass.is_optional) optional.insert(pass.name);
  }
  for (const std::string& name : without) {
    if (optional.count(name) > 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no pass \"", name, "\" for this target that may be left out; those are ",
        absl::StrJoin(optional, ", ")));
  }
  return absl::OkStatus();
}

std::string PrintForPeople(const Graph& graph, const PipelineOptions& options) {
  PrintOptions print_options;
  print_options.max_elements = options.print_max_elements;
  return Print(graph, print_options);
}

absl::StatusOr<Graph> Descend(const NamedPass& pass, Graph graph, const PassContext& context) {
  if (pass.descends) {
    const auto run = [&pass, &context](Graph body) {
      return Descend(pass, std::move(body), context);
    };
    SLIPWAY_RETURN_IF_ERROR(RewriteBodies(graph, context.registry, run));
  }
  return pass.pass(std::move(graph), context);
}

int64_t ConstantBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Value& value : graph.values) {
    if (value.constant.has_value()) bytes += value.constant->byte_size();
  }
  return bytes;
}

}  // namespace

std::vector<NamedPass> PassesForEveryTarget() {
  return {
      {"InferType", InferType, /*descends=*/false},
      {"ExpandGradients", ExpandGradients},
      {"LowerStrings", LowerStrings, /*descends=*/false},
      {"FoldConstant", FoldConstantButQuantized},
      {"DelayDequantize", DelayDequantize},
      {"FoldQuantization", FoldQuantization, /*descends=*/true, /*is_optional=*/true},
      {"FoldConstant", FoldConstant},  // So that CanonicalizeOps sees which weights are constant.
      {"FoldPad", FoldPad, /*descends=*/true, /*is_optional=*/true},
      {"RecognizeGelu", RecognizeGelu},
      {"CanonicalizeOps", CanonicalizeOps},
      {"SimplifyInference", SimplifyInference},
      {"FoldScaleAxis", FoldScaleAxis, /*descends=*/true, /*is_optional=*/true},
      {"DelayResize", DelayResize, /*descends=*/true, /*is_optional=*/true},
      {"FoldConstant", FoldConstant},  // What CanonicalizeOps wrote around constants.
      {"EliminateCommonSubexpr", EliminateCommonSubexpr, /*descends=*/true, /*is_optional=*/true},
      {"DeadCode", DeadCode},
  };
}

absl::StatusOr<Graph> RunPass(const NamedPass& pass, Graph graph, const PassContext& context,
                              const Clock& clock, std::vector<PassReport>& reports) {
  const absl::Duration start = clock.Monotonic();
  PassLedger ledger;
  const PassContext counted{context.registry, context.reference, &ledger};
  SLIPWAY_ASSIGN_OR_RETURN_WITH(graph, Descend(pass, std::move(graph), counted), pass.name);
  reports.push_back({pass.name, clock.Monotonic() - start, static_cast<int64_t>(graph.nodes.size()),
                     ConstantBytes(graph), std::move(ledger.notes)});
  const absl::Status verified = Verify(graph, context.registry, {.require_types = true});
  if (!verified.ok()) {
    return absl::InternalError(
        absl::StrCat("the graph is wrong after ", pass.name, ": ", verified.message()));
  }
  return graph;
}

std::vector<std::string> PassNames(const BackendPipeline& backend) {
  std::vector<std::string> names;
  for (NamedPass& pass : AllPasses(backend)) {
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) {
      names.push_back(std::move(pass.name));
    }
  }
  if (backend.plan_memory) names.emplace_back(kPlanMemory);
  return names;
}

absl::StatusOr<PipelineResult> RunPipeline(Graph graph, const BackendPipeline& backend,
                                           const PassContext& context,
                                           const PipelineOptions& options, const Clock& clock) {
  SLIPWAY_RETURN_IF_ERROR(CheckPrintAfter(options.print_after, backend));
  SLIPWAY_RETURN_IF_ERROR(CheckWithout(options.without, backend));
  SLIPWAY_RETURN_IF_ERROR(Verify(graph, context.registry));
  PipelineResult result;
  for (const NamedPass& pass : AllPasses(backend)) {
    if (absl::c_linear_search(options.without, pass.name)) continue;
    SLIPWAY_ASSIGN_OR_RETURN(graph, RunPass(pass, std::move(graph), context, clock, result.passes));
    if (options.print_after == pass.name) result.printed_graph = PrintForPeople(graph, options);
  }
  if (backend.plan_memory) {
    const absl::Duration start = clock.Monotonic();
    SLIPWAY_ASSIGN_OR_RETURN_WITH(result.memory, backend.plan_memory(graph, context), kPlanMemory);
    result.passes.push_back({std::string(kPlanMemory), clock.Monotonic() - start,
                             static_cast<int64_t>(graph.nodes.size()), ConstantBytes(graph)});
    if (options.print_after == kPlanMemory) {
      result.printed_graph =
          absl::StrCat(PrintForPeople(graph, options), DumpMemory(graph, result.memory));
    }
  }
  result.graph = std::move(graph);
  return result;
}

}  // namespace slipway
