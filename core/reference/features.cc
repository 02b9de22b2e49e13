#include "core/operators/features.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kernels/features.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

void AddLabel(const Label& label, KernelParameters& parameters) {
  parameters.Add(label.integer);
  parameters.AddReal(label.real);
}

void AddLabels(const std::vector<Label>& labels, KernelParameters& parameters) {
  parameters.Add(static_cast<int64_t>(labels.size()));
  for (const Label& label : labels) AddLabel(label, parameters);
}

absl::Status Imputer(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const ImputerView imputer, DecodeImputer(view));
  AddLabel(imputer.replaced, parameters);
  AddLabels(imputer.values, parameters);
  return absl::OkStatus();
}

absl::Status LabelEncoder(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const LabelEncoderView encoder, DecodeLabelEncoder(view));
  AddLabel(encoder.otherwise, parameters);
  AddLabels(encoder.keys, parameters);
  AddLabels(encoder.values, parameters);
  return absl::OkStatus();
}

absl::Status Normalizer(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const RowNorm norm, DecodeRowNorm(view));
  parameters.Add(static_cast<int64_t>(norm));
  return absl::OkStatus();
}

absl::Status OneHot(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("zeros"));
  std::vector<Label> labels;
  for (const int64_t category : view.Ints("cats_int64s")) labels.push_back({category, 0});
  AddLabels(labels, parameters);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterFeaturesKernels(KernelColumn& kernels) {
  const std::pair<const char*, CallableKernel> rows[] = {
      {"ArrayFeatureExtractor",
       {"slipway_ArrayFeatureExtractor", slipway_ArrayFeatureExtractor, nullptr}},
      {"Imputer", {"slipway_Imputer", slipway_Imputer, Imputer}},
      {"LabelEncoder", {"slipway_LabelEncoder", slipway_LabelEncoder, LabelEncoder}},
      {"Normalizer", {"slipway_Normalizer", slipway_Normalizer, Normalizer}},
      {"OneHotEncoder", {"slipway_OneHotEncoder", slipway_OneHotEncoder, OneHot}},
  };
  for (const auto& [op, kernel] : rows) {
    SLIPWAY_RETURN_IF_ERROR(kernels.Add(absl::StrCat("ai.onnx.ml.", op), kernel));
  }
  return absl::OkStatus();
}

}  // namespace slipway
