#include "core/operators/elementwise.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/contents.h"

namespace slipway {
namespace {

template <TypeSet kSet>
absl::StatusOr<std::vector<ValueType>> UnaryType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kSet));
  return std::vector<ValueType>{view.input_type(0)};
}

absl::StatusOr<std::vector<ValueType>> ClipType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  for (const int bound : {1, 2}) {
    if (view.has_input(bound) && view.Differ(NumElements(DimensionsOf(view, bound)), 1)) {
      return view.Error(absl::StrCat("bound (input ", bound, ") of shape ",
                                     ToString(DimensionsOf(view, bound)), " is not one number"));
    }
  }
  return std::vector<ValueType>{view.input_type(0)};
}

// A node that trains has a result that can be told only where it drops nothing.
absl::Status CheckNothingDropped(const NodeView& view) {
  if (view.has_input(1)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Tensor* ratio, view.RequireConstant(1, "ratio"));
    const absl::Span<const char> bytes = ratio->bytes();
    if (std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; })) {
      return absl::OkStatus();
    }
  }
  return view.Unimplemented("dropout in training mode is not supported but for the ratio 0");
}

absl::StatusOr<std::vector<ValueType>> DropoutType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  if (view.has_input(2)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Tensor* training, view.RequireConstant(2, "training mode"));
    if (training->dtype() != DataType::kBool || training->num_elements() != 1) {
      return view.Error("the training mode (input 2) must be one bool");
    }
    if (training->values<bool>()[0]) SLIPWAY_RETURN_IF_ERROR(CheckNothingDropped(view));
  }
  return std::vector<ValueType>{view.input_type(0),
                                ValueType(DataType::kBool, DimensionsOf(view, 0))};
}

OperatorSchema Unary(absl::string_view name, TypeRule rule,
                     std::vector<AttributeSchema> attributes = {}) {
  OperatorSchema schema;
  schema.name = std::string(name);
  schema.attributes = std::move(attributes);
  schema.pattern = Pattern::kElementwise;
  schema.layout.role = LayoutRole::kElementwise;
  schema.type_rule = std::move(rule);
  return schema;
}

// What has no lowering.
OperatorSchema Opaque(absl::string_view name, TypeRule rule) {
  OperatorSchema schema;
  schema.name = std::string(name);
  schema.type_rule = std::move(rule);
  return schema;
}

}  // namespace

absl::Status RegisterElementwiseOperators(OperatorRegistry& registry) {
  for (const char* name :
       {"Cos", "Erf", "Exp", "HardSwish", "Log", "Reciprocal", "Sigmoid", "Sin", "Sqrt", "Tanh"}) {
    SLIPWAY_RETURN_IF_ERROR(registry.Add(Unary(name, UnaryType<TypeSet::kAnyFloat>)));
  }
  for (const char* name : {"Ceil", "Floor", "Round"}) {
    SLIPWAY_RETURN_IF_ERROR(
        registry.Add(Knowing(Unary(name, UnaryType<TypeSet::kAnyFloat>), SameContents)));
  }
  for (const char* name : {"Abs", "Neg", "Relu", "Sign"}) {
    SLIPWAY_RETURN_IF_ERROR(registry.Add(Unary(name, UnaryType<TypeSet::kAnyNumeric>)));
  }
  for (const char* name :
       {"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Sinh", "Tan"}) {
    SLIPWAY_RETURN_IF_ERROR(registry.Add(Opaque(name, UnaryType<TypeSet::kAnyFloat>)));
  }
  OperatorSchema identity = Unary("Identity", UnaryType<TypeSet::kSized>);
  identity.movement = Movement::kView;
  identity.moves_elements = true;
  identity.contents_rule = SameContents;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(identity));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(
      Unary("LeakyRelu", UnaryType<TypeSet::kAnyFloat>, {FloatAttribute("alpha", 0.01f)})));
  SLIPWAY_RETURN_IF_ERROR(
      registry.Add(Unary("Elu", UnaryType<TypeSet::kAnyFloat>, {FloatAttribute("alpha", 1.0f)})));
  SLIPWAY_RETURN_IF_ERROR(
      registry.Add(Unary("HardSigmoid", UnaryType<TypeSet::kAnyFloat>,
                         {FloatAttribute("alpha", 0.2f), FloatAttribute("beta", 0.5f)})));

  OperatorSchema clip = Unary("Clip", ClipType);
  clip.max_inputs = 3;
  clip.pattern = Pattern::kBroadcast;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(clip));

  OperatorSchema dropout = Unary("Dropout", DropoutType, {IntAttribute("seed", std::nullopt)});
  dropout.max_inputs = 3;
  dropout.max_outputs = 2;
  return registry.Add(dropout);
}

}  // namespace slipway
