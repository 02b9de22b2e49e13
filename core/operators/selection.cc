#include "core/operators/selection.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> TopKType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const TopKView top, DecodeTopK(view));
  Dimensions dimensions = DimensionsOf(view, 0);
  dimensions[top.axis] = top.count;
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), dimensions),
                                ValueType(DataType::kInt64, dimensions)};
}

absl::StatusOr<std::vector<ValueType>> NonZeroType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kNumberOrBool));
  return std::vector<ValueType>{
      ValueType(DataType::kInt64, {Dimension(view.input_type(0).rank()), Dimension()})};
}

// The first input with the dimension along which it is chosen unknown.
absl::StatusOr<ValueType> ChosenType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const PiecesView pieces, DecodePieces(view));
  Dimensions y = pieces.flat ? Dimensions(1) : DimensionsOf(view, 0);
  y[pieces.axis] = Dimension();
  return ValueType(view.input_type(0).dtype(), y);
}

absl::StatusOr<std::vector<ValueType>> CompressType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 1, 1));
  if (view.input_type(1).dtype() != DataType::kBool) {
    return view.Error(absl::StrCat("the condition (input 1) is of type ",
                                   Name(view.input_type(1).dtype()), ", not bool"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ValueType y, ChosenType(view));
  return std::vector<ValueType>{y};
}

absl::StatusOr<std::vector<ValueType>> UniqueType(const NodeView& view) {
  if (view.input_type(0).dtype() != DataType::kString) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kNumberOrBool));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ValueType y, ChosenType(view));
  SLIPWAY_ASSIGN_OR_RETURN(const PiecesView pieces, DecodePieces(view));
  const Dimension all =
      pieces.flat ? NumElements(DimensionsOf(view, 0)) : DimensionsOf(view, 0)[pieces.axis];
  const ValueType each(DataType::kInt64, {Dimension()});
  return std::vector<ValueType>{y, each, ValueType(DataType::kInt64, {all}), each};
}

}  // namespace

absl::StatusOr<PiecesView> DecodePieces(const NodeView& view) {
  if (!view.has("axis")) return PiecesView{true, 0};
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis,
                           NormalizeAxis(view, view.Int("axis"), view.input_type(0).rank()));
  return PiecesView{false, axis};
}

absl::StatusOr<TopKView> DecodeTopK(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  TopKView top;
  SLIPWAY_ASSIGN_OR_RETURN(top.axis,
                           NormalizeAxis(view, view.Int("axis"), view.input_type(0).rank()));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions count, KnownInts(view, 1, "k"));
  if (count.size() != 1)
    return view.Error(absl::StrCat("\"k\" has ", count.size(), " elements, it must have 1"));
  top.count = count[0];
  top.largest = view.Int("largest") != 0;
  const Dimension extent = view.input_type(0).dimension(static_cast<int>(top.axis));
  if ((top.count.is_known() && top.count.extent() < 0) || view.Exceeds(top.count, extent)) {
    return view.Error(absl::StrCat("\"k\" is ", ToString(top.count), ", axis ", top.axis, " has ",
                                   ToString(extent), " elements"));
  }
  return top;
}

absl::Status RegisterSelectionOperators(OperatorRegistry& registry) {
  OperatorSchema top;
  top.name = "TopK";
  top.min_inputs = top.max_inputs = 2;
  top.max_outputs = 2;
  top.type_rule = TopKType;
  top.attributes = {IntAttribute("axis", -1), IntAttribute("largest", 1),
                    IntAttribute("sorted", 1)};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(top));

  OperatorSchema non_zero;
  non_zero.name = "NonZero";
  non_zero.type_rule = NonZeroType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(non_zero));

  OperatorSchema compress;
  compress.name = "Compress";
  compress.moves_elements = true;
  compress.min_inputs = compress.max_inputs = 2;
  compress.type_rule = CompressType;
  compress.attributes = {IntAttribute("axis", std::nullopt)};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(compress));

  OperatorSchema unique;
  unique.name = "Unique";
  unique.max_outputs = 4;
  unique.type_rule = UniqueType;
  unique.attributes = {IntAttribute("axis", std::nullopt), IntAttribute("sorted", 1)};
  return registry.Add(unique);
}

}  // namespace slipway
