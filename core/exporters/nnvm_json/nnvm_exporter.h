// Writes graphs as NNVM's JSON graphs with MXNet's operators, and their constants as MXNet's parameters.
#ifndef SLIPWAY_CORE_EXPORTERS_NNVM_JSON_NNVM_EXPORTER_H_
#define SLIPWAY_CORE_EXPORTERS_NNVM_JSON_NNVM_EXPORTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// A model as its files.
struct NnvmExport {
  std::string symbol;      // The JSON graph.
  std::string parameters;  // A file of named arrays (core/tensor/nd_array_file.h).
};

// Values keep their names; inputs say their shapes. Knows the operators that networks for images are made of, in the forms
// that MXNet has. UNIMPLEMENTED names a node whose operator or form it does not know, and a value of a type that MXNet
// lacks or whose extents are not known. REQUIRES: the graph is verified, all types known.
absl::StatusOr<NnvmExport> ExportNnvm(const Graph& graph, const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_EXPORTERS_NNVM_JSON_NNVM_EXPORTER_H_
