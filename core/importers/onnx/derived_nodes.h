// What an ai.onnx.preview.training.Gradient derives: the nodes between values around it. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_DERIVED_NODES_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_DERIVED_NODES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"

namespace slipway {

// In a model, and while it is imported.
inline constexpr absl::string_view kOnnxGradient = "ai.onnx.preview.training.Gradient";

// What the attributes "xs", "zs" and "y" name. INVALID_ARGUMENT for others, and where "xs" or "y" is missing.
struct DerivedNames {
  std::vector<std::string> from;  // xs, then zs, which are constant.
  int64_t derived = 0;            // How many xs.
  std::string to;                 // y
};
absl::StatusOr<DerivedNames> DecodeDerivedNames(const Attributes& attributes);

// A slipway.Gradient (core/operators/training.h) without outputs whose body are the graph's nodes between `from` and `to`, and
// that is given `inputs` in the place of `from`. What else the nodes read it captures. REQUIRES: as many inputs as `from`.
Node GradientOf(const Graph& graph, const DerivedNames& names, const std::vector<ValueId>& from,
                ValueId to, std::vector<ValueId> inputs);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_DERIVED_NODES_H_
