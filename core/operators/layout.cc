#include "core/operators/layout.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> PackType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 4, 4));
  const Dimensions x = DimensionsOf(view, 0);
  const int64_t block = view.Int("block");
  if (block < 1 || (!x[1].is_known() && !Divides(view, block, x[1]))) {
    return view.Error(
        absl::StrCat(ToString(x[1]), " channels do not divide into blocks of ", block));
  }
  const Dimension blocks =
      x[1].is_known() ? Dimension((x[1].extent() + block - 1) / block) : FloorDivide(x[1], block);
  return std::vector<ValueType>{
      ValueType(view.input_type(0).dtype(), {x[0], blocks, x[2], x[3], block})};
}

absl::StatusOr<std::vector<ValueType>> UnpackType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 5, 5));
  const Dimensions x = DimensionsOf(view, 0);
  if (view.has("block") && view.Differ(x[4], Dimension(view.Int("block")))) {
    return view.Error(
        absl::StrCat("x has blocks of ", ToString(x[4]), ", not ", view.Int("block")));
  }
  return std::vector<ValueType>{
      ValueType(view.input_type(0).dtype(), {x[0], x[1] * x[4], x[2], x[3]})};
}

}  // namespace

absl::Status RegisterLayoutOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.pattern = Pattern::kInjective;
  schema.movement = Movement::kPermutation;
  schema.keeps_images = true;
  schema.name = "slipway.Pack";
  schema.type_rule = PackType;
  schema.attributes = {Required(IntAttribute("block", std::nullopt))};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.name = "slipway.Unpack";
  schema.type_rule = UnpackType;
  schema.attributes = {IntAttribute("block", std::nullopt)};
  return registry.Add(schema);
}

}  // namespace slipway
