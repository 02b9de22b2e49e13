#include "core/importers/onnx/onnx_importer.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/verifier.h"
#include "core/importers/onnx/domains.h"
#include "core/importers/onnx/functions.h"
#include "core/importers/onnx/graph_importer.h"
#include "core/importers/onnx/inside_tensors.h"
#include "core/importers/onnx/limits.h"
#include "core/importers/onnx/names.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

absl::Status CheckFileSizes(const OnnxFiles& files) {
  if (files.main.bytes().empty()) return Invalid("the model file is empty");
  if (files.main.size_bytes() > kMaxOnnxFileBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the model file has ", files.main.size_bytes(), " bytes, more than the limit of ",
        kMaxOnnxFileBytes, ": keep its weights as external data"));
  }
  int64_t external = 0;
  for (const auto& [name, bytes] : files.external) external += bytes.size_bytes();
  if (external > kMaxExternalBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the model's external data has ", external,
                                                     " bytes, more than the limit of ",
                                                     kMaxExternalBytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<Graph> ImportModel(const onnx::ModelProto& model, const OnnxFiles& files,
                                  const OperatorRegistry& registry,
                                  const OnnxImportOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const int opset, FindOpset(model));
  if (!model.has_graph()) return Invalid("the model has no graph");
  SLIPWAY_ASSIGN_OR_RETURN(const FunctionTable functions, FunctionTable::Create(model));
  GraphImporter importer(files, registry, options, functions);
  SLIPWAY_ASSIGN_OR_RETURN(Graph graph, importer.Import(model.graph(), opset));
  SLIPWAY_RETURN_IF_ERROR(Verify(graph, registry));
  return graph;
}

}  // namespace

absl::StatusOr<Graph> ImportOnnx(const OnnxFiles& files, const OperatorRegistry& registry,
                                 const OnnxImportOptions& options) {
  SLIPWAY_RETURN_IF_ERROR(CheckFileSizes(files));
  onnx::ModelProto model;
  const std::string small = WithLargeTensorsInside(files.main.bytes());
  files.main.LetGo();
  if (!model.ParseFromString(small)) {
    return Invalid("the file is no ONNX model, or it is cut off");
  }
  auto graph = ImportModel(model, files, registry, options);
  if (!graph.ok()) {
    return absl::Status(graph.status().code(), WithoutControls(graph.status().message()));
  }
  return graph;
}

}  // namespace slipway
