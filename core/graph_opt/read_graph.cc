#include "core/graph_opt/read_graph.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/blob.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/importers/nnvm_json/nnvm_importer.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/wire/graph/graph_proto.h"

namespace slipway {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{64} << 30;

absl::StatusOr<std::map<std::string, int64_t>> ParseDimensions(
    const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> dimensions;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    int64_t extent = 0;
    if (equals == std::string::npos || equals == 0 ||
        !absl::SimpleAtoi(text.substr(equals + 1), &extent)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--dimension \"", text, "\" is not of the form NAME=EXTENT"));
    }
    dimensions[text.substr(0, equals)] = extent;
  }
  return dimensions;
}

absl::StatusOr<Graph> Verified(absl::StatusOr<Graph> graph, const OperatorRegistry& registry) {
  SLIPWAY_RETURN_IF_ERROR(graph.status());
  SLIPWAY_RETURN_IF_ERROR(Verify(*graph, registry));
  return graph;
}

absl::StatusOr<Blob> Map(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path, kMaxFileBytes));
  return Blob::Own(std::move(file));
}

absl::StatusOr<Graph> Read(const std::string& path, const ReadGraphOptions& options,
                           const OperatorRegistry& registry) {
  SLIPWAY_ASSIGN_OR_RETURN(const auto dimensions, ParseDimensions(options.dimensions));
  SLIPWAY_ASSIGN_OR_RETURN(const Blob file, Map(path));
  if (absl::EndsWith(path, ".graph")) return Verified(ParseGraph(file.bytes()), registry);
  if (absl::EndsWith(path, ".graphpb")) return Verified(ParseGraphFile(file.bytes()), registry);
  if (absl::EndsWith(path, "-symbol.json")) {
    Blob parameters;
    if (!options.parameters.empty()) {
      SLIPWAY_ASSIGN_OR_RETURN(parameters, Map(options.parameters));
    }
    return ImportNnvm({file.bytes(), parameters.bytes()}, registry, {.dims = dimensions});
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  OnnxFiles files;
  files.main = file;
  for (const std::string& name : options.external) {
    SLIPWAY_ASSIGN_OR_RETURN(files.external[name], Map(JoinPath(folder, name)));
  }
  OnnxImportOptions import_options;
  for (const auto& [name, extent] : dimensions) import_options.dims[name] = {extent, extent};
  return ImportOnnx(files, registry, import_options);
}

}  // namespace

absl::StatusOr<Graph> ReadGraph(const std::string& path, const ReadGraphOptions& options,
                                const OperatorRegistry& registry) {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(Graph graph, Read(path, options, registry), path);
  return graph;
}

}  // namespace slipway
