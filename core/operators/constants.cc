#include "core/operators/constants.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> ConstantType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor tensor, DecodeConstant(view));
  return std::vector<ValueType>{tensor.type()};
}

absl::StatusOr<std::vector<ValueType>> ConstantOfShapeType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor element, DecodeConstantOfShape(view));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, ConstantInts(view, 0, "shape"));
  return std::vector<ValueType>{TensorType{element.dtype(), Shape(shape.begin(), shape.end())}};
}

}  // namespace

absl::StatusOr<Tensor> DecodeConstant(const NodeView& view) {
  if (view.node().attributes.size() != 1) {
    return view.Error(absl::StrCat("has ", view.node().attributes.size(),
                                   " attributes where one gives the value"));
  }
  const Attribute& value = view.node().attributes.begin()->second;
  switch (KindOf(value)) {
    case AttributeKind::kTensor:
      return std::get<Tensor>(value);
    case AttributeKind::kInt:
      return Tensor::Scalar<int64_t>(std::get<int64_t>(value));
    case AttributeKind::kFloat:
      return Tensor::Scalar<float>(std::get<float>(value));
    case AttributeKind::kInts: {
      const auto& list = std::get<std::vector<int64_t>>(value);
      return Tensor::Of<int64_t>({static_cast<int64_t>(list.size())}, list);
    }
    case AttributeKind::kFloats: {
      const auto& list = std::get<std::vector<float>>(value);
      return Tensor::Of<float>({static_cast<int64_t>(list.size())}, list);
    }
    default:
      return view.Unimplemented("constants of this kind are not supported");
  }
}

absl::StatusOr<Tensor> DecodeConstantOfShape(const NodeView& view) {
  if (!view.has("value")) return Tensor::Zeros(DataType::kFloat32, {1});
  const Tensor& value = view.TensorValue("value");
  if (value.num_elements() != 1) {
    return view.Error(
        absl::StrCat("\"value\" of type ", ToString(value.type()), " is not one element"));
  }
  return value.Reshaped({1});
}

absl::Status RegisterConstantsOperators(OperatorRegistry& registry) {
  OperatorSchema constant;
  constant.name = "Constant";
  constant.min_inputs = constant.max_inputs = 0;
  constant.attributes = {{"value", AttributeKind::kTensor},
                         {"value_float", AttributeKind::kFloat},
                         {"value_floats", AttributeKind::kFloats},
                         {"value_int", AttributeKind::kInt},
                         {"value_ints", AttributeKind::kInts}};
  constant.type_rule = ConstantType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(constant));

  OperatorSchema of_shape;
  of_shape.name = "ConstantOfShape";
  of_shape.attributes = {{"value", AttributeKind::kTensor}};
  of_shape.type_rule = ConstantOfShapeType;
  return registry.Add(of_shape);
}

}  // namespace slipway
