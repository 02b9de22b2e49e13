// Nodes whose result is known at compile time.
#ifndef SLIPWAY_CORE_PASSES_CONSTANT_NODE_H_
#define SLIPWAY_CORE_PASSES_CONSTANT_NODE_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"

namespace slipway {

// Whether all inputs are constants; of an operator that reads types only, whether all their
// extents are known. Never
// for random and unknown operators.
bool IsConstantNode(const Graph& graph, const Node& node, const OperatorRegistry& registry);

// A DequantizeLinear of a constant of 8 bits: weights that FoldQuantization takes as they are.
bool IsDequantizedConstant(const Graph& graph, const Node& node);

// One tensor an output, unset where omitted. RESOURCE_EXHAUSTED where it takes more work than `work_left`, off which goes what
// was done. REQUIRES: IsConstantNode.
absl::StatusOr<std::vector<Tensor>> EvaluateConstantNode(const Graph& graph, const Node& node,
                                                         const PassContext& context,
                                                         int64_t& work_left);

// The node's result where that is its first input's elements as they are or in another order: nothing is computed, and a large
// constant is moved when its bytes are asked for. Absent otherwise. REQUIRES: IsConstantNode.
std::optional<Tensor> MovedConstant(const Graph& graph, const Node& node,
                                    const PassContext& context);

// Whether what EvaluateConstantNode said is no fault of the model: the reference lacks something, or the node takes more memory,
// work or turns of loops than it has.
bool IsLeftToRunTime(const absl::Status& status);

// Makes constants of the node's outputs. REQUIRES: `results` are its own.
void MakeOutputsConstant(const Node& node, std::vector<Tensor> results, Graph& graph);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_CONSTANT_NODE_H_
