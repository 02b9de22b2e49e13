// A graph from a file in any form.
#ifndef SLIPWAY_CORE_GRAPH_OPT_READ_GRAPH_H_
#define SLIPWAY_CORE_GRAPH_OPT_READ_GRAPH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

struct ReadGraphOptions {
  std::vector<std::string> dimensions;  // "NAME=EXTENT" each.
  std::vector<std::string> external;    // Names of files with external data, in the model's folder.
  std::string parameters;               // Path of an NNVM model's parameters; empty for none.
};

// Verified. The name's end tells the form: ".graph", ".graphpb", "-symbol.json", else ONNX. Errors of reading the
// files and of the form's reader, which name the file.
absl::StatusOr<Graph> ReadGraph(const std::string& path, const ReadGraphOptions& options,
                                const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_OPT_READ_GRAPH_H_
