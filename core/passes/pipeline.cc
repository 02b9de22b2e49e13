#include "core/passes/pipeline.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/passes/alter_layout_pass.h"
#include "core/passes/canonicalize_ops_pass.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/eliminate_common_subexpr_pass.h"
#include "core/passes/fold_constant_pass.h"
#include "core/passes/fold_scale_axis_pass.h"
#include "core/passes/fuse_ops_pass.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/pack_gemm_pass.h"
#include "core/passes/plan_memory_pass.h"
#include "core/passes/simplify_inference_pass.h"

namespace slipway {
namespace {

struct NamedPass {
  absl::string_view name;
  Pass pass;
};

constexpr NamedPass kPasses[] = {
    {"InferType", InferType},
    {"FoldConstant", FoldConstant},  // So that CanonicalizeOps sees which weights are constant.
    {"CanonicalizeOps", CanonicalizeOps},
    {"SimplifyInference", SimplifyInference},
    {"FoldScaleAxis", FoldScaleAxis},
    {"FoldConstant", FoldConstant},  // What CanonicalizeOps wrote around constants.
    {"EliminateCommonSubexpr", EliminateCommonSubexpr},
    {"DeadCode", DeadCode},
    {"AlterLayout", AlterLayout},
    {"PackGemm", PackGemm},
    {"FuseOps", FuseOps},
};
constexpr absl::string_view kPlanMemory = "PlanMemory";

absl::Status CheckPrintAfter(const std::string& name) {
  const std::vector<std::string> known = PassNames();
  if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no pass \"", name, "\" to print after; known are ", absl::StrJoin(known, ", ")));
}

std::string PrintForPeople(const Graph& graph, const PipelineOptions& options) {
  PrintOptions print_options;
  print_options.max_elements = options.print_max_elements;
  return Print(graph, print_options);
}

}  // namespace

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const NamedPass& pass : kPasses) {
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) {
      names.emplace_back(pass.name);
    }
  }
  names.emplace_back(kPlanMemory);
  return names;
}

absl::StatusOr<PipelineResult> RunPipeline(Graph graph, const PassContext& context,
                                           const PipelineOptions& options, const Clock& clock) {
  SLIPWAY_RETURN_IF_ERROR(CheckPrintAfter(options.print_after));
  SLIPWAY_RETURN_IF_ERROR(Verify(graph, context.registry));
  PipelineResult result;
  for (const NamedPass& pass : kPasses) {
    const absl::Duration start = clock.Monotonic();
    SLIPWAY_ASSIGN_OR_RETURN_WITH(graph, pass.pass(std::move(graph), context), pass.name);
    result.passes.push_back({std::string(pass.name), clock.Monotonic() - start,
                             static_cast<int64_t>(graph.nodes.size())});
    const absl::Status verified = Verify(graph, context.registry, {.require_types = true});
    if (!verified.ok()) {
      return absl::InternalError(
          absl::StrCat("the graph is wrong after ", pass.name, ": ", verified.message()));
    }
    if (options.print_after == pass.name) result.printed_graph = PrintForPeople(graph, options);
  }
  const absl::Duration start = clock.Monotonic();
  SLIPWAY_ASSIGN_OR_RETURN_WITH(result.memory, PlanMemory(graph), kPlanMemory);
  result.passes.push_back({std::string(kPlanMemory), clock.Monotonic() - start,
                           static_cast<int64_t>(graph.nodes.size())});
  if (options.print_after == kPlanMemory) {
    result.printed_graph =
        absl::StrCat(PrintForPeople(graph, options), DumpMemory(graph, result.memory));
  }
  result.graph = std::move(graph);
  return result;
}

}  // namespace slipway
