#include "core/graph/operator_registry.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

std::string Context(absl::string_view name, absl::string_view op) {
  return absl::StrCat("node \"", name, "\" (", op, ")");
}

std::string Bounds(int min, int max) {
  if (max == kVariadic) return absl::StrCat("at least ", min);
  if (min == max) return absl::StrCat(min);
  return absl::StrCat(min, " to ", max);
}

absl::Status CheckArity(int count, int min, int max, absl::string_view what) {
  if (count >= min && count <= max && count <= kMaxNodeArity) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("has ", count, " ", what, " where ", Bounds(min, max), " are allowed"));
}

absl::Status CheckPresent(const std::vector<ValueId>& ids, int count, absl::string_view what) {
  for (int i = 0; i < count; ++i) {
    if (ids[i] != kNoValue) continue;
    return absl::InvalidArgumentError(absl::StrCat(what, " ", i, " is omitted but required"));
  }
  return absl::OkStatus();
}

const AttributeSchema* FindSchema(const OperatorSchema& schema, absl::string_view name) {
  for (const AttributeSchema& attribute : schema.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

absl::Status CheckAttributes(const Attributes& attributes, const OperatorSchema& schema) {
  for (const auto& [name, value] : attributes) {
    const AttributeSchema* expected = FindSchema(schema, name);
    if (expected == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("has the unknown attribute \"", name, "\""));
    }
    if (expected->kind != KindOf(value)) {
      return absl::InvalidArgumentError(absl::StrCat("attribute \"", name, "\" is of kind ",
                                                     Name(KindOf(value)), " instead of ",
                                                     Name(expected->kind)));
    }
    if (KindOf(value) == AttributeKind::kGraph &&
        std::get<std::shared_ptr<const Graph>>(value) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("attribute \"", name, "\" holds no graph"));
    }
    if (KindOf(value) == AttributeKind::kTensor && !std::get<Tensor>(value).is_set()) {
      return absl::InvalidArgumentError(absl::StrCat("attribute \"", name, "\" holds no tensor"));
    }
  }
  for (const AttributeSchema& expected : schema.attributes) {
    if (expected.required && attributes.Find(expected.name) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("lacks the attribute \"", expected.name, "\""));
    }
  }
  return absl::OkStatus();
}

template <typename T>
Dimensions WholeNumbers(const Tensor& tensor) {
  Dimensions elements;
  for (const T value : tensor.values<T>()) {
    const bool whole = value >= T(-9e15) && value <= T(9e15) && value == T(int64_t(value));
    elements.push_back(whole ? Dimension(static_cast<int64_t>(value)) : Dimension());
  }
  return elements;
}

Dimensions WholeElements(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DataType::kInt64: {
      const auto values = tensor.values<int64_t>();
      return Dimensions(values.begin(), values.end());
    }
    case DataType::kInt32: {
      const auto values = tensor.values<int32_t>();
      return Dimensions(values.begin(), values.end());
    }
    case DataType::kBool: {
      Dimensions elements;
      for (const char byte : tensor.bytes()) elements.push_back(byte != 0 ? 1 : 0);
      return elements;
    }
    case DataType::kFloat32:
      return WholeNumbers<float>(tensor);
    case DataType::kFloat64:
      return WholeNumbers<double>(tensor);
    default:
      return Dimensions(static_cast<size_t>(tensor.num_elements()));
  }
}

}  // namespace

absl::string_view Name(Pattern pattern) {
  switch (pattern) {
    case Pattern::kElementwise:
      return "elementwise";
    case Pattern::kBroadcast:
      return "broadcast";
    case Pattern::kInjective:
      return "injective";
    case Pattern::kReduction:
      return "reduction";
    case Pattern::kRereading:
      return "rereading";
    case Pattern::kOutFusable:
      return "out-fusable";
    case Pattern::kOpaque:
      return "opaque";
    case Pattern::kKernel:
      return "kernel";
  }
  return "invalid";
}

absl::Status OperatorRegistry::Add(OperatorSchema schema) {
  if (schema.name.empty() || schema.type_rule == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("operator \"", schema.name, "\" needs a name and a type rule"));
  }
  const std::string name = schema.name;
  return schemas_.Add(name, std::move(schema));
}

absl::StatusOr<const OperatorSchema*> OperatorRegistry::Get(absl::string_view op) const {
  const OperatorSchema* schema = Find(op);
  if (schema == nullptr) {
    return absl::UnimplementedError(absl::StrCat("operator \"", op, "\" is not supported"));
  }
  return schema;
}

Movement OperatorRegistry::MovementOf(absl::string_view op) const {
  const OperatorSchema* schema = Find(op);
  return schema == nullptr ? Movement::kOther : schema->movement;
}

absl::Status CheckNode(const Node& node, const OperatorSchema& schema,
                       absl::string_view display_name) {
  const std::string context = Context(display_name, node.op);
  const int inputs = static_cast<int>(std::min<size_t>(node.inputs.size(), kVariadic));
  const int outputs = static_cast<int>(std::min<size_t>(node.outputs.size(), kVariadic));
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckArity(inputs, schema.min_inputs, schema.max_inputs, "inputs"),
                               context);
  SLIPWAY_RETURN_IF_ERROR_WITH(
      CheckArity(outputs, schema.min_outputs, schema.max_outputs, "outputs"), context);
  const int required_inputs = schema.max_inputs == kVariadic ? inputs : schema.min_inputs;
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckPresent(node.inputs, required_inputs, "input"), context);
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckPresent(node.outputs, schema.min_outputs, "output"), context);
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckAttributes(node.attributes, schema), context);
  return absl::OkStatus();
}

absl::StatusOr<NodeView> NodeView::Create(const Node& node, const OperatorRegistry& registry,
                                          std::string display_name,
                                          std::vector<const ValueType*> types,
                                          std::vector<const Tensor*> constants) {
  SLIPWAY_CHECK(types.size() == node.inputs.size(), "one type an input");
  SLIPWAY_CHECK(constants.size() == node.inputs.size(), "one constant an input");
  NodeView view;
  view.node_ = &node;
  view.display_name_ = std::move(display_name);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(view.schema_, registry.Get(node.op),
                                absl::StrCat("node \"", view.display_name_, "\""));
  SLIPWAY_RETURN_IF_ERROR(CheckNode(node, *view.schema_, view.display_name_));
  view.types_ = std::move(types);
  view.constants_ = std::move(constants);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != kNoValue && view.types_[i] == nullptr) {
      return view.Error(absl::StrCat("the type of input ", i, " is not known"));
    }
  }
  return view;
}

absl::StatusOr<NodeView> NodeView::Create(const Graph& graph, const Node& node,
                                          const OperatorRegistry& registry) {
  std::vector<const ValueType*> types(node.inputs.size(), nullptr);
  std::vector<const Tensor*> constants(node.inputs.size(), nullptr);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    const Value& value = graph.values[node.inputs[i]];
    if (value.type.has_value()) types[i] = &*value.type;
    if (value.constant.has_value()) constants[i] = &*value.constant;
  }
  SLIPWAY_ASSIGN_OR_RETURN(NodeView view, Create(node, registry, DisplayName(graph, node),
                                                 std::move(types), std::move(constants)));
  view.symbols_ = &graph.symbols;
  return view;
}

bool NodeView::IsNeverNegative(const Dimension& dimension) const {
  if (slipway::IsNeverNegative(dimension)) return true;
  if (dimension.is_unknown() || symbols_ == nullptr) return false;
  const auto bounds = BoundsOf(dimension.expression(), *symbols_);
  return bounds.ok() && bounds->min >= 0;
}

const Attribute* NodeView::Find(absl::string_view attribute) const {
  const Attribute* found = node_->attributes.Find(attribute);
  if (found != nullptr) return found;
  const AttributeSchema* expected = FindSchema(*schema_, attribute);
  if (expected == nullptr || !expected->default_value.has_value()) return nullptr;
  return &*expected->default_value;
}

template <typename T>
const T& NodeView::As(absl::string_view attribute) const {
  const Attribute* found = Find(attribute);
  SLIPWAY_CHECK(found != nullptr && std::holds_alternative<T>(*found), attribute);
  return std::get<T>(*found);
}

int64_t NodeView::Int(absl::string_view attribute) const { return As<int64_t>(attribute); }
float NodeView::Float(absl::string_view attribute) const { return As<float>(attribute); }
const std::string& NodeView::String(absl::string_view attribute) const {
  return As<std::string>(attribute);
}
const std::vector<int64_t>& NodeView::Ints(absl::string_view attribute) const {
  return As<std::vector<int64_t>>(attribute);
}
const std::vector<float>& NodeView::Floats(absl::string_view attribute) const {
  return As<std::vector<float>>(attribute);
}
const std::vector<std::string>& NodeView::Strings(absl::string_view attribute) const {
  return As<std::vector<std::string>>(attribute);
}
const Tensor& NodeView::TensorValue(absl::string_view attribute) const {
  return As<Tensor>(attribute);
}
const Graph& NodeView::Body(absl::string_view attribute) const {
  return *As<std::shared_ptr<const Graph>>(attribute);
}

std::optional<Dimensions> NodeView::contents(int i) const {
  if (!has_input(i)) return std::nullopt;
  if (const Tensor* tensor = constant(i)) {
    if (tensor->shape().size() > 1) return std::nullopt;
    return WholeElements(*tensor);
  }
  if (!contents_.empty() && contents_[i] != nullptr) return *contents_[i];
  const ValueType& type = input_type(i);
  if (type.rank() > 1 || !type.is_static()) return std::nullopt;
  return Dimensions(static_cast<size_t>(type.num_elements()));
}

bool NodeView::Differ(const Dimension& a, const Dimension& b) const {
  return DiffersFromAll(a, {b});
}

bool NodeView::Differ(absl::Span<const Dimension> a, absl::Span<const Dimension> b) const {
  if (Contradict(a, b)) return true;
  for (size_t i = 0; i < a.size(); ++i) Differ(a[i], b[i]);
  return false;
}

bool NodeView::DiffersFromAll(const Dimension& a, absl::Span<const Dimension> allowed) const {
  std::vector<Equality> any_of;
  for (const Dimension& b : allowed) {
    if (a.is_unknown() || b.is_unknown() || SameExtent(a, b)) return false;
    if (!Contradict(a, b)) any_of.push_back({a.expression(), b.expression()});
  }
  if (any_of.empty()) return true;
  Require(std::move(any_of));
  return false;
}

bool NodeView::Exceeds(const Dimension& a, const Dimension& limit) const {
  return Differ(Max(a, limit), limit);
}

void NodeView::Require(std::vector<Equality> any_of) const {
  if (constraints_ == nullptr) return;
  constraints_->push_back({std::move(any_of), absl::StrCat(op(), " ", display_name_)});
}

absl::StatusOr<const Tensor*> NodeView::RequireConstant(int i, absl::string_view what) const {
  const Tensor* tensor = constant(i);
  if (tensor != nullptr) return tensor;
  return Annotated(absl::FailedPreconditionError(
      absl::StrCat("the ", what, " (input ", i, ") must be known when compiling")));
}

absl::Status NodeView::RequireStatic() const {
  for (int i = 0; i < num_inputs(); ++i) {
    if (!has_input(i) || input_type(i).is_static()) continue;
    return Unimplemented(absl::StrCat("input ", i, " is ", ToString(input_type(i)),
                                      ", which is not supported while its extents are not known"));
  }
  return absl::OkStatus();
}

absl::Status NodeView::Error(absl::string_view message) const {
  return absl::InvalidArgumentError(absl::StrCat(Context(display_name_, op()), ": ", message));
}
absl::Status NodeView::Unimplemented(absl::string_view message) const {
  return absl::UnimplementedError(absl::StrCat(Context(display_name_, op()), ": ", message));
}
absl::Status NodeView::Annotated(const absl::Status& status) const {
  return Annotate(status, Context(display_name_, op()));
}

bool IsRandom(const Node& node, const OperatorRegistry& registry) {
  const OperatorSchema* schema = registry.Find(node.op);
  if (schema != nullptr && schema->random) return true;
  for (const auto& [name, value] : node.attributes) {
    const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value);
    if (body == nullptr) continue;
    for (const Node& inner : (*body)->nodes) {
      if (IsRandom(inner, registry)) return true;
    }
  }
  return false;
}

absl::Status CheckBodyInputs(const NodeView& view) {
  if (view.schema().body_rule == nullptr) return absl::OkStatus();
  for (const auto& [name, value] : view.node().attributes) {
    const auto* attribute = std::get_if<std::shared_ptr<const Graph>>(&value);
    if (attribute == nullptr) continue;
    const Graph& body = **attribute;
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<ValueType> types,
                             view.schema().body_rule(view, name));
    if (types.size() != body.inputs.size()) {
      return view.Error(absl::StrCat("body \"", name, "\" has ", body.inputs.size(),
                                     " inputs where it is given ", types.size()));
    }
    for (size_t i = 0; i < types.size(); ++i) {
      const Value& input = body.values[body.inputs[i]];
      if (!input.type.has_value() || !Contradict(*input.type, types[i])) continue;
      return view.Error(absl::StrCat("input \"", input.name, "\" of body \"", name, "\" is ",
                                     ToString(*input.type), " but is given ", ToString(types[i])));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ValueType>> InferNodeTypes(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<ValueType> types, view.schema().type_rule(view));
  if (types.size() < view.node().outputs.size()) {
    return view.Error(absl::StrCat("has ", view.node().outputs.size(), " outputs where ",
                                   types.size(), " are made"));
  }
  types.resize(view.node().outputs.size());
  for (size_t i = 0; i < types.size(); ++i) {
    types[i].set_quantization(std::nullopt);
    const absl::Status checked = CheckType(types[i]);
    if (!checked.ok()) return view.Annotated(Annotate(checked, absl::StrCat("output ", i)));
  }
  return types;
}

absl::StatusOr<std::vector<ValueType>> InferNodeTypes(const Graph& graph, const Node& node,
                                                      const OperatorRegistry& registry) {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, registry));
  return InferNodeTypes(view);
}

}  // namespace slipway
