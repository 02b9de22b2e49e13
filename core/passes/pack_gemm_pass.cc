#include "core/passes/pack_gemm_pass.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/small_numbers.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/pack_constants.h"

namespace slipway {
namespace {

bool CanPack(const Node& node, const GraphRewriter& rewriter) {
  const bool is_integer = node.op == "slipway.IntegerGemm";
  if ((node.op != "Gemm" && !is_integer) || !node.attributes.empty()) return false;
  const Tensor* weights = rewriter.constant(node.inputs[1]);
  if (weights == nullptr || weights->num_elements() == 0) return false;
  if (is_integer) return weights->shape()[0] % kShorts.terms == 0;
  if (weights->dtype() != DataType::kFloat32) return false;
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return true;
  return SameExtents(rewriter.type(node.inputs[2]).dimensions(), {{weights->shape()[1]}});
}

}  // namespace

absl::StatusOr<Graph> PackGemm(Graph graph, const PassContext& context, int64_t panel_columns) {
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    if (!CanPack(node, rewriter)) {
      rewriter.Keep(std::move(node));
      continue;
    }
    const Tensor weights = *rewriter.constant(node.inputs[1]);
    const std::string name = rewriter.graph().values[node.inputs[1]].name;
    std::vector<ValueId> inputs = node.inputs;
    inputs[1] =
        rewriter.Constant(absl::StrCat(name, "_packed"), PackMatrix(weights, panel_columns));
    while (inputs.back() == kNoValue) inputs.pop_back();
    SLIPWAY_ASSIGN_OR_RETURN(
        const ValueId product,
        rewriter.Add("slipway.GemmPacked", std::move(inputs), {{"columns", weights.shape()[1]}},
                     DisplayName(rewriter.graph(), node)));
    rewriter.Replace(node, product);
  }
  return std::move(rewriter).Finish();
}

}  // namespace slipway
