// Reads NNVM's JSON graphs with MXNet's operators: the "-symbol.json" and ".params" files that MXNet saves.
#ifndef SLIPWAY_CORE_IMPORTERS_NNVM_JSON_NNVM_IMPORTER_H_
#define SLIPWAY_CORE_IMPORTERS_NNVM_JSON_NNVM_IMPORTER_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

inline constexpr int64_t kMaxNnvmJsonBytes = int64_t{256} << 20;

// A model as its files. The bytes must outlive the call only.
struct NnvmFiles {
  absl::string_view symbol;  // The JSON graph.
  absl::string_view
      parameters;  // A file of named arrays (core/tensor/nd_array_file.h); empty for none.
};

struct NnvmImportOptions {
  // Extents of inputs, whose shapes the format need not tell, by name and position: {"data[0]", 1}, {"data[1]", 3}.
  std::map<std::string, int64_t> dims;
};

// The graph, verified and typed, as it infers: a Dropout hands on, SoftmaxOutput and its kin need no label. Variables
// with a value in the parameters (there called "arg:NAME" or "aux:NAME") are constants, the others inputs, f32 unless
// the file says otherwise. Errors name the node:
//   INVALID_ARGUMENT    bytes that are no such graph, entries that dangle, attributes that mean nothing, an input
//                       whose extents are not known
//   UNIMPLEMENTED       an operator, attribute or form that Slipway lacks
//   RESOURCE_EXHAUSTED  more than the limits allow
absl::StatusOr<Graph> ImportNnvm(const NnvmFiles& files, const OperatorRegistry& registry,
                                 const NnvmImportOptions& options = {});

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_NNVM_JSON_NNVM_IMPORTER_H_
