#include "core/passes/round_in_groups_pass.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/operators/fused.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/quantized_values.h"

namespace slipway {
namespace {

// What makes the codes that a DequantizeLinear of the body reads, if it is a QuantizeLinear there; else null.
const Node* QuantizeBefore(const Graph& body, const std::vector<NodeId>& producers,
                           const Node& node) {
  const std::optional<LinearCode> read = CodeOf(body, node);
  if (node.op != "DequantizeLinear" || !read.has_value()) return nullptr;
  const NodeId maker = producers[node.inputs[0]];
  if (maker == kNoNode || body.nodes[maker].op != "QuantizeLinear") return nullptr;
  const std::optional<LinearCode> made = CodeOf(body, body.nodes[maker]);
  return made.has_value() && made->zero == read->zero ? &body.nodes[maker] : nullptr;
}

class Rounding {
 public:
  // `producers` are those of the body.
  Rounding(const Graph& body, std::vector<NodeId> producers, const PassContext& context)
      : old_(body), producers_(std::move(producers)), rewriter_(body, context.registry) {}

  absl::StatusOr<Graph> Run() && {
    std::vector<Node> nodes = rewriter_.TakeNodes();
    for (size_t n = 0; n < nodes.size(); ++n) {
      rewriter_.Resolve(nodes[n]);
      const Node* const quantize = QuantizeBefore(old_, producers_, old_.nodes[n]);
      if (quantize == nullptr) {
        rewriter_.Keep(std::move(nodes[n]));
        continue;
      }
      SLIPWAY_ASSIGN_OR_RETURN(const ValueId y, Rounded(*quantize, nodes[n]));
      rewriter_.Replace(nodes[n], y);
    }
    return std::move(rewriter_).Finish();
  }

 private:
  absl::StatusOr<ValueId> Rounded(const Node& quantize, const Node& dequantize) {
    const std::string name = DisplayName(rewriter_.graph(), dequantize);
    const LinearCode code = *CodeOf(old_, quantize);
    ValueId x = rewriter_.Resolve(quantize.inputs[0]);
    if (code.scale != 1) {
      SLIPWAY_ASSIGN_OR_RETURN(x, rewriter_.Add("Div", {x, rewriter_.Resolve(quantize.inputs[1])},
                                                {}, absl::StrCat(name, "_quotient")));
    }
    SLIPWAY_ASSIGN_OR_RETURN(x, rewriter_.Add("Round", {x}, {}, absl::StrCat(name, "_rounded")));
    const ValueId least = rewriter_.Constant(absl::StrCat(name, "_least"),
                                             Tensor::Scalar(static_cast<float>(code.least())));
    const ValueId largest = rewriter_.Constant(absl::StrCat(name, "_largest"),
                                               Tensor::Scalar(static_cast<float>(code.largest())));
    SLIPWAY_ASSIGN_OR_RETURN(
        x, rewriter_.Add("Clip", {x, least, largest}, {}, absl::StrCat(name, "_code")));
    return rewriter_.Add("Mul", {x, dequantize.inputs[1]}, {}, name);
  }

  const Graph& old_;
  const std::vector<NodeId> producers_;
  GraphRewriter rewriter_;
};

}  // namespace

absl::StatusOr<Graph> RoundInGroups(Graph graph, const PassContext& context) {
  for (Node& node : graph.nodes) {
    if (node.op != kFusedOperator) continue;
    const auto* const body = node.attributes.FindAs<std::shared_ptr<const Graph>>(kFusedBody);
    if (body == nullptr) continue;
    std::vector<NodeId> producers = Producers(**body);
    const bool rounds = absl::c_any_of((*body)->nodes, [&](const Node& inside) {
      return QuantizeBefore(**body, producers, inside) != nullptr;
    });
    if (!rounds) continue;
    SLIPWAY_ASSIGN_OR_RETURN(Graph rounded, Rounding(**body, std::move(producers), context).Run());
    SLIPWAY_ASSIGN_OR_RETURN(rounded, DeadCode(std::move(rounded), context));
    node.attributes.Set(kFusedBody, std::make_shared<const Graph>(std::move(rounded)));
  }
  return graph;
}

}  // namespace slipway
