#include "core/operators/cast.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/contents.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> CastType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const CastView cast, DecodeCast(view));
  return std::vector<ValueType>{ValueType(cast.to, DimensionsOf(view, 0))};
}

absl::StatusOr<std::vector<ValueType>> RoundedType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, {DataType::kFloat32}));
  return std::vector<ValueType>{ValueType(DataType::kBfloat16, DimensionsOf(view, 0))};
}

}  // namespace

absl::StatusOr<CastView> DecodeCast(const NodeView& view) {
  CastView cast;
  if (view.op() == "CastLike") {
    cast.to = view.input_type(1).dtype();
  } else {
    const auto to = DataTypeFromNumber(view.Int("to"));
    if (!to.ok()) return view.Annotated(to.status());
    cast.to = *to;
  }
  const DataType from = view.input_type(0).dtype();
  const bool is_text = from == DataType::kString || cast.to == DataType::kString;
  for (const DataType dtype : {from, cast.to}) {
    switch (dtype) {
      case DataType::kBool:
        if (!is_text) break;
        [[fallthrough]];
      case DataType::kInvalid:
      case DataType::kComplex64:
      case DataType::kComplex128:
        return view.Unimplemented(
            absl::StrCat("casting ", Name(from), " to ", Name(cast.to), " is not supported"));
      default:
        break;
    }
  }
  cast.saturate = view.Int("saturate") != 0;
  const std::string& rounding = view.String("round_mode");
  if (rounding == "up") {
    cast.rounding = CastRounding::kUp;
  } else if (rounding == "down") {
    cast.rounding = CastRounding::kDown;
  } else if (rounding == "nearest") {
    cast.rounding = CastRounding::kNearest;
  } else {
    return view.Error(absl::StrCat("\"round_mode\" is \"", rounding,
                                   "\", it can be \"up\", \"down\" or \"nearest\""));
  }
  return cast;
}

absl::Status RegisterCastOperators(OperatorRegistry& registry) {
  OperatorSchema round;
  round.name = "slipway.RoundToBfloat16";
  round.min_inputs = round.max_inputs = 1;
  round.pattern = Pattern::kElementwise;
  round.layout.role = LayoutRole::kElementwise;
  round.type_rule = RoundedType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(round));

  OperatorSchema like;
  like.name = "CastLike";
  like.min_inputs = like.max_inputs = 2;
  like.type_rule = CastType;
  like.attributes = {IntAttribute("saturate", 1), StringAttribute("round_mode", "up")};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(like));

  OperatorSchema cast = like;
  cast.name = "Cast";
  cast.min_inputs = cast.max_inputs = 1;
  cast.pattern = Pattern::kElementwise;
  cast.layout.role = LayoutRole::kElementwise;
  cast.contents_rule = CastContents;
  cast.attributes.push_back(Required(IntAttribute("to", std::nullopt)));
  return registry.Add(cast);
}

}  // namespace slipway
