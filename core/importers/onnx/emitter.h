// Emitter: what the importer and the upgraders append nodes with. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_EMITTER_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_EMITTER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/graph/edit.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Appends checked nodes to a graph. `graph` and `registry` must outlive it; values are added to `graph` by it alone, those
// with names of the model first, so that fresh names differ from all of theirs.
class Emitter {
 public:
  Emitter(Graph& graph, const OperatorRegistry& registry);

  // Checks the node against its operator's schema and appends it; gives its outputs types where the
  // type rule can tell. Errors name the node.
  absl::Status Emit(Node node);

  // A new value for something between two nodes.
  ValueId AddValue(absl::string_view wanted_name);
  // Makes a constant of a value.
  void SetConstant(ValueId id, Tensor tensor);
  // A constant list of i64.
  ValueId AddInts(absl::string_view wanted_name, const std::vector<int64_t>& values);
  // A constant list of f32.
  ValueId AddFloats(absl::string_view wanted_name, const std::vector<float>& values);
  ValueId AddConstant(absl::string_view wanted_name, Tensor tensor);
  // A constant of the float type that `like` has, f32 where it has another, or none that is known.
  ValueId AddScalar(absl::string_view wanted_name, float value, ValueId like);

  // Null while unknown. Valid until the next value is added.
  const ValueType* type(ValueId id) const;
  const Tensor* constant(ValueId id) const;  // Likewise.
  const Graph& graph() const { return graph_; }

 private:
  Graph& graph_;
  const OperatorRegistry& registry_;
  UniqueNames names_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_EMITTER_H_
