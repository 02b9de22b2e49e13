#include "core/operators/loss.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

// x [N, C, d...], classes [N, d...], a weight for each of the C classes.
absl::StatusOr<std::vector<ValueType>> LossType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, {DataType::kInt32, DataType::kInt64}));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2));
  SLIPWAY_ASSIGN_OR_RETURN(const LossView loss, DecodeLoss(view));
  const Dimensions x = DimensionsOf(view, 0);
  Dimensions samples = x;
  samples.erase(samples.begin() + 1);
  if (view.Differ(DimensionsOf(view, 1), samples)) {
    return view.Error(absl::StrCat("the classes (input 1) have the shape ",
                                   ToString(DimensionsOf(view, 1)), " where ", ToString(samples),
                                   " is needed"));
  }
  if (view.has_input(2)) {
    if (view.input_type(2).dtype() != view.input_type(0).dtype()) {
      return view.Error(absl::StrCat("the weights (input 2) are of type ",
                                     Name(view.input_type(2).dtype()), ", input 0 of type ",
                                     Name(view.input_type(0).dtype())));
    }
    if (view.Differ(DimensionsOf(view, 2), {x[1]})) {
      return view.Error(absl::StrCat("the weights (input 2) have the shape ",
                                     ToString(DimensionsOf(view, 2)), " where [", ToString(x[1]),
                                     "] is needed"));
    }
  }
  const DataType dtype = view.input_type(0).dtype();
  const bool reduced = loss.reduction != LossReduction::kNone;
  return std::vector<ValueType>{ValueType(dtype, reduced ? Dimensions() : samples),
                                ValueType(dtype, x)};
}

}  // namespace

absl::StatusOr<LossView> DecodeLoss(const NodeView& view) {
  LossView loss;
  const std::string& reduction = view.String("reduction");
  if (reduction == "none") {
    loss.reduction = LossReduction::kNone;
  } else if (reduction == "sum") {
    loss.reduction = LossReduction::kSum;
  } else if (reduction != "mean") {
    return view.Error(absl::StrCat("\"reduction\" is \"", reduction, "\", not none, sum or mean"));
  }
  if (view.has("ignore_index")) loss.ignored = view.Int("ignore_index");
  return loss;
}

absl::Status RegisterLossOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.min_inputs = 2;
  schema.max_inputs = 3;
  schema.type_rule = LossType;
  schema.attributes = {IntAttribute("ignore_index", std::nullopt),
                       StringAttribute("reduction", "mean")};
  schema.name = "NegativeLogLikelihoodLoss";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.name = "SoftmaxCrossEntropyLoss";
  schema.max_outputs = 2;
  return registry.Add(schema);
}

}  // namespace slipway
