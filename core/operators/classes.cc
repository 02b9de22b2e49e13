#include "core/operators/classes.h"

#include <numeric>

#include "absl/strings/str_cat.h"

namespace slipway {

DataType ClassType(const NodeView& view, absl::string_view numbers) {
  return view.has(numbers) ? DataType::kInt64 : DataType::kString;
}

absl::StatusOr<std::vector<int64_t>> DecodeClasses(const NodeView& view,
                                                   absl::string_view numbers) {
  if (view.has(numbers)) return view.Ints(numbers);
  if (!view.has("classlabels_strings")) {
    return view.Error(
        absl::StrCat("neither \"", numbers, "\" nor \"classlabels_strings\" is given"));
  }
  std::vector<int64_t> labels(view.Strings("classlabels_strings").size());
  std::iota(labels.begin(), labels.end(), 0);
  return labels;
}

}  // namespace slipway
