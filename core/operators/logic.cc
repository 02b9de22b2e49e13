#include "core/operators/logic.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/contents.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> BroadcastBools(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions dimensions, BroadcastAllInputs(view));
  return std::vector<ValueType>{ValueType(DataType::kBool, dimensions)};
}

absl::Status CheckBool(const NodeView& view, int input) {
  const DataType dtype = view.input_type(input).dtype();
  if (dtype == DataType::kBool) return absl::OkStatus();
  return view.Error(absl::StrCat("input ", input, " is of type ", Name(dtype), ", not bool"));
}

absl::StatusOr<std::vector<ValueType>> ComparisonType(const NodeView& view) {
  // Truth and strings have no order here, but may be equal.
  const DataType dtype = view.input_type(0).dtype();
  const bool is_unordered = dtype == DataType::kBool || dtype == DataType::kString;
  if (view.op() != "Equal" || !is_unordered)
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  return BroadcastBools(view);
}

absl::StatusOr<std::vector<ValueType>> LogicType(const NodeView& view) {
  for (int i = 0; i < view.num_inputs(); ++i) SLIPWAY_RETURN_IF_ERROR(CheckBool(view, i));
  return BroadcastBools(view);
}

absl::StatusOr<std::vector<ValueType>> ClassifyType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  return std::vector<ValueType>{ValueType(DataType::kBool, DimensionsOf(view, 0))};
}

absl::StatusOr<std::vector<ValueType>> WhereType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckBool(view, 0));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, TypeSet::kSized));
  const DataType dtype = view.input_type(1).dtype();
  if (view.input_type(2).dtype() != dtype) {
    return view.Error(absl::StrCat("chooses between elements of the types ", Name(dtype), " and ",
                                   Name(view.input_type(2).dtype())));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions dimensions, BroadcastAllInputs(view));
  return std::vector<ValueType>{ValueType(dtype, dimensions)};
}

}  // namespace

absl::Status RegisterLogicOperators(OperatorRegistry& registry) {
  const OperatorSchema schemas[] = {
      Knowing(ElementwiseSchema("Equal", 2, ComparisonType), EqualContents),
      ElementwiseSchema("Greater", 2, ComparisonType),
      ElementwiseSchema("GreaterOrEqual", 2, ComparisonType),
      ElementwiseSchema("Less", 2, ComparisonType),
      ElementwiseSchema("LessOrEqual", 2, ComparisonType),
      ElementwiseSchema("And", 2, LogicType),
      ElementwiseSchema("Or", 2, LogicType),
      ElementwiseSchema("Xor", 2, LogicType),
      ElementwiseSchema("Not", 1, LogicType),
      ElementwiseSchema("IsNaN", 1, ClassifyType),
      ElementwiseSchema("IsInf", 1, ClassifyType,
                        {IntAttribute("detect_negative", 1), IntAttribute("detect_positive", 1)}),
      Moving(Knowing(ElementwiseSchema("Where", 3, WhereType), WhereContents)),
  };
  return AddAll(registry, schemas);
}

}  // namespace slipway
