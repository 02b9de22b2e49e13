#include "core/passes/fold_pad_pass.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/base/status_macros.h"
#include "core/operators/movement.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {
namespace {

using IntList = std::vector<int64_t>;

// Minus zero as well: products with it change no sum but for the sign of a zero.
bool IsZero(const Tensor* constant) {
  return constant != nullptr && constant->dtype() == DataType::kFloat32 &&
         constant->num_elements() == 1 && constant->values<float>()[0] == 0;
}

// Zeros that a Pad puts around the spatial dimensions, in the order of the attribute "pads"; none where it does something else.
std::optional<IntList> SpatialZeros(const Node& node, const GraphRewriter& rewriter,
                                    const OperatorRegistry& registry) {
  if (node.op != "Pad") return std::nullopt;
  const absl::StatusOr<NodeView> view = NodeView::Create(rewriter.graph(), node, registry);
  if (!view.ok()) return std::nullopt;
  const absl::StatusOr<PadView> pad = DecodePad(*view);
  if (!pad.ok() || pad->mode != PadView::Mode::kConstant) return std::nullopt;
  if (view->has_input(2) && !IsZero(rewriter.constant(node.inputs[2]))) return std::nullopt;
  IntList pads;
  for (const IntList* side : {&pad->begins, &pad->ends}) {
    if (side->size() < 3 || (*side)[0] != 0 || (*side)[1] != 0) return std::nullopt;
    pads.insert(pads.end(), side->begin() + 2, side->end());
  }
  if (absl::c_any_of(pads, [](int64_t count) { return count < 0; })) return std::nullopt;
  return pads;
}

bool HasExplicitPads(const Node& conv) {
  const auto* const automatic = conv.attributes.FindAs<std::string>("auto_pad");
  return automatic == nullptr || *automatic == "NOTSET" || *automatic == "VALID";
}

}  // namespace

absl::StatusOr<Graph> FoldPad(Graph graph, const PassContext& context) {
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    const Node* const maker =
        node.op == "Conv" && HasExplicitPads(node) ? rewriter.Producer(node.inputs[0]) : nullptr;
    const std::optional<IntList> zeros =
        maker != nullptr ? SpatialZeros(*maker, rewriter, context.registry) : std::nullopt;
    if (zeros.has_value()) {
      IntList pads(zeros->size(), 0);
      if (const auto* const own = node.attributes.FindAs<IntList>("pads")) pads = *own;
      for (size_t i = 0; i < pads.size(); ++i) pads[i] += (*zeros)[i];
      node.attributes.Erase("auto_pad");
      node.attributes.Set("pads", pads);
      node.inputs[0] = maker->inputs[0];
    }
    rewriter.Keep(std::move(node));
  }
  return std::move(rewriter).Finish();
}

}  // namespace slipway
