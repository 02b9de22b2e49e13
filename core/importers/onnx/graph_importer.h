// GraphImporter: a model's graph, with its bodies and the functions it calls, to ours. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_GRAPH_IMPORTER_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_GRAPH_IMPORTER_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/importers/onnx/composition.h"
#include "core/importers/onnx/emitter.h"
#include "core/importers/onnx/functions.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/importers/onnx/scope.h"

namespace onnx {
class GraphProto;
class ValueInfoProto;
}  // namespace onnx

namespace slipway {

class GraphImporter {
 public:
  // All must outlive it.
  GraphImporter(const OnnxFiles& files, const OperatorRegistry& registry,
                const OnnxImportOptions& options, const FunctionTable& functions)
      : files_(files), registry_(registry), options_(options), functions_(functions) {}

  // The model's graph, not verified. Once.
  absl::StatusOr<Graph> Import(const onnx::GraphProto& proto, int opset);

 private:
  // What the nodes of one graph, body or function are read with.
  struct Frame {
    Emitter& emitter;
    Scope& scope;
    int opset = 0;
    std::string prefix = "";                             // Of the names that a function makes.
    const FunctionAttributes* attributes = nullptr;      // Of the function.
    std::vector<const onnx::FunctionProto*> calls = {};  // The functions around, outermost first.
    int nesting = 0;                                     // Bodies around.
  };
  struct Body {
    std::string attribute;
    Graph graph;  // Its inputs are those that the model lists.
    std::vector<Scope::Capture> captures;
  };

  absl::Status AddInitializers(const onnx::GraphProto& proto, Frame& frame);
  absl::Status AddInputs(const onnx::GraphProto& proto, Frame& frame, Graph& graph);
  absl::Status AddOutputs(const onnx::GraphProto& proto, Frame& frame, Graph& graph);
  absl::Status CheckDeclared(const onnx::ValueInfoProto& proto, Value& value) const;

  // Defines what the nodes make, and adds them in order.
  template <typename Nodes>
  absl::Status AddNodes(const Nodes& nodes, Frame& frame);
  absl::Status AddNode(const onnx::NodeProto& proto, Frame& frame);
  absl::StatusOr<Node> ConvertNode(const onnx::NodeProto& proto, Frame& frame);
  absl::StatusOr<std::vector<ValueId>> FindInputs(const onnx::NodeProto& proto, Frame& frame);
  absl::Status ConvertAttributes(const onnx::NodeProto& proto, Frame& frame, Node& node,
                                 std::vector<Body>& bodies);
  absl::StatusOr<Body> ImportBody(const onnx::GraphProto& proto, Frame& frame);
  absl::Status AddGradient(const onnx::NodeProto& proto, Frame& frame);
  absl::Status CallFunction(const onnx::NodeProto& call, const onnx::FunctionProto& function,
                            Frame& frame);

  const OnnxFiles& files_;
  const OperatorRegistry& registry_;
  const OnnxImportOptions& options_;
  const FunctionTable& functions_;
  const Expansions expansions_ = AllExpansions();
  ModelBudget budget_;
  absl::flat_hash_set<const onnx::FunctionProto*> called_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_GRAPH_IMPORTER_H_
