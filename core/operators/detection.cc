#include "core/operators/detection.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::Status CheckOne(const NodeView& view, int input, DataType dtype) {
  if (!view.has_input(input) || (view.input_type(input).dtype() == dtype &&
                                 !view.Differ(NumElements(DimensionsOf(view, input)), 1))) {
    return absl::OkStatus();
  }
  return view.Error(absl::StrCat("input ", input, " is ", ToString(view.input_type(input)),
                                 " where one ", Name(dtype), " is needed"));
}

absl::StatusOr<std::vector<ValueType>> NonMaxSuppressionType(const NodeView& view) {
  const Dimensions boxes = DimensionsOf(view, 0);
  const Dimensions scores = DimensionsOf(view, 1);
  if (view.input_type(0).dtype() != DataType::kFloat32 ||
      view.input_type(1).dtype() != DataType::kFloat32 || boxes.size() != 3 || scores.size() != 3 ||
      view.Differ(boxes, {scores[0], scores[2], Dimension(4)})) {
    return view.Error(absl::StrCat("boxes of ", ToString(view.input_type(0)), " and scores of ",
                                   ToString(view.input_type(1)),
                                   " do not fit: f32[batch, n, 4] and f32[batch, classes, n] are "
                                   "needed"));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckOne(view, 2, DataType::kInt64));
  SLIPWAY_RETURN_IF_ERROR(CheckOne(view, 3, DataType::kFloat32));
  SLIPWAY_RETURN_IF_ERROR(CheckOne(view, 4, DataType::kFloat32));
  return std::vector<ValueType>{ValueType(DataType::kInt64, {Dimension(), Dimension(3)})};
}

}  // namespace

absl::Status RegisterDetectionOperators(OperatorRegistry& registry) {
  OperatorSchema suppression;
  suppression.name = "NonMaxSuppression";
  suppression.min_inputs = 2;
  suppression.max_inputs = 5;
  suppression.type_rule = NonMaxSuppressionType;
  suppression.attributes = {IntAttribute("center_point_box", 0)};
  return registry.Add(suppression);
}

}  // namespace slipway
