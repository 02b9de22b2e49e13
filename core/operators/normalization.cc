#include "core/operators/normalization.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

// Inputs [1, last] have a number for each channel of x, which has rank 2 at least.
absl::Status CheckChannels(const NodeView& view, int last) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2));
  const Dimensions channels = DimensionsOf(view, 0, 1, 1);
  for (int i = 0; i <= last; ++i) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, i, TypeSet::kAnyFloat));
    if (i == 0 || !view.Differ(DimensionsOf(view, i), channels)) continue;
    return view.Error(absl::StrCat("input ", i, " has the shape ", ToString(DimensionsOf(view, i)),
                                   " where ", ToString(channels), " is needed"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ValueType>> BatchNormalizationType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckChannels(view, 4));
  if (view.Int("training_mode") == 0) {
    if (view.has_output(1) || view.has_output(2)) {
      return view.Error("makes a mean and a variance in training mode alone");
    }
    return std::vector<ValueType>(view.num_outputs(), view.input_type(0));
  }
  return std::vector<ValueType>{view.input_type(0), view.input_type(3), view.input_type(4)};
}

absl::StatusOr<std::vector<ValueType>> InstanceNormalizationType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckChannels(view, 2));
  return std::vector<ValueType>{view.input_type(0)};
}

absl::StatusOr<std::vector<ValueType>> GroupNormalizationType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeGroupNormalization(view).status());
  return std::vector<ValueType>{view.input_type(0)};
}

absl::StatusOr<std::vector<ValueType>> LayerNormalizationType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeLayerNormalization(view));
  const auto stash = DataTypeFromNumber(view.Int("stash_type"));
  if (!stash.ok() || (*stash != DataType::kFloat32 && *stash != DataType::kBfloat16)) {
    return view.Error(absl::StrCat("\"stash_type\" is ", view.Int("stash_type"),
                                   ", it must be that of f32 or bf16"));
  }
  if (view.op() == "RMSNormalization") {
    return std::vector<ValueType>{ValueType(view.input_type(1).dtype(), DimensionsOf(view, 0))};
  }
  Dimensions reduced = DimensionsOf(view, 0);
  for (size_t d = static_cast<size_t>(axis); d < reduced.size(); ++d) reduced[d] = 1;
  return std::vector<ValueType>{view.input_type(0), ValueType(*stash, reduced),
                                ValueType(*stash, reduced)};
}

// Of operators that make what they take, when its node decodes.
template <auto kDecode>
absl::StatusOr<std::vector<ValueType>> DecodedType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(kDecode(view).status());
  return std::vector<ValueType>{view.input_type(0)};
}

// Of operators whose lowering takes what is elementwise behind it.
OperatorSchema Anchoring(absl::string_view name, Arity inputs, TypeRule rule,
                         std::vector<AttributeSchema> attributes) {
  OperatorSchema schema = OpaqueSchema(name, inputs, std::move(rule), std::move(attributes));
  schema.pattern = Pattern::kOutFusable;
  return schema;
}

}  // namespace

absl::StatusOr<int64_t> DecodeSoftmax(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  return NormalizeAxis(view, view.Int("axis"), view.input_type(0).rank());
}

absl::StatusOr<LrnView> DecodeLrn(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2));
  LrnView lrn{view.Float("alpha"), view.Float("beta"), view.Float("bias"), view.Int("size")};
  if (lrn.size < 1) return view.Error(absl::StrCat("\"size\" is ", lrn.size, ", it must be > 0"));
  return lrn;
}

absl::StatusOr<int64_t> DecodeLayerNormalization(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  for (int i = 0; i < view.num_inputs(); ++i) {
    if (!view.has_input(i)) continue;
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, i, TypeSet::kAnyFloat));
    SLIPWAY_ASSIGN_OR_RETURN(const Dimensions both,
                             BroadcastInputs(view, DimensionsOf(view, 0), DimensionsOf(view, i)));
    if (both.size() != DimensionsOf(view, 0).size() || view.Differ(both, DimensionsOf(view, 0))) {
      return view.Error(absl::StrCat("input ", i, " of shape ", ToString(DimensionsOf(view, i)),
                                     " does not broadcast to ", ToString(DimensionsOf(view, 0))));
    }
  }
  return NormalizeAxis(view, view.Int("axis"), view.input_type(0).rank());
}

absl::StatusOr<int64_t> DecodeGroupNormalization(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckChannels(view, 2));
  const int64_t groups = view.Int("num_groups");
  const Dimension channels = view.input_type(0).dimension(1);
  if (!Divides(view, groups, channels)) {
    return view.Error(absl::StrCat("\"num_groups\" is ", groups, ", which does not divide ",
                                   ToString(channels), " channels"));
  }
  return groups;
}

absl::StatusOr<LpNormalizationView> DecodeLpNormalization(const NodeView& view) {
  LpNormalizationView norm;
  SLIPWAY_ASSIGN_OR_RETURN(norm.axis, DecodeSoftmax(view));
  norm.order = view.Int("p");
  if (norm.order == 1 || norm.order == 2) return norm;
  return view.Error(absl::StrCat("\"p\" is ", norm.order, ", it must be 1 or 2"));
}

absl::StatusOr<std::vector<int64_t>> DecodeMeanVarianceNormalization(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  const std::vector<int64_t> axes =
      view.has("axes") ? view.Ints("axes") : std::vector<int64_t>{0, 2, 3};
  return NormalizeAxes(view, axes, view.input_type(0).rank());
}

absl::Status RegisterNormalizationOperators(OperatorRegistry& registry) {
  OperatorSchema batch;
  batch.name = "BatchNormalization";
  batch.min_inputs = batch.max_inputs = 5;
  batch.max_outputs = 3;
  batch.pattern = Pattern::kBroadcast;
  batch.type_rule = BatchNormalizationType;
  batch.attributes = {FloatAttribute("epsilon", 1e-5f), FloatAttribute("momentum", 0.9f),
                      IntAttribute("training_mode", 0)};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(batch));

  OperatorSchema layer = Anchoring(
      "LayerNormalization", 2, LayerNormalizationType,
      {IntAttribute("axis", -1), FloatAttribute("epsilon", 1e-5f), IntAttribute("stash_type", 1)});
  OperatorSchema root = layer;
  root.name = "RMSNormalization";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(root));
  layer.max_inputs = 3;
  layer.max_outputs = 3;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(layer));

  OperatorSchema group = Anchoring(
      "GroupNormalization", 3, GroupNormalizationType,
      {FloatAttribute("epsilon", 1e-5f), Required(IntAttribute("num_groups", std::nullopt)),
       IntAttribute("stash_type", 1)});
  OperatorSchema instance = Anchoring("InstanceNormalization", 3, InstanceNormalizationType,
                                      {FloatAttribute("epsilon", 1e-5f)});
  for (OperatorSchema* schema : {&group, &instance}) {
    schema->layout.role = LayoutRole::kNormalization;
    SLIPWAY_RETURN_IF_ERROR(registry.Add(*schema));
  }

  const OperatorSchema schemas[] = {
      OpaqueSchema("Hardmax", 1, DecodedType<DecodeSoftmax>, {IntAttribute("axis", -1)}),
      OpaqueSchema("LogSoftmax", 1, DecodedType<DecodeSoftmax>, {IntAttribute("axis", -1)}),
      OpaqueSchema("LpNormalization", 1, DecodedType<DecodeLpNormalization>,
                   {IntAttribute("axis", -1), IntAttribute("p", 2)}),
      OpaqueSchema("LRN", 1, DecodedType<DecodeLrn>,
                   {FloatAttribute("alpha", 0.0001f), FloatAttribute("beta", 0.75f),
                    FloatAttribute("bias", 1), Required(IntAttribute("size", std::nullopt))}),
      OpaqueSchema("MeanVarianceNormalization", 1, DecodedType<DecodeMeanVarianceNormalization>,
                   {IntsAttribute("axes")}),
      Anchoring("Softmax", 1, DecodedType<DecodeSoftmax>, {IntAttribute("axis", -1)}),
  };
  return AddAll(registry, schemas);
}

}  // namespace slipway
