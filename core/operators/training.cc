#include "core/operators/training.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

constexpr int kFirstTensor = 2;

// Every tensor comes with its gradient and `states` tensors like it.
template <int states>
absl::StatusOr<std::vector<ValueType>> OptimizerType(const NodeView& view) {
  constexpr int kEach = 2 + states;
  const int tensors = view.num_inputs() - kFirstTensor;
  if (tensors < kEach || tensors % kEach != 0) {
    return view.Error(
        absl::StrCat(tensors, " tensors (inputs from 2 on) are no multiple of ", kEach));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, {DataType::kInt64}));
  for (const int scalar : {0, 1}) {
    if (view.Differ(NumElements(DimensionsOf(view, scalar)), 1)) {
      return view.Error(absl::StrCat("input ", scalar, " of shape ",
                                     ToString(DimensionsOf(view, scalar)), " is not one number"));
    }
  }
  const int count = tensors / kEach;
  std::vector<ValueType> types;
  for (int group = 0; group < kEach; ++group) {
    for (int i = 0; i < count; ++i) {
      const int input = kFirstTensor + group * count + i;
      const ValueType& value = view.input_type(kFirstTensor + i);
      SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, input, TypeSet::kFloat));
      if (view.input_type(input).dtype() != value.dtype() ||
          view.Differ(DimensionsOf(view, input), value.dimensions())) {
        return view.Error(absl::StrCat("input ", input, " is ", ToString(view.input_type(input)),
                                       ", the tensor that it belongs to ", ToString(value)));
      }
      if (group != 1) types.push_back(value);
    }
  }
  return types;
}

absl::StatusOr<std::vector<ValueType>> GradientType(const NodeView& view) {
  const int64_t derived = view.Int(kDerivedInputs);
  const int64_t captured = view.Int(kCapturesAttribute);
  const Graph& body = view.Body(kGradientBody);
  if (derived < view.num_outputs() || captured < 0 || derived > view.num_inputs() ||
      captured > view.num_inputs() - derived) {
    return view.Error(absl::StrCat("has ", view.num_inputs(), " inputs and ", view.num_outputs(),
                                   " outputs, derives by ", derived, " and captures ", captured));
  }
  if (body.outputs.size() != 1 || static_cast<int>(body.inputs.size()) != view.num_inputs()) {
    return view.Error(absl::StrCat("its body has ", body.inputs.size(), " inputs and ",
                                   body.outputs.size(), " outputs, it must have ",
                                   view.num_inputs(), " and 1"));
  }
  std::vector<ValueType> types;
  for (int i = 0; i < static_cast<int>(derived); ++i) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, i, TypeSet::kAnyFloat));
    types.emplace_back(view.input_type(i).dtype(), DimensionsOf(view, i));
  }
  return types;
}

absl::StatusOr<std::vector<ValueType>> GradientBodyInputs(const NodeView& view, absl::string_view) {
  SLIPWAY_RETURN_IF_ERROR(GradientType(view).status());
  std::vector<ValueType> types;
  for (int i = 0; i < view.num_inputs(); ++i) types.push_back(view.input_type(i));
  return types;
}

absl::StatusOr<std::vector<ValueType>> MomentumType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeNesterov(view).status());
  return OptimizerType<1>(view);
}

}  // namespace

absl::StatusOr<bool> DecodeNesterov(const NodeView& view) {
  const std::string& mode = view.String("mode");
  if (mode == "nesterov" || mode == "standard") return mode == "nesterov";
  return view.Error(absl::StrCat("\"mode\" is \"", mode, "\", not nesterov or standard"));
}

absl::Status RegisterTrainingOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.min_inputs = kFirstTensor;
  schema.max_inputs = schema.max_outputs = kVariadic;
  schema.name = "ai.onnx.preview.training.Adagrad";
  schema.type_rule = OptimizerType<1>;
  schema.attributes = {FloatAttribute("decay_factor", 0), FloatAttribute("epsilon", 1e-6f),
                       FloatAttribute("norm_coefficient", 0)};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.name = "ai.onnx.preview.training.Adam";
  schema.type_rule = OptimizerType<2>;
  schema.attributes = {FloatAttribute("alpha", 0.9f), FloatAttribute("beta", 0.999f),
                       FloatAttribute("epsilon", 1e-6f), FloatAttribute("norm_coefficient", 0),
                       FloatAttribute("norm_coefficient_post", 0)};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.name = "ai.onnx.preview.training.Momentum";
  schema.type_rule = MomentumType;
  schema.attributes = {Required(FloatAttribute("alpha", std::nullopt)),
                       Required(FloatAttribute("beta", std::nullopt)),
                       Required(StringAttribute("mode", std::nullopt)),
                       Required(FloatAttribute("norm_coefficient", std::nullopt))};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.min_inputs = 1;
  schema.name = kGradientOperator;
  schema.type_rule = GradientType;
  schema.body_rule = GradientBodyInputs;
  schema.attributes = {{kGradientBody, AttributeKind::kGraph, true},
                       Required(IntAttribute(kDerivedInputs, std::nullopt)),
                       IntAttribute(kCapturesAttribute, 0)};
  return registry.Add(schema);
}

}  // namespace slipway
