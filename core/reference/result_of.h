// ResultOf: what the reference makes of a node given as text, for this folder's tests.
#ifndef SLIPWAY_CORE_REFERENCE_RESULT_OF_H_
#define SLIPWAY_CORE_REFERENCE_RESULT_OF_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"

namespace slipway {

// ResultOf("const %x: f32[2] = {1, -2}", "%y = Relu(%x)") is "f32[2] = {1, 0}"; several outputs, listed in `outputs`, are
// joined by "; ", and an error is its text.
inline std::string ResultOf(absl::string_view constants, absl::string_view node,
                            absl::string_view outputs = "%y") {
  const auto graph = ParseGraph(
      absl::StrCat("graph \"t\" () -> (", outputs, ") {\n", constants, "\n", node, "\n}"));
  if (!graph.ok()) return graph.status().ToString();
  const OperatorRegistry registry = StandardOperators();
  const auto results = Reference(registry).Evaluate(*graph, {});
  if (!results.ok()) return results.status().ToString();
  std::string text;
  for (const Tensor& result : *results) {
    Graph printed;
    printed.outputs.push_back(printed.AddConstant("y", result));
    const std::string all = Print(printed);
    const std::string start = "const %y: ";
    const size_t begin = all.find(start) + start.size();
    absl::StrAppend(&text, text.empty() ? "" : "; ",
                    all.substr(begin, all.find('\n', begin) - begin));
  }
  return text;
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_REFERENCE_RESULT_OF_H_
