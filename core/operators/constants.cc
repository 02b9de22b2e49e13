#include "core/operators/constants.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/contents.h"
#include "core/tensor/strings.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> ConstantType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor tensor, DecodeConstant(view));
  return std::vector<ValueType>{tensor.type()};
}

absl::StatusOr<std::vector<ValueType>> ConstantOfShapeType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor element, DecodeConstantOfShape(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions shape, KnownInts(view, 0, "shape"));
  return std::vector<ValueType>{ValueType(element.dtype(), shape)};
}

absl::StatusOr<std::vector<ValueType>> EyeLikeType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2, 2));
  DataType dtype = view.input_type(0).dtype();
  if (view.has("dtype")) {
    const auto wanted = DataTypeFromNumber(view.Int("dtype"));
    if (!wanted.ok()) return view.Annotated(wanted.status());
    dtype = *wanted;
  }
  if (!Contains(TypeSet::kNumberOrBool, dtype)) {
    return view.Unimplemented(absl::StrCat("elements of type ", Name(dtype), " are not supported"));
  }
  return std::vector<ValueType>{ValueType(dtype, DimensionsOf(view, 0))};
}

// ceil((limit - start) / delta), at least 0; the largest i64 where it is no i64.
absl::StatusOr<int64_t> RangeCount(const NodeView& view) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (Contains(TypeSet::kInteger, view.input_type(0).dtype())) {
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t start, ConstantWhole(view, 0, "start"));
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t limit, ConstantWhole(view, 1, "limit"));
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t delta, ConstantWhole(view, 2, "delta"));
    if (delta == 0) return view.Error("the delta (input 2) is 0");
    using Wide = __int128;
    const Wide span = Wide{limit} - start;
    const Wide step = delta;
    if ((span > 0) != (step > 0) || span == 0) return 0;
    const Wide count = (span - (step > 0 ? 1 : -1)) / step + 1;
    return count > kMost ? kMost : static_cast<int64_t>(count);
  }
  SLIPWAY_ASSIGN_OR_RETURN(const double start, ConstantReal(view, 0, "start"));
  SLIPWAY_ASSIGN_OR_RETURN(const double limit, ConstantReal(view, 1, "limit"));
  SLIPWAY_ASSIGN_OR_RETURN(const double delta, ConstantReal(view, 2, "delta"));
  const double count = std::ceil((limit - start) / delta);
  if (std::isnan(count)) {
    return view.Error(
        absl::StrCat("from ", start, " to ", limit, " by ", delta, " is no number of steps"));
  }
  if (count <= 0) return 0;
  return count < 9e18 ? static_cast<int64_t>(count) : kMost;
}

// The same of what is known of integers.
Dimension OpenRangeCount(const NodeView& view) {
  if (!Contains(TypeSet::kInteger, view.input_type(0).dtype())) return Dimension();
  Dimensions numbers;
  for (int i = 0; i < 3; ++i) {
    const std::optional<Dimensions> contents = view.contents(i);
    if (!contents.has_value() || contents->size() != 1) return Dimension();
    numbers.push_back(contents->front());
  }
  if (!numbers[2].is_known() || numbers[2].extent() <= 0) return Dimension();
  return OrZero(view, CeilDivide(numbers[1] - numbers[0], numbers[2]));
}

absl::StatusOr<std::vector<ValueType>> RangeType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  if (view.constant(0) == nullptr || view.constant(1) == nullptr || view.constant(2) == nullptr) {
    return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), {OpenRangeCount(view)})};
  }
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t count, RangeCount(view));
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), {Dimension(count)})};
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
    case AttributeKind::kString:
      return StringTensor({}, {std::get<std::string>(value)});
    case AttributeKind::kStrings: {
      const auto& list = std::get<std::vector<std::string>>(value);
      return StringTensor({static_cast<int64_t>(list.size())},
                          std::vector<absl::string_view>(list.begin(), list.end()));
    }
    case AttributeKind::kGraph:
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
  if (!Contains(TypeSet::kSized, value.dtype())) {
    return view.Unimplemented(
        absl::StrCat("a \"value\" of type ", Name(value.dtype()), " is not supported"));
  }
  return value.Reshaped({1});
}

namespace {

Dimensions ConstantOfShapeContents(const NodeView& view) {
  const std::optional<Dimensions> shape = view.contents(0);
  const absl::StatusOr<Tensor> element = DecodeConstantOfShape(view);
  if (!shape.has_value() || shape->size() > 1 || !element.ok()) return {};
  size_t count = 1;
  if (!shape->empty()) {
    if (!shape->front().is_known() || shape->front().extent() > kMaxContents) return {};
    count = static_cast<size_t>(std::max<int64_t>(shape->front().extent(), 0));
  }
  if (element->dtype() != DataType::kInt64) return Dimensions(count);
  return Dimensions(count, Dimension(element->values<int64_t>()[0]));
}

}  // namespace

absl::Status RegisterConstantsOperators(OperatorRegistry& registry) {
  OperatorSchema constant;
  constant.name = "Constant";
  constant.min_inputs = constant.max_inputs = 0;
  constant.attributes = {
      {"value", AttributeKind::kTensor},         {"value_float", AttributeKind::kFloat},
      {"value_floats", AttributeKind::kFloats},  {"value_int", AttributeKind::kInt},
      {"value_ints", AttributeKind::kInts},      {"value_string", AttributeKind::kString},
      {"value_strings", AttributeKind::kStrings}};
  constant.type_rule = ConstantType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(constant));

  OperatorSchema of_shape;
  of_shape.name = "ConstantOfShape";
  of_shape.attributes = {{"value", AttributeKind::kTensor}};
  of_shape.type_rule = ConstantOfShapeType;
  of_shape.contents_rule = ConstantOfShapeContents;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(of_shape));

  OperatorSchema eye;
  eye.name = "EyeLike";
  eye.attributes = {IntAttribute("dtype", std::nullopt), IntAttribute("k", 0)};
  eye.type_rule = EyeLikeType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(eye));

  OperatorSchema range;
  range.name = "Range";
  range.min_inputs = range.max_inputs = 3;
  // What f16 and bf16 are computed in: always more than is asked for.
  range.attributes = {IntAttribute("stash_type", 1)};
  range.type_rule = RangeType;
  range.contents_rule = RangeContents;
  return registry.Add(range);
}

}  // namespace slipway
