// Writes graphs as ONNX models.
#ifndef SLIPWAY_CORE_EXPORTERS_ONNX_ONNX_EXPORTER_H_
#define SLIPWAY_CORE_EXPORTERS_ONNX_ONNX_EXPORTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

inline constexpr int kMinWrittenOpset = 18;

struct OnnxExportOptions {
  // The opset of ONNX's own operators, kMinWrittenOpset to kOpset; a runtime may know none of the newest.
  int opset = kOpset;
  // Where tensors of a kilobyte and more are put, a file in the model's folder. Empty: into the model.
  std::string external_name;
};

// A model as its files.
struct OnnxExport {
  std::string main;      // The ModelProto, deterministic.
  std::string external;  // The file external_name; empty where nothing is in it.
};

// Values keep their names, those in bodies and nodes theirs as far as no other has it. Bodies read what they capture by its
// name, and runtimes want to know the types in them (InferType). Of symbols only the names can be told, of expressions their
// text. Errors name the node or value:
//   UNIMPLEMENTED       an operator of Slipway's own, a quantized type, a sequence that enters or leaves a graph, or a form
//                       that `opset` lacks
//   INVALID_ARGUMENT    an opset out of range, bodies that lack the inputs they are said to capture
//   RESOURCE_EXHAUSTED  a model of 2 GiB or more that has no external file
// REQUIRES: the graph is verified.
absl::StatusOr<OnnxExport> ExportOnnx(const Graph& graph, const OperatorRegistry& registry,
                                      const OnnxExportOptions& options = {});

}  // namespace slipway

#endif  // SLIPWAY_CORE_EXPORTERS_ONNX_ONNX_EXPORTER_H_
