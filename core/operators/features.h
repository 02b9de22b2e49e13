// What stands before and behind models of classical learning, of the domain ai.onnx.ml: ArrayFeatureExtractor, Imputer,
// LabelEncoder, Normalizer, OneHotEncoder; and ONNX's TfIdfVectorizer. What of their attributes are
// strings, core/reference/string_nodes.h replaces by numbers.
#ifndef SLIPWAY_CORE_OPERATORS_FEATURES_H_
#define SLIPWAY_CORE_OPERATORS_FEATURES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// A number of a list, in both forms that kernels compare and store.
struct Label {
  int64_t integer = 0;
  double real = 0;
};

// Labels of one type: numbers, or strings.
struct LabelList {
  DataType dtype = DataType::kInvalid;
  std::vector<Label> numbers;
  std::vector<std::string> strings;

  size_t size() const { return dtype == DataType::kString ? strings.size() : numbers.size(); }
};
// REQUIRES: they are numbers. Of shape [n].
absl::StatusOr<Tensor> ToTensor(const LabelList& list);

// LabelEncoder: what becomes of each key, and of everything else.
struct LabelEncoderView {
  LabelList keys;
  LabelList values;     // As many.
  LabelList otherwise;  // One, of the values' type.
};
absl::StatusOr<LabelEncoderView> DecodeLabelEncoder(const NodeView& view);

// Imputer: what is replaced, and by what: one number, or one for each feature.
struct ImputerView {
  Label replaced;
  std::vector<Label> values;
};
absl::StatusOr<ImputerView> DecodeImputer(const NodeView& view);

// What a row is divided by.
enum class RowNorm { kMax = 0, kSum = 1, kEuclid = 2 };
absl::StatusOr<RowNorm> DecodeRowNorm(const NodeView& view);

// TfIdfVectorizer: what it counts in a row, and where.
enum class GramMode { kCount = 0, kWeight = 1, kWeightedCount = 2 };
struct Gram {
  std::vector<int64_t> items;
  int64_t column = 0;
  double weight = 1;
};
struct GramsView {
  GramMode mode = GramMode::kCount;
  int64_t min_length = 1;
  int64_t max_length = 1;
  int64_t max_skip = 0;  // How many elements lie between two of a gram, at most.
  int64_t columns = 0;
  std::vector<std::vector<Gram>> by_length;  // From 1 on, each sorted by items, none twice.
};
absl::StatusOr<GramsView> DecodeGrams(const NodeView& view);
// A pool of strings with the number of the last equal string in place of each.
std::vector<int64_t> NumberedPool(const std::vector<std::string>& pool);

absl::Status RegisterFeaturesOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_FEATURES_H_
