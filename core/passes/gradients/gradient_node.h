// GradientNode: a node on the way back, as its gradient rule sees it.
#ifndef SLIPWAY_CORE_PASSES_GRADIENTS_GRADIENT_NODE_H_
#define SLIPWAY_CORE_PASSES_GRADIENTS_GRADIENT_NODE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/edit.h"
#include "core/graph/graph.h"
#include "core/graph/operator_column.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// From a body of the node to one of the way back: behind the body's inputs it takes the gradients of those of its outputs that
// `flows` marks, and makes those of the inputs that `wanted` marks; zeros where nothing flows.
using BodyGradient = std::function<absl::StatusOr<Graph>(
    const Graph& body, const std::vector<bool>& flows, const std::vector<bool>& wanted)>;

// Appends nodes that compute gradients, their types inferred. The first error is kept and ends with the rule; what is
// added from then on is nothing. Not thread-safe.
class GradientNode {
 public:
  // `gradients` are those of the node's outputs, kNoValue where none flows; `wanted` says of which inputs one is
  // needed. All must outlive this.
  GradientNode(Graph& graph, UniqueNames& names, const OperatorRegistry& registry, NodeId node,
               const std::vector<ValueId>& gradients, const std::vector<bool>& wanted,
               const BodyGradient& of_body);

  const NodeView& view() const { return *view_; }
  ValueId x(int input) const { return node().inputs[input]; }
  // An output; added to the node where it leaves it out.
  ValueId y(int output = 0);
  // Whether a gradient of this output flows back.
  bool flows(int output) const {
    return output < static_cast<int>(gradients_.size()) && gradients_[output] != kNoValue;
  }
  // That gradient; zeros where none flows.
  ValueId dy(int output = 0);
  bool wants(int input) const { return view_->has_input(input) && wanted_[input]; }
  // [] for no value, as after an error.
  const Shape& shape(ValueId value) const {
    return value == kNoValue ? none_ : graph_.values[value].type->shape();
  }
  int rank(ValueId value) const { return static_cast<int>(shape(value).size()); }

  // A node with one output.
  ValueId Op(absl::string_view op, std::vector<ValueId> inputs, Attributes attributes = {});
  // A node with `count` outputs, which are all kNoValue after an error.
  std::vector<ValueId> OpWith(int count, absl::string_view op, std::vector<ValueId> inputs,
                              Attributes attributes);
  // See BodyGradient; an empty graph after an error.
  Graph Back(const Graph& body, const std::vector<bool>& flows, const std::vector<bool>& wanted);
  // Gives the node more outputs, which y() then finds.
  void ChangeAttributes(Attributes attributes) { node().attributes = std::move(attributes); }
  ValueId Ints(const std::vector<int64_t>& values);
  // A number of input 0's type.
  ValueId Number(double value);
  // A tensor of floating point, of input 0's element type where none is given, filled.
  ValueId Filled(DataType dtype, const Shape& shape, double value);
  ValueId Filled(const Shape& shape, double value) {
    return Filled(types_[0].dtype(), shape, value);
  }
  ValueId Mul(ValueId a, ValueId b) { return Op("Mul", {a, b}); }
  ValueId Div(ValueId a, ValueId b) { return Op("Div", {a, b}); }
  ValueId Plus(ValueId a, ValueId b) { return Op("Add", {a, b}); }
  ValueId Minus(ValueId a, ValueId b) { return Op("Sub", {a, b}); }
  ValueId Times(ValueId a, double factor) { return Mul(a, Number(factor)); }
  ValueId ReshapeTo(ValueId value, const Shape& to);
  ValueId ExpandTo(ValueId value, const Shape& to);
  ValueId TransposeBy(ValueId value, const std::vector<int64_t>& perm);
  ValueId Reduce(absl::string_view op, ValueId value, const std::vector<int64_t>& axes,
                 bool keep_dims = true);
  // 1 where the bool is true, else 0.
  ValueId Mask(ValueId truth);

  // Says the gradient of an input; summed over what was broadcast where its shape is larger.
  void Give(int input, ValueId gradient);
  // Keeps an error that names the node.
  void Lack(absl::string_view what);

  const absl::Status& status() const { return status_; }
  // UNIMPLEMENTED for an output whose gradient flows and was not asked for.
  absl::Status CheckAllAsked() const;
  // One an input; kNoValue where the rule gave none.
  const std::vector<ValueId>& given() const { return given_; }

 private:
  const Node& node() const { return graph_.nodes[node_]; }
  Node& node() { return graph_.nodes[node_]; }
  ValueId SumTo(ValueId value, const Shape& to);

  Graph& graph_;
  UniqueNames& names_;
  const OperatorRegistry& registry_;
  const NodeId node_;
  const std::vector<ValueId>& gradients_;
  const std::vector<bool>& wanted_;
  const BodyGradient& of_body_;
  // What the view looks at: the graph's own move while more are added.
  const Node copy_;
  std::vector<ValueType> types_;
  std::vector<Tensor> constants_;
  std::optional<NodeView> view_;
  std::vector<ValueId> given_;
  std::vector<bool> asked_;  // By output.
  const Shape none_;
  absl::Status status_;
};

// From a node and the gradients of its outputs to those of its inputs, in the graph's own operators. What a rule does
// not give is zero.
using GradientRule = void (*)(GradientNode&);
using GradientColumn = OperatorColumn<GradientRule>;

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_GRADIENTS_GRADIENT_NODE_H_
