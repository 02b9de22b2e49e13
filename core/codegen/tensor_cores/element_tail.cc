#include "core/codegen/tensor_cores/element_tail.h"

#include <cstdint>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor.h"

namespace slipway {
namespace {

// The only element, of a type whose numbers f32 has all.
std::optional<float> NumberIn(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DataType::kFloat32:
      return tensor.values<float>()[0];
    case DataType::kInt8:
      return tensor.values<int8_t>()[0];
    case DataType::kUint8:
      return tensor.values<uint8_t>()[0];
    case DataType::kInt16:
      return tensor.values<int16_t>()[0];
    case DataType::kUint16:
      return tensor.values<uint16_t>()[0];
    default:
      return std::nullopt;
  }
}

}  // namespace

absl::StatusOr<ElementStep::Operand> ElementTail::OperandOf(ValueId id) {
  if (const auto made = made_.find(id); made != made_.end()) return made->second;
  const Value& value = body_.value(id);
  if (value.constant.has_value() && value.constant->num_elements() == 1) {
    const std::optional<float> number = NumberIn(*value.constant);
    if (!number.has_value()) {
      return absl::UnimplementedError(absl::StrCat(Name(value.type->dtype()), " takes part in it"));
    }
    return ElementSteps::Constant(*number);
  }
  const auto input = absl::c_find(body_.inputs, id);
  if (input == body_.inputs.end()) return absl::UnimplementedError("a table is in its code");
  SLIPWAY_ASSIGN_OR_RETURN(
      const int number,
      add_tensor_(static_cast<int>(input - body_.inputs.begin()), value.type->shape()));
  const ElementStep::Operand operand{ElementStep::Operand::Kind::kTensor, number, 0};
  made_[id] = operand;
  return operand;
}

absl::Status ElementTail::AddNodes(size_t begin, size_t end, ValueId head) {
  for (size_t i = begin; i < end; ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(body_, body_.nodes[i], registry_));
    SLIPWAY_RETURN_IF_ERROR(AddNode(view, head));
  }
  return absl::OkStatus();
}

absl::Status ElementTail::AddNode(const NodeView& view, ValueId head) {
  if (view.num_outputs() != 1) {
    return absl::UnimplementedError(absl::StrCat(view.op(), " behind it"));
  }
  if (body_.value(view.node().outputs[0]).type->shape() != body_.value(head).type->shape()) {
    return absl::UnimplementedError("its result has another shape");
  }
  std::vector<std::optional<ElementStep::Operand>> operands;
  for (const ValueId id : view.node().inputs) {
    operands.emplace_back();
    if (id != kNoValue) {
      SLIPWAY_ASSIGN_OR_RETURN(operands.back(), OperandOf(id));
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ElementStep::Operand made, AddStepsOf(view, operands, steps_));
  Define(view.node().outputs[0], made);
  return absl::OkStatus();
}

}  // namespace slipway
