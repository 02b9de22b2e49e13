#include "core/operators/activation.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::StatusOr<std::vector<ValueType>> FloatType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  return std::vector<ValueType>{view.input_type(0)};
}

absl::StatusOr<std::vector<ValueType>> NumberType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  return std::vector<ValueType>{view.input_type(0)};
}

absl::StatusOr<std::vector<ValueType>> GeluType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeGelu(view).status());
  return FloatType(view);
}

// The slope broadcasts to x, and x to nothing.
absl::StatusOr<std::vector<ValueType>> PReluType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions both, BroadcastAllInputs(view));
  if (both.size() != DimensionsOf(view, 0).size() || view.Differ(both, DimensionsOf(view, 0))) {
    return view.Error(absl::StrCat("a slope of shape ", ToString(DimensionsOf(view, 1)),
                                   " does not broadcast to ", ToString(DimensionsOf(view, 0))));
  }
  return std::vector<ValueType>{view.input_type(0)};
}

absl::StatusOr<std::vector<ValueType>> SwiGluType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  if (view.Differ(DimensionsOf(view, 0), DimensionsOf(view, 1))) {
    return view.Error(absl::StrCat("inputs of shapes ", ToString(DimensionsOf(view, 0)), " and ",
                                   ToString(DimensionsOf(view, 1)), " are not alike"));
  }
  return std::vector<ValueType>{view.input_type(0)};
}

}  // namespace

absl::StatusOr<bool> DecodeGelu(const NodeView& view) {
  const std::string& approximate = view.String("approximate");
  if (approximate == "tanh") return true;
  if (approximate == "none") return false;
  return view.Error(
      absl::StrCat("\"approximate\" is \"", approximate, "\", it must be \"none\" or \"tanh\""));
}

absl::Status RegisterActivationOperators(OperatorRegistry& registry) {
  const OperatorSchema schemas[] = {
      ElementwiseSchema("Celu", 1, FloatType, {FloatAttribute("alpha", 1.0f)}),
      ElementwiseSchema("Gelu", 1, GeluType, {StringAttribute("approximate", "none")}),
      ElementwiseSchema("Mish", 1, FloatType),
      ElementwiseSchema("PRelu", 2, PReluType),
      ElementwiseSchema(
          "Selu", 1, FloatType,
          {FloatAttribute("alpha", 1.67326319f), FloatAttribute("gamma", 1.05070102f)}),
      ElementwiseSchema("Shrink", 1, NumberType,
                        {FloatAttribute("bias", 0.0f), FloatAttribute("lambd", 0.5f)}),
      ElementwiseSchema("Softplus", 1, FloatType),
      ElementwiseSchema("Softsign", 1, FloatType),
      ElementwiseSchema("SwiGLU", 2, SwiGluType, {FloatAttribute("alpha", 1.0f)}),
      ElementwiseSchema("Swish", 1, FloatType, {FloatAttribute("alpha", 1.0f)}),
      ElementwiseSchema("ThresholdedRelu", 1, FloatType, {FloatAttribute("alpha", 1.0f)}),
  };
  return AddAll(registry, schemas);
}

}  // namespace slipway
