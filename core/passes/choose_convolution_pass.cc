#include "core/passes/choose_convolution_pass.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/pack_constants.h"

namespace slipway {
namespace {

bool AreAll(const std::vector<int64_t>& numbers, int64_t wanted) {
  return absl::c_all_of(numbers, [&](int64_t number) { return number == wanted; });
}

// Whether there are tiles for it at all.
bool HasTiles(const ConvView& conv) {
  const Window& window = conv.window;
  return conv.group == 1 && conv.in_block > 1 && conv.batch != kOpenExtent &&
         AreAll(window.kernel, 3) && AreAll(window.strides, 1) && AreAll(window.dilations, 1) &&
         !absl::c_linear_search(window.output, kOpenExtent);
}

// The convolution that a node computes, where there are tiles for it.
absl::StatusOr<std::optional<ConvView>> TiledConvolution(const Node& node,
                                                         const GraphRewriter& rewriter,
                                                         const OperatorRegistry& registry) {
  if (node.op != "slipway.ConvNCHWc") return std::nullopt;
  const Tensor* const weights = rewriter.constant(node.inputs[1]);
  if (weights == nullptr || weights->dtype() != DataType::kFloat32) return std::nullopt;
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(rewriter.graph(), node, registry));
  SLIPWAY_ASSIGN_OR_RETURN(ConvView conv, DecodeConv(view));
  if (!HasTiles(conv)) return std::nullopt;
  return conv;
}

}  // namespace

absl::StatusOr<Graph> ChooseConvolution(Graph graph, const PassContext& context,
                                        const ChooseTileOutputs& choose) {
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    SLIPWAY_ASSIGN_OR_RETURN(const std::optional<ConvView> conv,
                             TiledConvolution(node, rewriter, context.registry));
    const int64_t outputs = conv.has_value() ? choose(*conv) : 0;
    if (outputs == 0) {
      rewriter.Keep(std::move(node));
      continue;
    }
    std::vector<ValueId> inputs = node.inputs;
    inputs[1] = rewriter.Constant(absl::StrCat(rewriter.graph().values[inputs[1]].name, "_tiles"),
                                  WinogradWeights(*rewriter.constant(inputs[1]), outputs));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId y,
                             rewriter.Add("slipway.WinogradConvNCHWc", std::move(inputs),
                                          {{"pads", Ints(PadsAttribute(conv->window))}},
                                          DisplayName(rewriter.graph(), node)));
    rewriter.Replace(node, y);
  }
  return std::move(rewriter).Finish();
}

}  // namespace slipway
