// ValueNames: what values are called in a model. A body sees the names around it, and may give none of them to a value of its
// own. Private to this folder.
#ifndef SLIPWAY_CORE_EXPORTERS_ONNX_VALUE_NAMES_H_
#define SLIPWAY_CORE_EXPORTERS_ONNX_VALUE_NAMES_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/tensor/tensor.h"

namespace slipway {

// By value of one graph.
struct GraphNames {
  std::vector<std::string> name;
  // Whether the name stands for something around the graph: what a body captures, and a constant that is there under the
  // same name with the same bytes.
  std::vector<bool> is_outer;
};

// Not thread-safe.
class ValueNames {
 public:
  // The names of the graph's values, theirs as far as nothing around has them; they are taken until Leave. `captured` are the
  // names of its last inputs, which are around it. Graphs must outlive their Leave, and are left innermost first.
  GraphNames Enter(const Graph& graph, const std::vector<std::string>& captured);
  void Leave();
  // A name for a value of the graph entered last that it has not got itself.
  std::string Make(absl::string_view wanted);

 private:
  absl::flat_hash_map<std::string, const Tensor*>
      taken_;                                  // With the constant of that name, or null.
  std::vector<std::vector<std::string>> own_;  // Of the graphs entered, outermost first.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_EXPORTERS_ONNX_VALUE_NAMES_H_
