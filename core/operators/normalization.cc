#include "core/operators/normalization.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> BatchNormalizationType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2));
  if (view.Int("training_mode") != 0 || view.has_output(1)) {
    return view.Unimplemented("batch normalization in training mode is not supported");
  }
  const Dimensions channels = DimensionsOf(view, 0, 1, 1);
  for (int i = 1; i < 5; ++i) {
    if (!Contradict(DimensionsOf(view, i), channels)) continue;
    return view.Error(absl::StrCat("input ", i, " has the shape ", ToString(DimensionsOf(view, i)),
                                   " where ", ToString(channels), " is needed"));
  }
  return std::vector<ValueType>(view.num_outputs(), view.input_type(0));
}

absl::StatusOr<std::vector<ValueType>> LrnType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeLrn(view).status());
  return std::vector<ValueType>{view.input_type(0)};
}

absl::StatusOr<std::vector<ValueType>> SoftmaxType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeSoftmax(view).status());
  return std::vector<ValueType>{view.input_type(0)};
}

}  // namespace

absl::StatusOr<int64_t> DecodeSoftmax(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  return NormalizeAxis(view, view.Int("axis"), view.input_type(0).rank());
}

absl::StatusOr<LrnView> DecodeLrn(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2));
  LrnView lrn{view.Float("alpha"), view.Float("beta"), view.Float("bias"), view.Int("size")};
  if (lrn.size < 1) return view.Error(absl::StrCat("\"size\" is ", lrn.size, ", it must be > 0"));
  return lrn;
}

absl::Status RegisterNormalizationOperators(OperatorRegistry& registry) {
  OperatorSchema batch;
  batch.name = "BatchNormalization";
  batch.min_inputs = batch.max_inputs = 5;
  batch.max_outputs = 3;
  batch.pattern = Pattern::kBroadcast;  // But not kElementwise in layouts: channels stand alone.
  batch.type_rule = BatchNormalizationType;
  batch.attributes = {FloatAttribute("epsilon", 1e-5f), FloatAttribute("momentum", 0.9f),
                      IntAttribute("training_mode", 0)};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(batch));

  OperatorSchema lrn;
  lrn.name = "LRN";
  lrn.type_rule = LrnType;
  lrn.attributes = {FloatAttribute("alpha", 0.0001f), FloatAttribute("beta", 0.75f),
                    FloatAttribute("bias", 1), Required(IntAttribute("size", std::nullopt))};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(lrn));

  OperatorSchema softmax;
  softmax.name = "Softmax";
  softmax.type_rule = SoftmaxType;
  softmax.attributes = {IntAttribute("axis", -1)};
  return registry.Add(softmax);
}

}  // namespace slipway
