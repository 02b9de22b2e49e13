#include "core/passes/round_in_groups_pass.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/operators/fused.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/quantized_values.h"

namespace slipway {
namespace {

class Rounding {
 public:
  Rounding(const Graph& body, const PassContext& context)
      : old_(body), producers_(Producers(body)), rewriter_(body, context.registry) {}

  bool IsWorthIt() const {
    for (const Node& node : old_.nodes) {
      if (QuantizeBefore(node) != nullptr) return true;
    }
    return false;
  }

  absl::StatusOr<Graph> Run() && {
    std::vector<Node> nodes = rewriter_.TakeNodes();
    for (size_t n = 0; n < nodes.size(); ++n) {
      rewriter_.Resolve(nodes[n]);
      const Node* const quantize = QuantizeBefore(old_.nodes[n]);
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
  // What makes the codes that a DequantizeLinear reads, if it is a QuantizeLinear of the body; else null.
  const Node* QuantizeBefore(const Node& node) const {
    const std::optional<LinearCode> read = CodeOf(old_, node);
    if (node.op != "DequantizeLinear" || !read.has_value()) return nullptr;
    const NodeId maker = producers_[node.inputs[0]];
    if (maker == kNoNode || old_.nodes[maker].op != "QuantizeLinear") return nullptr;
    const std::optional<LinearCode> made = CodeOf(old_, old_.nodes[maker]);
    return made.has_value() && made->zero == read->zero ? &old_.nodes[maker] : nullptr;
  }

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
    Rounding rounding(**body, context);
    if (!rounding.IsWorthIt()) continue;
    SLIPWAY_ASSIGN_OR_RETURN(Graph rounded, std::move(rounding).Run());
    SLIPWAY_ASSIGN_OR_RETURN(rounded, DeadCode(std::move(rounded), context));
    node.attributes.Set(kFusedBody, std::make_shared<const Graph>(std::move(rounded)));
  }
  return graph;
}

}  // namespace slipway
