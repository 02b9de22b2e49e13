#include "core/operators/rearrangement.h"

#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

Types TileType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions repeats, KnownInts(view, 1, "repeats"));
  Dimensions y = DimensionsOf(view, 0);
  if (repeats.size() != y.size()) {
    return view.Error(
        absl::StrCat("there are ", repeats.size(), " repeats for the shape ", ToString(y)));
  }
  if (const std::optional<Shape> known = KnownShape(repeats)) {
    const auto sane = CheckShape(*known, 1);
    if (!sane.ok()) return view.Annotated(sane.status());
  }
  for (size_t d = 0; d < y.size(); ++d) y[d] = y[d] * repeats[d];
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

Types TriluType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2));
  if (view.has_input(1) && (view.input_type(1).dtype() != DataType::kInt64 ||
                            view.Differ(NumElements(DimensionsOf(view, 1)), 1))) {
    return view.Error(
        absl::StrCat("k (input 1) must be one i64, not ", ToString(view.input_type(1))));
  }
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), DimensionsOf(view, 0))};
}

Types ReverseSequenceType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeReverseSequence(view).status());
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), DimensionsOf(view, 0))};
}

Types CenterCropPadType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, DecodeCenterCropPad(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions wanted, KnownInts(view, 1, "shape"));
  Dimensions y = DimensionsOf(view, 0);
  if (wanted.size() != axes.size()) {
    return view.Error(absl::StrCat("a shape of ", wanted.size(), " extents for ", axes.size(),
                                   " axes of ", ToString(y)));
  }
  for (size_t i = 0; i < axes.size(); ++i) y[axes[i]] = wanted[i];
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> DecodeCenterCropPad(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const int64_t rank = view.input_type(0).rank();
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (!view.has("axes")) return axes;
  axes = view.Ints("axes");
  SLIPWAY_RETURN_IF_ERROR(NormalizeAxes(view, axes, rank).status());
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  return axes;
}

absl::StatusOr<ReverseSequenceView> DecodeReverseSequence(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2));
  ReverseSequenceView reverse{view.Int("batch_axis"), view.Int("time_axis")};
  const bool in_order = reverse.batch_axis == 0 && reverse.time_axis == 1;
  if (!in_order && !(reverse.batch_axis == 1 && reverse.time_axis == 0)) {
    return view.Error(absl::StrCat("\"batch_axis\" and \"time_axis\" are ", reverse.batch_axis,
                                   " and ", reverse.time_axis, ", not 0 and 1 or 1 and 0"));
  }
  const Dimension batch = view.input_type(0).dimension(static_cast<int>(reverse.batch_axis));
  if (view.input_type(1).dtype() != DataType::kInt64 ||
      view.Differ(DimensionsOf(view, 1), {batch})) {
    return view.Error(absl::StrCat("the lengths (input 1) must be i64[", ToString(batch), "], not ",
                                   ToString(view.input_type(1))));
  }
  return reverse;
}

absl::Status RegisterRearrangementOperators(OperatorRegistry& registry) {
  const OperatorSchema schemas[] = {
      Moving(OpaqueSchema("CenterCropPad", 2, CenterCropPadType, {IntsAttribute("axes")})),
      Moving(OpaqueSchema("ReverseSequence", 2, ReverseSequenceType,
                          {IntAttribute("batch_axis", 1), IntAttribute("time_axis", 0)})),
      Moving(OpaqueSchema("Tile", 2, TileType)),
      Moving(OpaqueSchema("Trilu", {1, 2}, TriluType, {IntAttribute("upper", 1)})),
  };
  return AddAll(registry, schemas);
}

}  // namespace slipway
