#include "core/compiler/read_model.h"

#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/importers/nnvm_json/nnvm_importer.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/wire/graph/graph_proto.h"

namespace slipway {
namespace {

using GraphParser = absl::FunctionRef<absl::StatusOr<Graph>(absl::string_view)>;

absl::StatusOr<Graph> ReadOnnx(const ModelSource& model, const CompilerOptions& options,
                               const OperatorRegistry& registry) {
  OnnxFiles onnx;
  onnx.main = model.files.front().bytes;
  for (size_t i = 1; i < model.files.size(); ++i) {
    if (!onnx.external.emplace(model.files[i].name, model.files[i].bytes).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("the model has two files named \"", model.files[i].name, "\""));
    }
  }
  OnnxImportOptions import_options;
  import_options.dims = options.dimensions;
  return ImportOnnx(onnx, registry, import_options);
}

absl::StatusOr<Graph> ReadNnvm(const ModelSource& model, const CompilerOptions& options,
                               const OperatorRegistry& registry) {
  if (model.files.size() > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("a model in NNVM's form is a graph and its parameters; \"",
                     model.files[2].name, "\" is too many"));
  }
  NnvmFiles nnvm;
  nnvm.symbol = model.files[0].bytes.bytes();
  if (model.files.size() == 2) nnvm.parameters = model.files[1].bytes.bytes();
  NnvmImportOptions import_options;
  for (const auto& [name, bounds] : options.dimensions) {
    if (bounds.min != bounds.max) {
      return absl::UnimplementedError(
          absl::StrCat("a model in NNVM's form has no open extents; give \"", name,
                       "\" one number instead of ", bounds.min, " to ", bounds.max));
    }
    import_options.dims[name] = bounds.min;
  }
  return ImportNnvm(nnvm, registry, import_options);
}

// A graph of ours, in the form that `parse` reads.
absl::StatusOr<Graph> ReadGraph(absl::string_view form, GraphParser parse, const ModelSource& model,
                                const CompilerOptions& options, const OperatorRegistry& registry) {
  if (model.files.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("a model in the ", form, " is one file; \"",
                                                   model.files[1].name, "\" is too many"));
  }
  if (!options.dimensions.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the ", form, " has no symbolic dimensions; \"",
                                                   options.dimensions.begin()->first,
                                                   "\" cannot be given a value"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(Graph graph, parse(model.files.front().bytes.bytes()));
  SLIPWAY_RETURN_IF_ERROR(Verify(graph, registry));
  return graph;
}

}  // namespace

absl::StatusOr<Graph> ReadModel(const ModelSource& model, const CompilerOptions& options,
                                const OperatorRegistry& registry) {
  if (model.files.empty()) return absl::InvalidArgumentError("the model has no files");
  switch (model.format) {
    case v1::MODEL_FORMAT_ONNX:
      return ReadOnnx(model, options, registry);
    case v1::MODEL_FORMAT_GRAPH_TEXT:
      return ReadGraph(
          "graph text form", [](absl::string_view bytes) { return ParseGraph(bytes); }, model,
          options, registry);
    case v1::MODEL_FORMAT_GRAPH_PROTO:
      return ReadGraph("graph protobuf form", ParseGraphFile, model, options, registry);
    case v1::MODEL_FORMAT_NNVM_JSON:
      return ReadNnvm(model, options, registry);
    default:
      return absl::UnimplementedError(
          absl::StrCat("model format ", static_cast<int>(model.format), " is not known"));
  }
}

}  // namespace slipway
