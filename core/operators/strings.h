// Operators over strings: ONNX's, and those of our own that they are written with (core/reference/string_nodes.h), which see a
// tensor of strings as two: places and contents (core/tensor/string_layout.h).
#ifndef SLIPWAY_CORE_OPERATORS_STRINGS_H_
#define SLIPWAY_CORE_OPERATORS_STRINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

enum class CaseChange { kNone, kUpper, kLower };

struct StringNormalizerView {
  std::vector<std::string> stopwords;
  bool is_case_sensitive = false;
  CaseChange change = CaseChange::kNone;
};
absl::StatusOr<StringNormalizerView> DecodeStringNormalizer(const NodeView& view);

// CategoryMapper: text and number of each category, and what stands for any other.
struct CategoriesView {
  std::vector<std::string> strings;
  std::vector<int64_t> numbers;  // As many.
};
absl::StatusOr<CategoriesView> DecodeCategories(const NodeView& view);

absl::Status RegisterStringsOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_STRINGS_H_
