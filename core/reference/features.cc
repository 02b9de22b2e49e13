#include "core/operators/features.h"

#include <utility>
#include <vector>

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
  AddLabel(encoder.otherwise.numbers[0], parameters);
  AddLabels(encoder.keys.numbers, parameters);
  AddLabels(encoder.values.numbers, parameters);
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

absl::Status TfIdf(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const GramsView grams, DecodeGrams(view));
  parameters.Add(static_cast<int64_t>(grams.mode));
  parameters.Add(grams.min_length);
  parameters.Add(grams.max_length);
  parameters.Add(grams.max_skip);
  parameters.Add(std::ssize(grams.by_length));
  for (const auto& of_length : grams.by_length) parameters.Add(std::ssize(of_length));
  for (const auto& of_length : grams.by_length) {
    for (const Gram& gram : of_length) {
      parameters.AddAll(gram.items);
      parameters.Add(gram.column);
      parameters.AddReal(gram.weight);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterFeaturesKernels(KernelColumn& kernels) {
  const std::pair<const char*, CallableKernel> rows[] = {
      {"ai.onnx.ml.ArrayFeatureExtractor",
       {"slipway_ArrayFeatureExtractor", slipway_ArrayFeatureExtractor, nullptr}},
      {"ai.onnx.ml.Imputer", {"slipway_Imputer", slipway_Imputer, Imputer}},
      {"ai.onnx.ml.LabelEncoder", {"slipway_LabelEncoder", slipway_LabelEncoder, LabelEncoder}},
      {"ai.onnx.ml.Normalizer", {"slipway_Normalizer", slipway_Normalizer, Normalizer}},
      {"ai.onnx.ml.OneHotEncoder", {"slipway_OneHotEncoder", slipway_OneHotEncoder, OneHot}},
      {"TfIdfVectorizer", {"slipway_TfIdfVectorizer", slipway_TfIdfVectorizer, TfIdf}},
  };
  for (const auto& [op, kernel] : rows) {
    SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  }
  return absl::OkStatus();
}

}  // namespace slipway
