#include "core/operators/bits.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> BitwiseType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kInteger));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions dimensions, BroadcastAllInputs(view));
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), dimensions)};
}

absl::StatusOr<std::vector<ValueType>> BitShiftType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeBitShift(view).status());
  return BitwiseType(view);
}

absl::StatusOr<std::vector<ValueType>> BitCastType(const NodeView& view) {
  const auto to = DataTypeFromNumber(view.Int("to"));
  if (!to.ok()) return view.Annotated(to.status());
  const DataType from = view.input_type(0).dtype();
  for (const DataType dtype : {from, *to}) {
    if (BitSize(dtype) < 8 && dtype != DataType::kBool) {
      return view.Unimplemented(
          absl::StrCat("elements of type ", Name(dtype), " are not supported"));
    }
  }
  if (ByteSize(from) != ByteSize(*to)) {
    return view.Error(
        absl::StrCat("elements of type ", Name(*to), " are not as large as ones of ", Name(from)));
  }
  return std::vector<ValueType>{ValueType(*to, DimensionsOf(view, 0))};
}

}  // namespace

absl::StatusOr<bool> DecodeBitShift(const NodeView& view) {
  const std::string& direction = view.String("direction");
  if (direction == "RIGHT") return true;
  if (direction == "LEFT") return false;
  return view.Error(
      absl::StrCat("\"direction\" is \"", direction, "\", it must be \"LEFT\" or \"RIGHT\""));
}

absl::Status RegisterBitsOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.type_rule = BitwiseType;
  schema.name = "BitwiseNot";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.min_inputs = schema.max_inputs = 2;
  for (const char* name : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    schema.name = name;
    SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  }
  schema.name = "BitShift";
  schema.type_rule = BitShiftType;
  schema.attributes = {Required(StringAttribute("direction", std::nullopt))};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  OperatorSchema cast;
  cast.name = "BitCast";
  cast.type_rule = BitCastType;
  cast.attributes = {Required(IntAttribute("to", std::nullopt))};
  return registry.Add(cast);
}

}  // namespace slipway
