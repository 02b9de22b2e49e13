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

}  // namespace

absl::StatusOr<TopKView> DecodeTopK(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  TopKView top;
  SLIPWAY_ASSIGN_OR_RETURN(top.axis,
                           NormalizeAxis(view, view.Int("axis"), view.input_type(0).rank()));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> count, ConstantInts(view, 1, "k"));
  if (count.size() != 1)
    return view.Error(absl::StrCat("\"k\" has ", count.size(), " elements, it must have 1"));
  top.count = count[0];
  top.largest = view.Int("largest") != 0;
  const Dimension extent = view.input_type(0).dimension(static_cast<int>(top.axis));
  if (top.count < 0 || (extent.is_known() && top.count > extent.extent())) {
    return view.Error(absl::StrCat("\"k\" is ", top.count, ", axis ", top.axis, " has ",
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
  return registry.Add(top);
}

}  // namespace slipway
