// A graph in the forms that people and programs read.
#ifndef SLIPWAY_CORE_GRAPH_OPT_WRITE_GRAPH_H_
#define SLIPWAY_CORE_GRAPH_OPT_WRITE_GRAPH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

struct WriteGraphOptions {
  // "text", "json" (values without their elements), "dot" (Graphviz), "onnx" or "proto" (a v1.GraphFile).
  std::string to = "text";
  int64_t max_elements = 16;  // text: constants with more elements are written as digests.
  int opset = kOpset;         // onnx
};

// INVALID_ARGUMENT for an unknown form; errors of the exporters.
absl::StatusOr<std::string> WriteGraph(const Graph& graph, const OperatorRegistry& registry,
                                       const WriteGraphOptions& options);

// Deterministic. `schema_version` 1: name, opset, symbols, inputs, outputs, values (name, type, constant_bytes), nodes
// (name, op, inputs, outputs, attributes as in the text form).
std::string GraphAsJson(const Graph& graph);

// A box a node with its operator, an arrow a value with its type; constants stay out.
std::string GraphAsDot(const Graph& graph);

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_OPT_WRITE_GRAPH_H_
