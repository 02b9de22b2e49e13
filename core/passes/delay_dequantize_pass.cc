#include "core/passes/delay_dequantize_pass.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/quantized_values.h"

namespace slipway {
namespace {

// Beside views: of one input, whose other inputs say how, and of several alike.
constexpr absl::string_view kMoving[] = {"DepthToSpace", "Expand", "Gather", "Slice",
                                         "SpaceToDepth", "Split",  "Tile",   "Transpose"};

class Delay {
 public:
  Delay(Graph graph, const PassContext& context)
      : registry_(context.registry),
        comes_to_codes_(graph.nodes.size(), false),
        old_(graph),
        rewriter_(std::move(graph), context.registry) {}

  absl::StatusOr<Graph> Run() {
    FindMoving();
    std::vector<Node> nodes = rewriter_.TakeNodes();
    for (size_t n = 0; n < nodes.size(); ++n) {
      rewriter_.Resolve(nodes[n]);
      bool is_replaced = false;
      if (comes_to_codes_[n]) {
        SLIPWAY_ASSIGN_OR_RETURN(is_replaced, Move(nodes[n]));
      } else if (nodes[n].op == "QuantizeLinear") {
        is_replaced = IsUndone(nodes[n]);
      }
      if (!is_replaced) rewriter_.Keep(std::move(nodes[n]));
    }
    return std::move(rewriter_).Finish();
  }

 private:
  bool Moves(const Node& node) const {
    return node.op == "Concat" || absl::c_linear_search(kMoving, node.op) ||
           registry_.MovementOf(node.op) == Movement::kView;
  }
  void FindMoving() {
    const std::vector<std::vector<NodeId>> users = Users(old_);
    const std::vector<bool> is_output = OutputFlags(old_);
    for (size_t n = old_.nodes.size(); n-- > 0;) {
      const Node& node = old_.nodes[n];
      comes_to_codes_[n] =
          Moves(node) && absl::c_all_of(node.outputs, [&](ValueId id) {
            return id != kNoValue && !is_output[id] && !users[id].empty() &&
                   absl::c_all_of(users[id], [&](NodeId user) {
                     const Node& reader = old_.nodes[user];
                     return comes_to_codes_[user] ||
                            (reader.op == "QuantizeLinear" && CodeOf(old_, reader).has_value());
                   });
          });
    }
  }

  // The DequantizeLinear of a code for all that makes a value; null where something else does.
  const Node* DequantizeBefore(ValueId id) {
    const Node* const maker = id == kNoValue ? nullptr : rewriter_.Producer(id);
    const bool has_code = maker != nullptr && maker->op == "DequantizeLinear" &&
                          CodeOf(rewriter_.graph(), *maker).has_value();
    return has_code ? maker : nullptr;
  }

  absl::StatusOr<bool> Move(const Node& node) {
    const Node* const first = DequantizeBefore(node.inputs[0]);
    if (first == nullptr) return false;
    const Node dequantize = *first;
    std::vector<ValueId> inputs = node.inputs;
    const size_t moved = node.op == "Concat" ? inputs.size() : 1;
    for (size_t i = 0; i < moved; ++i) {
      const Node* const other = DequantizeBefore(inputs[i]);
      if (other == nullptr ||
          CodeOf(rewriter_.graph(), *other) != CodeOf(rewriter_.graph(), dequantize)) {
        return false;
      }
      inputs[i] = other->inputs[0];
    }
    const std::string name = DisplayName(rewriter_.graph(), node);
    const DataType dtype = rewriter_.type(inputs[0]).dtype();
    Node moving = node;
    for (ValueId& output : moving.outputs) {
      output = rewriter_.AddValue(absl::StrCat(name, "_codes"),
                                  ValueType(dtype, rewriter_.type(output).dimensions()));
    }
    const std::vector<ValueId> codes = moving.outputs;
    rewriter_.Keep(std::move(moving), std::move(inputs));
    for (size_t i = 0; i < codes.size(); ++i) {
      std::vector<ValueId> parameters = dequantize.inputs;
      parameters[0] = codes[i];
      SLIPWAY_ASSIGN_OR_RETURN(
          const ValueId real,
          rewriter_.Add("DequantizeLinear", std::move(parameters), dequantize.attributes, name));
      rewriter_.ReplaceOutput(node.outputs[i], real);
    }
    return true;
  }

  bool IsUndone(const Node& quantize) {
    const std::optional<LinearCode> code = CodeOf(rewriter_.graph(), quantize);
    const Node* const dequantize = DequantizeBefore(quantize.inputs[0]);
    if (!code.has_value() || dequantize == nullptr ||
        CodeOf(rewriter_.graph(), *dequantize) != code) {
      return false;
    }
    rewriter_.Replace(quantize, dequantize->inputs[0]);
    return true;
  }

  const OperatorRegistry& registry_;
  std::vector<bool> comes_to_codes_;  // By node: one that moves elements, to no other readers.
  const Graph old_;
  GraphRewriter rewriter_;
};

}  // namespace

absl::StatusOr<Graph> DelayDequantize(Graph graph, const PassContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(Graph delayed, Delay(std::move(graph), context).Run());
  return DeadCode(std::move(delayed), context);
}

}  // namespace slipway
