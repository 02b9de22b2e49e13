// ValuesOf: what the reference makes of nodes over constants given as text, for this folder's tests.
#ifndef SLIPWAY_CORE_REFERENCE_VALUES_OF_H_
#define SLIPWAY_CORE_REFERENCE_VALUES_OF_H_

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"

namespace slipway {

// ValuesOf("const %x: f32[2] = {-1, 1}\n%y = Relu(%x)") is "f32[2] = {0, 1}": the outputs of the last node as the text
// form writes them, joined by "; ". An error is its text.
inline std::string ValuesOf(absl::string_view nodes) {
  const OperatorRegistry registry = StandardOperators();
  auto graph = ParseGraph(absl::StrCat("graph \"t\" () -> () {\n", nodes, "\n}"));
  if (!graph.ok()) return graph.status().ToString();
  for (const ValueId id : graph->nodes.back().outputs) {
    if (id != kNoValue) graph->outputs.push_back(id);
  }
  const auto outputs = Reference(registry).Evaluate(*graph, {});
  if (!outputs.ok()) return outputs.status().ToString();
  return absl::StrJoin(*outputs, "; ", [](std::string* out, const Tensor& tensor) {
    Graph one;
    one.name = "t";
    Value value;
    value.name = "y";
    value.type = tensor.type();
    value.constant = tensor;
    one.values.push_back(std::move(value));
    const std::string text = Print(one);
    const size_t begin = text.find("%y: ") + 4;
    absl::StrAppend(out, text.substr(begin, text.find('\n', begin) - begin));
  });
}

inline std::string ValuesOf(absl::string_view constants, absl::string_view node) {
  return ValuesOf(absl::StrCat(constants, "\n", node));
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_VALUES_OF_H_
