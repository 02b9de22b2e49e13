#include "core/importers/onnx/composition.h"

#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

template <typename T>
const T& As(const Attributes& attributes, absl::string_view name) {
  const T* found = attributes.FindAs<T>(name);
  SLIPWAY_CHECK(found != nullptr, name);
  return *found;
}

}  // namespace

Composition::Composition(const Node& node, Emitter& emitter)
    : node_(node), emitter_(emitter), display_name_(DisplayName(emitter.graph(), node)) {}

ValueId Composition::input(int i) const {
  return i < static_cast<int>(node_.inputs.size()) ? node_.inputs[i] : kNoValue;
}
bool Composition::has_output(int i) const { return Output(i) != kNoValue; }
ValueId Composition::Output(int i) const {
  return i < static_cast<int>(node_.outputs.size()) ? node_.outputs[i] : kNoValue;
}

bool Composition::RequireInputs(const std::vector<int>& inputs) {
  for (const int i : inputs) {
    if (!has_input(i)) Fail(absl::StrCat("input ", i, " is omitted but required"));
  }
  return status_.ok();
}

bool Composition::has(absl::string_view attribute) const {
  return node_.attributes.Find(attribute) != nullptr;
}
int64_t Composition::Int(absl::string_view attribute) const {
  return As<int64_t>(node_.attributes, attribute);
}
float Composition::Float(absl::string_view attribute) const {
  return As<float>(node_.attributes, attribute);
}
const std::string& Composition::String(absl::string_view attribute) const {
  return As<std::string>(node_.attributes, attribute);
}
const std::vector<int64_t>& Composition::Ints(absl::string_view attribute) const {
  return As<std::vector<int64_t>>(node_.attributes, attribute);
}
const std::vector<float>& Composition::Floats(absl::string_view attribute) const {
  return As<std::vector<float>>(node_.attributes, attribute);
}

const std::vector<std::string>& Composition::Strings(absl::string_view attribute) const {
  return As<std::vector<std::string>>(node_.attributes, attribute);
}

const Graph& Composition::Body(absl::string_view attribute) const {
  return *As<std::shared_ptr<const Graph>>(node_.attributes, attribute);
}

Attributes Composition::Only(const std::vector<std::string>& names) const {
  Attributes attributes;
  for (const std::string& name : names) {
    if (const Attribute* found = node_.attributes.Find(name)) attributes.Set(name, *found);
  }
  return attributes;
}

int Composition::RankOf(ValueId id) const { return type(id) == nullptr ? -1 : type(id)->rank(); }
bool Composition::IsOfType(ValueId id, DataType dtype) const {
  return type(id) != nullptr && type(id)->dtype() == dtype;
}
ValueId Composition::Ints(const std::vector<int64_t>& values) {
  return emitter_.AddInts(absl::StrCat(display_name_, "_ints"), values);
}
ValueId Composition::Int(int64_t value) { return Constant(Tensor::Scalar<int64_t>(value)); }
ValueId Composition::Float(float value) { return Constant(Tensor::Scalar<float>(value)); }

ValueId Composition::FloatLike(float value, ValueId like) {
  const ValueId scalar = Float(value);
  if (type(like) == nullptr || IsOfType(like, DataType::kFloat32)) return scalar;
  return Make("CastLike", {scalar, like});
}

ValueId Composition::Constant(Tensor tensor) {
  return emitter_.AddConstant(absl::StrCat(display_name_, "_constant"), std::move(tensor));
}

ValueId Composition::NewValue(absl::string_view what) {
  return emitter_.AddValue(absl::StrCat(display_name_, "_", absl::AsciiStrToLower(what)));
}

ValueId Composition::Make(absl::string_view op, std::vector<ValueId> inputs,
                          Attributes attributes) {
  if (!status_.ok()) return kNoValue;
  const ValueId made = NewValue(op);
  MakeAll({made}, op, std::move(inputs), std::move(attributes));
  return made;
}

ValueId Composition::MakeOutput(int output, absl::string_view op, std::vector<ValueId> inputs,
                                Attributes attributes) {
  if (!has_output(output)) return Make(op, std::move(inputs), std::move(attributes));
  MakeAll({Output(output)}, op, std::move(inputs), std::move(attributes));
  return Output(output);
}

void Composition::MakeAll(std::vector<ValueId> outputs, absl::string_view op,
                          std::vector<ValueId> inputs, Attributes attributes) {
  if (!status_.ok()) return;
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  while (!outputs.empty() && outputs.back() == kNoValue) outputs.pop_back();
  status_ = emitter_.Emit(Node{node_.name, std::string(op), std::move(inputs), std::move(outputs),
                               std::move(attributes)});
}

ValueId Composition::Inline(const Graph& body, ValueId input) {
  if (body.inputs.size() != 1 || body.outputs.size() != 1) {
    Fail(absl::StrCat("a body has ", body.inputs.size(), " inputs and ", body.outputs.size(),
                      " outputs, not one each"));
  }
  if (!status_.ok()) return kNoValue;
  std::vector<ValueId> ids(body.values.size(), kNoValue);
  ids[body.inputs[0]] = input;
  const auto here = [&](ValueId id) {
    if (id == kNoValue || ids[id] != kNoValue) return id == kNoValue ? id : ids[id];
    const Value& value = body.values[id];
    return ids[id] = value.constant.has_value() ? Constant(*value.constant) : NewValue(value.name);
  };
  for (Node node : body.nodes) {
    for (ValueId& id : node.inputs) id = here(id);
    for (ValueId& id : node.outputs) id = here(id);
    status_ = emitter_.Emit(std::move(node));
    if (!status_.ok()) return kNoValue;
  }
  return here(body.outputs[0]);
}

void Composition::Unsupported(absl::string_view what) {
  if (!status_.ok()) return;
  status_ = absl::UnimplementedError(
      absl::StrCat("node \"", display_name_, "\" (", node_.op, "): ", what, " is not supported"));
}

void Composition::Fail(absl::string_view message) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat("node \"", display_name_, "\" (", node_.op, "): ", message));
}

Expansion ExpansionOf(absl::string_view op, Arity inputs, void (*expand)(Composition&),
                      std::vector<AttributeSchema> attributes, int max_outputs) {
  return Expansion{OpaqueSchema(op, inputs, nullptr, std::move(attributes), max_outputs), expand};
}

absl::Status AddAll(Expansions& expansions, absl::Span<const Expansion> rows) {
  for (const Expansion& row : rows) {
    SLIPWAY_RETURN_IF_ERROR(expansions.Add(row.schema.name, row));
  }
  return absl::OkStatus();
}

Expansions AllExpansions() {
  Expansions expansions;
  for (const auto add : {AddAttentionExpansions, AddClassicalExpansions, AddFusedExpansions,
                         AddQuantizedExpansions}) {
    const absl::Status added = add(expansions);
    SLIPWAY_CHECK(added.ok(), added.message());
  }
  return expansions;
}

absl::Status EmitExpanded(const Expansion& expansion, Node node, Emitter& emitter) {
  SLIPWAY_RETURN_IF_ERROR(CheckNode(node, expansion.schema, DisplayName(emitter.graph(), node)));
  for (const AttributeSchema& attribute : expansion.schema.attributes) {
    if (attribute.default_value.has_value() && node.attributes.Find(attribute.name) == nullptr) {
      node.attributes.Set(attribute.name, *attribute.default_value);
    }
  }
  Composition composition(node, emitter);
  expansion.expand(composition);
  return composition.status();
}

}  // namespace slipway
