// EvaluatedGraph: what a model gives for certain inputs, as a graph.
#ifndef SLIPWAY_CORE_COMPILER_EVALUATED_GRAPH_H_
#define SLIPWAY_CORE_COMPILER_EVALUATED_GRAPH_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/reference/reference.h"
#include "core/tensor/tensor.h"

namespace slipway {

// A graph without inputs and nodes, whose outputs are constants of the names and in the order of those of `graph`: what
// `reference` makes of `inputs`, which are in any order. As a program it needs no form of its own on its way to whoever compares
// other programs with it.
//
// Errors of Verify. INVALID_ARGUMENT names an input that is missing, too many, or of another type; UNIMPLEMENTED an operator that the reference does not evaluate,
// or an output of strings; RESOURCE_EXHAUSTED for more than kMaxEvaluationWork (limits.h).
absl::StatusOr<Graph> EvaluatedGraph(const Graph& graph, absl::Span<const NamedTensor> inputs,
                                     const OperatorRegistry& registry, const Reference& reference);

}  // namespace slipway

#endif  // SLIPWAY_CORE_COMPILER_EVALUATED_GRAPH_H_
