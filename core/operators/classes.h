// What classifiers of ai.onnx.ml call their classes: numbers in an attribute of theirs, or "classlabels_strings".
#ifndef SLIPWAY_CORE_OPERATORS_CLASSES_H_
#define SLIPWAY_CORE_OPERATORS_CLASSES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// The type of the labels: i64, or string.
DataType ClassType(const NodeView& view, absl::string_view numbers);
// The labels; of strings their numbers, from 0 on. INVALID_ARGUMENT where there are none.
absl::StatusOr<std::vector<int64_t>> DecodeClasses(const NodeView& view, absl::string_view numbers);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_CLASSES_H_
