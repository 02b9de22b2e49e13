// What is known of the elements of a graph's small integer tensors while types are inferred (OperatorSchema::contents_rule).
#ifndef SLIPWAY_CORE_PASSES_CONTENTS_H_
#define SLIPWAY_CORE_PASSES_CONTENTS_H_

#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/tensor/tensor.h"

namespace slipway {

class KnownContents {
 public:
  // Makes the view see what is known of its inputs, which stays valid until Learn.
  void Show(const Node& node, NodeView& view) const;
  // Asks the rule of the node's operator about output 0, whose type is inferred. Returns the tensor that it will hold where
  // all of it is known.
  std::optional<Tensor> Learn(const Graph& graph, const Node& node, const NodeView& view);

 private:
  std::vector<std::optional<Dimensions>> of_value_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_CONTENTS_H_
