// Reads ONNX models (opsets 1 to 28) into graphs of the canonical opset.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_ONNX_IMPORTER_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_ONNX_IMPORTER_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "core/base/blob.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/symbolic/evaluation.h"

namespace slipway {

// A model as its files. Large tensors of the graph are read from them when their bytes are asked for.
struct OnnxFiles {
  Blob main;  // The ModelProto.
  // Files with external data, by the name that the model gives: a path relative to the main file,
  // with "/" between its parts.
  std::map<std::string, Blob> external;
};

struct OnnxImportOptions {
  // What symbolic dimensions may be, by name ("N"): where both bounds are equal it is that extent. A dimension without a
  // name is called after its input and position: "x[0]". Those that are not here are free, from 1 to
  // kMostFreeExtent.
  std::map<std::string, Interval> dims;
};

// The graph, verified, with a symbol for each dimension of an input that is free, with types as far as type rules alone can tell (a shape that hangs on computed
// values is left to the InferType pass). Constant nodes and initializers become constants; an
// initializer that is a graph input as well is a constant, too. Errors name the node, input or file:
//   INVALID_ARGUMENT    bytes that are no ONNX model, a graph that is cyclic, dangling, untyped or
//                       inconsistent, external data that is missing, too short or outside of the
//                       model's folder
//   UNIMPLEMENTED       an operator, opset, attribute or element type that Slipway lacks
//   RESOURCE_EXHAUSTED  more than the limits allow
absl::StatusOr<Graph> ImportOnnx(const OnnxFiles& files, const OperatorRegistry& registry,
                                 const OnnxImportOptions& options = {});

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_ONNX_IMPORTER_H_
