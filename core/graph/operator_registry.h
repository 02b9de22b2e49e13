// OperatorRegistry: what is known of every operator, and NodeView, a node seen through its schema.
//
// The registry is filled by explicit calls (core/operators/register_all.h and users' own) and
// read-only afterwards; reading is thread-safe. Other layers keep what they know of an operator in
// an OperatorColumn of their own.
#ifndef SLIPWAY_CORE_GRAPH_OPERATOR_REGISTRY_H_
#define SLIPWAY_CORE_GRAPH_OPERATOR_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/graph/operator_column.h"
#include "core/graph/operator_traits.h"

namespace slipway {

class NodeView;

// From attributes, input types and those input values that are constant to the types of all
// outputs the operator can have with these inputs (at least as many as the node lists). Extents that
// are not known give such again, and contradict nothing; what must hold between others for the types to be right is said by
// NodeView::Differ and the like. Fails with an error that names node and
// operator (NodeView::Error).
using TypeRule = std::function<absl::StatusOr<std::vector<ValueType>>(const NodeView&)>;

// From the node to the types of the inputs of its body `attribute`, in their order. Where what the body makes is what it is
// given next, and has types already, they include these. Fails as a type rule.
using BodyRule = std::function<absl::StatusOr<std::vector<ValueType>>(const NodeView&,
                                                                      absl::string_view attribute)>;

// What is known of the elements of output 0, an integer tensor of rank 0 or 1, one entry an element: numbers, expressions over
// symbols, or nothing. Shapes are computed by such tensors. Asked only where the type of output 0 is static.
using ContentsRule = std::function<Dimensions(const NodeView&)>;

struct AttributeSchema {
  std::string name;
  AttributeKind kind = AttributeKind::kInt;
  bool required = false;
  std::optional<Attribute> default_value = std::nullopt;
};

// How many of a node's last inputs are captured: each of its ordinary bodies has as many last inputs, and takes them
// unchanged. An attribute of every operator with such bodies; 0 where it is not set.
inline constexpr char kCapturesAttribute[] = "captures";

inline constexpr int kVariadic = std::numeric_limits<int>::max();

struct OperatorSchema {
  std::string name;
  int min_inputs = 1;  // The first min_inputs may not be omitted; the others may.
  int max_inputs = 1;  // kVariadic: any number, none omitted.
  int min_outputs = 1;
  int max_outputs = 1;
  std::vector<AttributeSchema> attributes;
  TypeRule type_rule;
  // Set where the node's bodies are ordinary subgraphs, into which passes descend. Such bodies are closed:
  // what they read from around them comes in through their inputs. The type rule is asked when their types
  // are inferred, and says FAILED_PRECONDITION where they are not. Null where bodies have a meaning of
  // their own (slipway.Fused), and where there are none.
  BodyRule body_rule;

  // Null where nothing is known of elements before they are computed.
  ContentsRule contents_rule = nullptr;

  // Traits (operator_traits.h).
  Pattern pattern = Pattern::kOpaque;
  Movement movement = Movement::kOther;
  LayoutTrait layout = {};
  // Makes other values each time: never evaluated ahead, two of them are never one. Ask IsRandom.
  bool random = false;
  // Makes values of its inputs' types alone: known as soon as these are.
  bool reads_types_only = false;
  // What it makes are elements of its inputs, or zeros, wherever these come to lie: so it takes strings too.
  bool moves_elements = false;
  // Output 0 along its first dimension is made of input 0 along its, one by one, and of all of the other inputs: images and rows.
  bool keeps_images = false;
};

class OperatorRegistry {
 public:
  // ALREADY_EXISTS; INVALID_ARGUMENT for a schema without name or type rule.
  absl::Status Add(OperatorSchema schema);
  // Null when unknown. Valid as long as the registry.
  const OperatorSchema* Find(absl::string_view op) const { return schemas_.Find(op); }
  // UNIMPLEMENTED naming the operator.
  absl::StatusOr<const OperatorSchema*> Get(absl::string_view op) const;
  // The trait of the schema; kOther when unknown.
  Movement MovementOf(absl::string_view op) const;
  std::vector<std::string> Names() const { return schemas_.Names(); }  // Sorted.

 private:
  OperatorColumn<OperatorSchema> schemas_;
};

// A node whose arity and attributes fit its schema, with defaults filled in and what is known of
// its inputs. Refers to graph and registry and must not outlive them.
class NodeView {
 public:
  // Checks arity, required attributes, unknown attributes and kinds, and that every input present
  // has a type. Errors are INVALID_ARGUMENT (UNIMPLEMENTED for an unknown operator) and name node
  // and operator.
  static absl::StatusOr<NodeView> Create(const Graph& graph, const Node& node,
                                         const OperatorRegistry& registry);
  // The same with inputs' types and values given (null where omitted, resp. unknown), one a node
  // input.
  static absl::StatusOr<NodeView> Create(const Node& node, const OperatorRegistry& registry,
                                         std::string display_name,
                                         std::vector<const ValueType*> types,
                                         std::vector<const Tensor*> constants);
  // What is known of inputs' elements besides (ContentsRule): an entry an input, null where nothing is. They outlive the view.
  void set_contents(std::vector<const Dimensions*> contents) { contents_ = std::move(contents); }

  // Where what the node needs to hold between symbols is put; null, as it is at first: nowhere. It outlives the view.
  void set_constraints(std::vector<Constraint>* constraints) { constraints_ = constraints; }

  // For type rules. Whether two extents, or shapes, that the operator needs to be the same differ, whatever the symbols are.
  // Where they do so for some of these only, that they are the same becomes a constraint.
  bool Differ(const Dimension& a, const Dimension& b) const;
  bool Differ(absl::Span<const Dimension> a, absl::Span<const Dimension> b) const;
  // The same of an extent and all of those that it may be.
  bool DiffersFromAll(const Dimension& a, absl::Span<const Dimension> allowed) const;
  // The same of an extent that may not be more than another one.
  bool Exceeds(const Dimension& a, const Dimension& limit) const;
  // At least one of the equalities is a constraint.
  void Require(std::vector<Equality> any_of) const;

  const Node& node() const { return *node_; }
  const std::string& op() const { return node_->op; }
  const OperatorSchema& schema() const { return *schema_; }
  const std::string& display_name() const { return display_name_; }

  int num_inputs() const { return static_cast<int>(types_.size()); }
  int num_outputs() const { return static_cast<int>(node_->outputs.size()); }
  bool has_input(int i) const { return i < num_inputs() && types_[i] != nullptr; }
  // Whether output i is listed and not omitted.
  bool has_output(int i) const { return i < num_outputs() && node_->outputs[i] != kNoValue; }
  // REQUIRES: has_input(i).
  const ValueType& input_type(int i) const { return *types_[i]; }
  // REQUIRES: has_input(i), and its type is static (see RequireStatic).
  const Shape& input_shape(int i) const { return types_[i]->shape(); }
  // For what works on numbers alone: UNIMPLEMENTED names an input with extents that are not known.
  absl::Status RequireStatic() const;
  // Null when input i is omitted or not a constant.
  const Tensor* constant(int i) const { return i < num_inputs() ? constants_[i] : nullptr; }
  // What is known of the elements of input i, of rank 0 or 1: those of a constant where they are whole numbers, what
  // set_contents gave, or as many that are not known. Null where not even their number is known.
  std::optional<Dimensions> contents(int i) const;
  // The same for a type rule that cannot do without: FAILED_PRECONDITION when it is not a constant.
  absl::StatusOr<const Tensor*> RequireConstant(int i, absl::string_view what) const;
  // Whether it is 0 or more, whatever the graph's symbols are within their bounds. False where that is not seen.
  bool IsNeverNegative(const Dimension& dimension) const;

  // Whether the attribute is set, or has a default.
  bool has(absl::string_view attribute) const { return Find(attribute) != nullptr; }
  // REQUIRES: has(attribute), and the schema says that kind.
  int64_t Int(absl::string_view attribute) const;
  float Float(absl::string_view attribute) const;
  const std::string& String(absl::string_view attribute) const;
  const std::vector<int64_t>& Ints(absl::string_view attribute) const;
  const std::vector<float>& Floats(absl::string_view attribute) const;
  const std::vector<std::string>& Strings(absl::string_view attribute) const;
  const Tensor& TensorValue(absl::string_view attribute) const;
  const Graph& Body(absl::string_view attribute) const;

  // Errors about this node: `node "conv1" (Conv): message`.
  absl::Status Error(absl::string_view message) const;  // INVALID_ARGUMENT
  absl::Status Unimplemented(absl::string_view message) const;
  absl::Status Annotated(const absl::Status& status) const;

 private:
  NodeView() = default;
  const Attribute* Find(absl::string_view attribute) const;
  template <typename T>
  const T& As(absl::string_view attribute) const;

  const Node* node_ = nullptr;
  const OperatorSchema* schema_ = nullptr;
  const std::vector<Symbol>* symbols_ = nullptr;  // The graph's, where there is one.
  std::string display_name_;
  std::vector<const ValueType*> types_;
  std::vector<const Tensor*> constants_;
  std::vector<const Dimensions*> contents_;  // Empty, or one an input.
  std::vector<Constraint>* constraints_ = nullptr;
};

// Arity and attributes of a node against its schema, the part of NodeView::Create that needs no
// types.
absl::Status CheckNode(const Node& node, const OperatorSchema& schema,
                       absl::string_view display_name);

// Whether the operator is random, or a node in one of the node's bodies.
bool IsRandom(const Node& node, const OperatorRegistry& registry);

// Errors unless the inputs of each ordinary body of the node have, as far as they state any, the types
// that the body rule gives; INVALID_ARGUMENT names node, body and input.
absl::Status CheckBodyInputs(const NodeView& view);

// One type an output the node lists (entries of omitted outputs are there too), by the operator's
// type rule; every type passed CheckType and is without quantization. Reads only the types and constants of the node's inputs.
// FAILED_PRECONDITION (and nothing else is) when a type hangs on the value of an input that is not
// constant: the caller may evaluate such inputs first (Shape hangs on its input's type alone).
absl::StatusOr<std::vector<ValueType>> InferNodeTypes(const NodeView& view);
absl::StatusOr<std::vector<ValueType>> InferNodeTypes(const Graph& graph, const Node& node,
                                                      const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_OPERATOR_REGISTRY_H_
