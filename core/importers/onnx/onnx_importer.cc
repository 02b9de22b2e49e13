#include "core/importers/onnx/onnx_importer.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/graph/verifier.h"
#include "core/importers/onnx/composition.h"
#include "core/importers/onnx/emitter.h"
#include "core/importers/onnx/limits.h"
#include "core/importers/onnx/tensor_conversion.h"
#include "core/importers/onnx/upgrade.h"
#include "core/operators/constants.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Names end up in messages, logs and terminals: what a terminal would obey is shown as "?".
std::string WithoutControls(absl::string_view text) {
  std::string clean(text);
  std::replace_if(clean.begin(), clean.end(), IsControl, '?');
  return clean;
}

bool IsOnnxDomain(absl::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

// Domains whose operators are known by name and domain, "ai.onnx.ml.Scaler".
bool IsFurtherDomain(absl::string_view domain) {
  return domain == "ai.onnx.ml" || domain == "ai.onnx.preview.training" ||
         domain == "com.microsoft";
}

std::string Describe(const onnx::NodeProto& node) {
  const std::string& name =
      !node.name().empty() || node.output_size() == 0 ? node.name() : node.output(0);
  return absl::StrCat("node \"", name, "\" (", node.op_type(), ")");
}

absl::Status CheckFileSizes(const OnnxFiles& files) {
  if (files.main.empty()) return Invalid("the model file is empty");
  if (static_cast<int64_t>(files.main.size()) > kMaxOnnxFileBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the model file has ", files.main.size(), " bytes, more than the limit of ",
                     kMaxOnnxFileBytes, ": keep its weights as external data"));
  }
  int64_t external = 0;
  for (const auto& [name, bytes] : files.external) external += bytes.size();
  if (external > kMaxExternalBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the model's external data has ", external,
                                                     " bytes, more than the limit of ",
                                                     kMaxExternalBytes));
  }
  return absl::OkStatus();
}

// The opset of ONNX's own operators; 0 where a model uses none of these.
absl::StatusOr<int> FindOpset(const onnx::ModelProto& model) {
  bool has_further = false;
  for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
    has_further |= IsFurtherDomain(opset.domain());
    if (!IsOnnxDomain(opset.domain())) continue;
    if (opset.version() < kMinOnnxOpset || opset.version() > kMaxOnnxOpset) {
      return absl::UnimplementedError(absl::StrCat("the model has opset ", opset.version(),
                                                   ", supported are ", kMinOnnxOpset, " to ",
                                                   kMaxOnnxOpset));
    }
    return static_cast<int>(opset.version());
  }
  if (has_further) return 0;
  if (model.opset_import_size() > 0) {
    return absl::UnimplementedError(absl::StrCat("the model uses only operators of the domain \"",
                                                 model.opset_import(0).domain(),
                                                 "\", which is not supported"));
  }
  return Invalid("the model names no opset: is it an ONNX model?");
}

absl::StatusOr<Attribute> ConvertAttribute(const onnx::AttributeProto& proto,
                                           const OnnxFiles& files) {
  switch (proto.type()) {
    case onnx::AttributeProto::INT:
      return Attribute(static_cast<int64_t>(proto.i()));
    case onnx::AttributeProto::FLOAT:
      return Attribute(proto.f());
    case onnx::AttributeProto::STRING:
      return Attribute(proto.s());
    case onnx::AttributeProto::INTS:
      return Attribute(std::vector<int64_t>(proto.ints().begin(), proto.ints().end()));
    case onnx::AttributeProto::FLOATS:
      return Attribute(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case onnx::AttributeProto::STRINGS:
      return Attribute(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    case onnx::AttributeProto::TENSOR: {
      SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, ConvertTensor(proto.t(), files));
      return Attribute(std::move(tensor));
    }
    case onnx::AttributeProto::UNDEFINED:
      return Invalid("it has no kind");
    default:
      return absl::UnimplementedError(absl::StrCat(
          "attributes of kind ", onnx::AttributeProto::AttributeType_Name(proto.type()),
          " are not supported"));
  }
}

class Importer {
 public:
  Importer(const OnnxFiles& files, const OperatorRegistry& registry,
           const OnnxImportOptions& options)
      : files_(files), registry_(registry), options_(options) {}

  absl::StatusOr<Graph> Run(const onnx::ModelProto& model) {
    SLIPWAY_ASSIGN_OR_RETURN(opset_, FindOpset(model));
    if (!model.has_graph()) return Invalid("the model has no graph");
    const onnx::GraphProto& proto = model.graph();
    if (proto.sparse_initializer_size() > 0) {
      return absl::UnimplementedError("sparse initializers are not supported");
    }
    if (proto.node_size() > kMaxNodes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the model has ", proto.node_size(), " nodes, more than the limit of ", kMaxNodes));
    }
    graph_.name = WithoutControls(proto.name());
    SLIPWAY_RETURN_IF_ERROR(AddInitializers(proto));
    SLIPWAY_RETURN_IF_ERROR(AddInputs(proto));
    SLIPWAY_RETURN_IF_ERROR(AddNodeOutputs(proto));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int> order, SortNodes(proto));
    Emitter emitter(graph_, registry_);
    for (const int n : order) SLIPWAY_RETURN_IF_ERROR(AddNode(proto.node(n), emitter));
    SLIPWAY_RETURN_IF_ERROR(AddOutputs(proto));
    DropUnusedValues(graph_);
    SLIPWAY_RETURN_IF_ERROR(Verify(graph_, registry_));
    return std::move(graph_);
  }

 private:
  absl::StatusOr<ValueId> Define(const std::string& name, absl::string_view what) {
    if (name.empty()) return Invalid(absl::StrCat(what, " has no name"));
    if (std::any_of(name.begin(), name.end(), IsControl)) {
      return Invalid(absl::StrCat(what, " is named \"", name, "\", with control characters in it"));
    }
    if (graph_.values.size() >= kMaxValues) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the model has more than the limit of ", kMaxValues, " values"));
    }
    const auto [at, fresh] = ids_.emplace(name, static_cast<ValueId>(graph_.values.size()));
    if (!fresh) return Invalid(absl::StrCat("the value \"", name, "\" is defined twice"));
    return graph_.AddValue(name);
  }

  absl::Status AddInitializers(const onnx::GraphProto& proto) {
    for (const onnx::TensorProto& initializer : proto.initializer()) {
      SLIPWAY_ASSIGN_OR_RETURN(const ValueId id, Define(initializer.name(), "an initializer"));
      SLIPWAY_ASSIGN_OR_RETURN_WITH(Tensor tensor, ConvertTensor(initializer, files_),
                                    absl::StrCat("initializer \"", initializer.name(), "\""));
      SetConstant(id, std::move(tensor));
    }
    return absl::OkStatus();
  }

  absl::Status AddInputs(const onnx::GraphProto& proto) {
    for (const onnx::ValueInfoProto& input : proto.input()) {
      const auto known = ids_.find(input.name());
      // Before IR version 4 every initializer had to be listed as an input, too.
      if (known != ids_.end() && graph_.values[known->second].constant.has_value()) continue;
      SLIPWAY_ASSIGN_OR_RETURN(const ValueId id, Define(input.name(), "an input"));
      SLIPWAY_ASSIGN_OR_RETURN_WITH(graph_.values[id].type, ConvertType(input, options_), "input");
      graph_.inputs.push_back(id);
    }
    return absl::OkStatus();
  }

  absl::Status AddNodeOutputs(const onnx::GraphProto& proto) {
    for (const onnx::NodeProto& node : proto.node()) {
      if (node.input_size() > kMaxNodeArity || node.output_size() > kMaxNodeArity) {
        return absl::ResourceExhaustedError(absl::StrCat(
            Describe(node), " has more inputs or outputs than the limit of ", kMaxNodeArity));
      }
      for (const std::string& output : node.output()) {
        if (output.empty()) continue;
        SLIPWAY_RETURN_IF_ERROR_WITH(Define(output, "an output").status(), Describe(node));
      }
    }
    return absl::OkStatus();
  }

  // The nodes so that each stands behind those it reads.
  absl::StatusOr<std::vector<int>> SortNodes(const onnx::GraphProto& proto) {
    Graph skeleton;
    skeleton.values.resize(graph_.values.size());
    for (int n = 0; n < proto.node_size(); ++n) {
      const onnx::NodeProto& node = proto.node(n);
      Node& stand_in = skeleton.nodes.emplace_back();
      stand_in.name = node.name();
      stand_in.op = node.op_type();
      for (const std::string& input : node.input()) {
        if (input.empty()) continue;
        const auto found = ids_.find(input);
        if (found == ids_.end()) {
          return Invalid(absl::StrCat(Describe(node), " reads \"", input,
                                      "\", which nothing in the model makes"));
        }
        stand_in.inputs.push_back(found->second);
      }
      for (const std::string& output : node.output()) {
        if (!output.empty()) stand_in.outputs.push_back(ids_.at(output));
      }
      stand_in.attributes.Set("position", int64_t{n});
    }
    SLIPWAY_RETURN_IF_ERROR(SortTopologically(skeleton));
    std::vector<int> order;
    for (const Node& node : skeleton.nodes) {
      order.push_back(static_cast<int>(*node.attributes.FindAs<int64_t>("position")));
    }
    return order;
  }

  absl::StatusOr<Node> ConvertNode(const onnx::NodeProto& proto) {
    // Internal operators have a prefix that no model may use.
    const bool is_further = IsFurtherDomain(proto.domain());
    if ((!is_further && !IsOnnxDomain(proto.domain())) || absl::StrContains(proto.op_type(), '.')) {
      return absl::UnimplementedError(absl::StrCat(Describe(proto), ": the operator \"",
                                                   proto.op_type(), "\" of domain \"",
                                                   proto.domain(), "\" is not supported"));
    }
    if (!is_further && opset_ == 0) {
      return Invalid(absl::StrCat(Describe(proto), ": the model imports no opset of ONNX's own"));
    }
    Node node;
    node.op = is_further ? absl::StrCat(proto.domain(), ".", proto.op_type()) : proto.op_type();
    if (registry_.Find(node.op) == nullptr && !IsUpgraded(opset_, node.op) &&
        expansions_.Find(node.op) == nullptr) {
      return absl::UnimplementedError(absl::StrCat(Describe(proto), ": the operator \"", node.op,
                                                   "\" (opset ", opset_, ") is not supported"));
    }
    node.name = WithoutControls(proto.name());
    for (const std::string& input : proto.input()) {
      node.inputs.push_back(input.empty() ? kNoValue : ids_.at(input));
    }
    for (const std::string& output : proto.output()) {
      node.outputs.push_back(output.empty() ? kNoValue : ids_.at(output));
    }
    while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
    while (!node.outputs.empty() && node.outputs.back() == kNoValue) node.outputs.pop_back();
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      const std::string context =
          absl::StrCat(Describe(proto), " attribute \"", attribute.name(), "\"");
      if (!attribute.ref_attr_name().empty()) {
        return absl::UnimplementedError(
            absl::StrCat(context, " refers to a function's, which is not supported"));
      }
      if (node.attributes.Find(attribute.name()) != nullptr) {
        return Invalid(absl::StrCat(context, " is there twice"));
      }
      SLIPWAY_ASSIGN_OR_RETURN_WITH(Attribute value, ConvertAttribute(attribute, files_), context);
      node.attributes.Set(attribute.name(), std::move(value));
    }
    return node;
  }

  absl::Status AddNode(const onnx::NodeProto& proto, Emitter& emitter) {
    SLIPWAY_ASSIGN_OR_RETURN(Node node, ConvertNode(proto));
    if (node.op == "Constant") return AddConstant(node);
    const Expansion* expansion = expansions_.Find(node.op);
    if (expansion != nullptr) return EmitExpanded(*expansion, std::move(node), emitter);
    return EmitUpgraded(opset_, std::move(node), emitter);
  }

  absl::Status AddConstant(const Node& node) {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph_, node, registry_));
    SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, DecodeConstant(view));
    SetConstant(node.outputs[0], std::move(tensor));
    return absl::OkStatus();
  }

  void SetConstant(ValueId id, Tensor tensor) {
    graph_.values[id].type = tensor.type();
    graph_.values[id].constant = std::move(tensor);
  }

  absl::Status AddOutputs(const onnx::GraphProto& proto) {
    if (proto.output_size() == 0) return Invalid("the model has no outputs");
    for (const onnx::ValueInfoProto& output : proto.output()) {
      const auto found = ids_.find(output.name());
      if (found == ids_.end()) {
        return Invalid(
            absl::StrCat("nothing in the model makes its output \"", output.name(), "\""));
      }
      SLIPWAY_RETURN_IF_ERROR(CheckDeclared(output, graph_.values[found->second]));
      graph_.outputs.push_back(found->second);
    }
    return absl::OkStatus();
  }

  // What a model declares of its outputs binds it where it says anything at all. A declared type is
  // kept where none could be inferred yet, to be checked when it can.
  absl::Status CheckDeclared(const onnx::ValueInfoProto& proto, Value& value) const {
    if (!proto.has_type() || !proto.type().has_tensor_type()) return absl::OkStatus();
    const onnx::TypeProto::Tensor& declared = proto.type().tensor_type();
    if (!value.type.has_value()) {
      const auto type = ConvertType(proto, options_);
      if (type.ok()) value.type = *type;
      return absl::OkStatus();
    }
    const ValueType& inferred = *value.type;
    bool fits =
        declared.elem_type() == 0 || declared.elem_type() == static_cast<int32_t>(inferred.dtype());
    if (fits && declared.has_shape()) {
      fits = declared.shape().dim_size() == inferred.rank();
      for (int d = 0; fits && d < declared.shape().dim_size(); ++d) {
        const auto& dim = declared.shape().dim(d);
        fits = !dim.has_dim_value() || !Contradict(dim.dim_value(), inferred.dimension(d));
      }
    }
    if (fits) return absl::OkStatus();
    return Invalid(
        absl::StrCat("output \"", proto.name(), "\" is ", ToString(inferred),
                     ", which is not what the model declares: ", declared.ShortDebugString()));
  }

  const OnnxFiles& files_;
  const OperatorRegistry& registry_;
  const OnnxImportOptions& options_;
  const Expansions expansions_ = AllExpansions();
  int opset_ = 0;
  Graph graph_;
  absl::flat_hash_map<std::string, ValueId> ids_;
};

}  // namespace

absl::StatusOr<Graph> ImportOnnx(const OnnxFiles& files, const OperatorRegistry& registry,
                                 const OnnxImportOptions& options) {
  SLIPWAY_RETURN_IF_ERROR(CheckFileSizes(files));
  onnx::ModelProto model;
  if (!model.ParseFromArray(files.main.data(), static_cast<int>(files.main.size()))) {
    return Invalid("the file is no ONNX model, or it is cut off");
  }
  auto graph = Importer(files, registry, options).Run(model);
  if (!graph.ok()) {
    return absl::Status(graph.status().code(), WithoutControls(graph.status().message()));
  }
  return graph;
}

}  // namespace slipway
