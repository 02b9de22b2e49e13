// TypeOf: what a type rule says of a node given as text, for this folder's tests.
#ifndef SLIPWAY_CORE_OPERATORS_TYPE_OF_H_
#define SLIPWAY_CORE_OPERATORS_TYPE_OF_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/graph/text.h"
#include "core/operators/register_all.h"

namespace slipway {

// TypeOf("%x: f32[2, 3]", "%y = Relu(%x)") is "f32[2, 3]"; several outputs are joined by "; ", and an
// error is its text. `inputs` are the graph's; constants may stand in front of the node.
inline std::string TypeOf(absl::string_view inputs, absl::string_view node) {
  const OperatorRegistry registry = StandardOperators();
  const auto graph = ParseGraph(absl::StrCat("graph \"t\" (", inputs, ") -> () {\n", node, "\n}"));
  if (!graph.ok()) return graph.status().ToString();
  const auto types = InferNodeTypes(*graph, graph->nodes.back(), registry);
  if (!types.ok()) return types.status().ToString();
  return absl::StrJoin(*types, "; ", [](std::string* out, const ValueType& type) {
    absl::StrAppend(out, ToString(type));
  });
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_TYPE_OF_H_
