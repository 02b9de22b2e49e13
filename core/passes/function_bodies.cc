#include "core/passes/function_bodies.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/operators/control.h"

namespace slipway {
namespace {

absl::Status CheckSlices(const NodeView& view, const std::vector<Slices>& all) {
  for (const Slices& slices : all) {
    if (slices.axis == 0 && !slices.reverse) continue;
    return view.Unimplemented(
        "slices along another axis than the first, or in reverse, are not supported in programs");
  }
  return absl::OkStatus();
}

const Tensor* ConstantOf(const Graph& graph, ValueId id) {
  const std::optional<Tensor>& constant = graph.values[id].constant;
  return constant.has_value() ? &*constant : nullptr;
}

// Whether a condition is known to hold.
bool Holds(const Tensor* constant) {
  return constant != nullptr && constant->byte_size() == 1 && constant->bytes()[0] != 0;
}

absl::StatusOr<FunctionBody> LoopFunction(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const LoopView loop, DecodeLoop(view));
  SLIPWAY_RETURN_IF_ERROR(CheckSlices(view, loop.scanned));
  SLIPWAY_RETURN_IF_ERROR(CheckSlices(view, loop.collected));
  FunctionBody function{kLoopBody, *loop.body, false};
  Graph& graph = function.graph;
  if (loop.is_scan) {
    UniqueNames names(graph);
    graph.AddInput(names.Make("turn"), TensorType{DataType::kInt64, {}});
    std::rotate(graph.inputs.begin(), graph.inputs.end() - 1, graph.inputs.end());
    return function;
  }
  // A turn is made only where the condition holds.
  const ValueId condition = graph.inputs[1];
  Tensor holds = Tensor::Zeros(DataType::kBool, {});
  holds.mutable_bytes()[0] = 1;
  graph.values[condition].type = holds.type();
  graph.values[condition].constant = std::move(holds);
  graph.inputs.erase(graph.inputs.begin() + 1);
  const bool begins = !view.has_input(1) || Holds(view.constant(1));
  function.has_condition = !begins || !Holds(ConstantOf(graph, graph.outputs[0]));
  if (!function.has_condition) graph.outputs.erase(graph.outputs.begin());
  return function;
}

}  // namespace

absl::StatusOr<std::vector<FunctionBody>> FunctionBodiesOf(const NodeView& view) {
  std::vector<FunctionBody> functions;
  if (view.op() == kIfOperator) {
    SLIPWAY_ASSIGN_OR_RETURN(const IfView branches, DecodeIf(view));
    functions.push_back({kThenBody, *branches.then_body});
    functions.push_back({kElseBody, *branches.else_body});
  } else if (view.op() == kLoopOperator || view.op() == kScanOperator) {
    SLIPWAY_ASSIGN_OR_RETURN(FunctionBody function, LoopFunction(view));
    functions.push_back(std::move(function));
  }
  return functions;
}

}  // namespace slipway
