#include "core/importers/onnx/emitter.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tensor/float16.h"

namespace slipway {

Emitter::Emitter(Graph& graph, const OperatorRegistry& registry)
    : graph_(graph), registry_(registry), names_(graph) {}

absl::Status Emitter::Emit(Node node) {
  const std::string name = DisplayName(graph_, node);
  const auto schema = registry_.Get(node.op);
  if (!schema.ok()) return Annotate(schema.status(), absl::StrCat("node \"", name, "\""));
  SLIPWAY_RETURN_IF_ERROR(CheckNode(node, **schema, name));
  bool typed = true;
  for (const ValueId id : node.inputs) typed &= id == kNoValue || type(id) != nullptr;
  if (typed) {
    auto types = InferNodeTypes(graph_, node, registry_);
    if (types.ok()) {
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] != kNoValue) graph_.values[node.outputs[i]].type = (*types)[i];
      }
    } else if (!absl::IsFailedPrecondition(types.status())) {
      return types.status();
    }
  }
  graph_.nodes.push_back(std::move(node));
  return absl::OkStatus();
}

ValueId Emitter::AddValue(absl::string_view wanted_name) {
  return graph_.AddValue(names_.Make(wanted_name));
}

ValueId Emitter::AddConstant(absl::string_view wanted_name, Tensor tensor) {
  return graph_.AddConstant(names_.Make(wanted_name), std::move(tensor));
}

void Emitter::SetConstant(ValueId id, Tensor tensor) {
  graph_.values[id].type = tensor.type();
  graph_.values[id].constant = std::move(tensor);
}

ValueId Emitter::AddInts(absl::string_view wanted_name, const std::vector<int64_t>& values) {
  return AddConstant(wanted_name,
                     Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

ValueId Emitter::AddFloats(absl::string_view wanted_name, const std::vector<float>& values) {
  return AddConstant(wanted_name, Tensor::Of<float>({static_cast<int64_t>(values.size())}, values));
}

ValueId Emitter::AddScalar(absl::string_view wanted_name, float value, ValueId like) {
  const DataType dtype = type(like) == nullptr ? DataType::kFloat32 : type(like)->dtype();
  const auto half = [&](uint16_t bits) {
    Tensor scalar = Tensor::Zeros(dtype, {});
    std::memcpy(scalar.mutable_bytes(), &bits, sizeof(bits));
    return AddConstant(wanted_name, std::move(scalar));
  };
  switch (dtype) {
    case DataType::kFloat16:
      return half(FloatToFloat16(value));
    case DataType::kBfloat16:
      return half(FloatToBfloat16(value));
    case DataType::kFloat64:
      return AddConstant(wanted_name, Tensor::Scalar<double>(value));
    default:
      return AddConstant(wanted_name, Tensor::Scalar<float>(value));
  }
}

const ValueType* Emitter::type(ValueId id) const {
  if (id == kNoValue) return nullptr;
  const auto& type = graph_.values[id].type;
  return type.has_value() ? &*type : nullptr;
}

const Tensor* Emitter::constant(ValueId id) const {
  if (id == kNoValue) return nullptr;
  const auto& constant = graph_.values[id].constant;
  return constant.has_value() ? &*constant : nullptr;
}

}  // namespace slipway
