#include "core/exporters/onnx/onnx_exporter.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/exporters/onnx/older_forms.h"
#include "core/exporters/onnx/tensor_writer.h"
#include "core/exporters/onnx/value_names.h"
#include "core/graph/edit.h"
#include "core/operators/sequence.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

// The newest version of each further domain; what is in none of these is somebody's own, at version 1.
struct DomainVersion {
  const char* domain;
  int version;
};
constexpr DomainVersion kDomainVersions[] = {{"ai.onnx.ml", 5}};

int VersionOf(const std::string& domain) {
  for (const DomainVersion& row : kDomainVersions) {
    if (domain == row.domain) return row.version;
  }
  return 1;
}

// How many inputs of the node its bodies capture: a verified node may say more, where types are not known.
absl::StatusOr<size_t> CountCaptures(const Node& node) {
  const auto* captures = node.attributes.FindAs<int64_t>(kCapturesAttribute);
  if (captures == nullptr) return 0;
  size_t most = node.inputs.size();
  for (const auto& [name, value] : node.attributes) {
    const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value);
    if (body != nullptr) most = std::min(most, (*body)->inputs.size());
  }
  if (*captures >= 0 && static_cast<uint64_t>(*captures) <= most) {
    return static_cast<size_t>(*captures);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("captures ", *captures, " inputs, but there are ", most));
}

class Exporter {
 public:
  Exporter(const Graph& graph, const OperatorRegistry& registry, const OnnxExportOptions& options)
      : graph_(graph), registry_(registry), options_(options), tensors_(options.external_name) {}

  absl::StatusOr<OnnxExport> Run() {
    if (options_.opset < kMinWrittenOpset || options_.opset > kOpset) {
      return absl::InvalidArgumentError(absl::StrCat(
          "opset ", options_.opset, " cannot be written, but ", kMinWrittenOpset, " to ", kOpset));
    }
    model_.set_ir_version(IrVersion(options_.opset));
    model_.set_producer_name("slipway");
    domains_[""] = options_.opset;
    SLIPWAY_RETURN_IF_ERROR(AddGraph(graph_, {}, *model_.mutable_graph()));
    for (const auto& [domain, version] : domains_) {
      onnx::OperatorSetIdProto& opset = *model_.add_opset_import();
      opset.set_domain(domain);
      opset.set_version(version);
    }
    return Serialize();
  }

 private:
  // One graph while it is written.
  struct Frame {
    const Graph& graph;
    const GraphNames names;
    onnx::GraphProto& proto;
    UniqueNames node_names{Graph()};

    std::string NameOf(ValueId id) const { return id == kNoValue ? "" : names.name[id]; }
  };

  // `captured` are the names of what a body captures, its last inputs: it reads them where they are.
  absl::Status AddGraph(const Graph& graph, const std::vector<std::string>& captured,
                        onnx::GraphProto& proto) {
    const bool is_body = &graph != &graph_;
    Frame frame{graph, names_.Enter(graph, captured), proto};
    proto.set_name(graph.name.empty() ? "graph" : graph.name);
    for (size_t i = 0; i + captured.size() < graph.inputs.size(); ++i) {
      SLIPWAY_RETURN_IF_ERROR(Declare(frame, graph.inputs[i], *proto.add_input()));
    }
    SLIPWAY_RETURN_IF_ERROR(AddConstants(frame));
    for (const Node& node : graph.nodes) {
      SLIPWAY_RETURN_IF_ERROR_WITH(
          AddNode(node, frame),
          absl::StrCat("node \"", DisplayName(graph, node), "\" (", node.op, ")"));
    }
    std::set<ValueId> made;
    for (const ValueId id : graph.outputs) {
      onnx::ValueInfoProto& output = *proto.add_output();
      SLIPWAY_RETURN_IF_ERROR(Declare(frame, id, output));
      // Runtimes refuse a body's output that is made around it, and may leave one that is there twice unset.
      const bool is_new = made.insert(id).second;
      if (is_body && (frame.names.is_outer[id] || !is_new)) AddIdentity(frame, output);
    }
    names_.Leave();
    return absl::OkStatus();
  }

  // Makes the output a copy of what it was.
  void AddIdentity(Frame& frame, onnx::ValueInfoProto& output) {
    onnx::NodeProto& node = *frame.proto.add_node();
    node.set_op_type("Identity");
    node.add_input(output.name());
    output.set_name(names_.Make(output.name()));
    node.add_output(output.name());
  }

  absl::Status CheckSayable(const Value& value, DataType dtype) const {
    const auto refuse = [&value](absl::string_view what) {
      return absl::UnimplementedError(
          absl::StrCat("value \"", value.name, "\" has ", what, ", which cannot be said in ONNX"));
    };
    if (value.type.has_value() && value.type->quantization().has_value()) {
      return refuse("a quantized type");
    }
    if (HasType(options_.opset, dtype)) return absl::OkStatus();
    return refuse(absl::StrCat("the element type ", Name(dtype), " at opset ", options_.opset));
  }

  absl::Status Declare(const Frame& frame, ValueId id, onnx::ValueInfoProto& info) const {
    const Value& value = frame.graph.values[id];
    info.set_name(frame.names.name[id]);
    if (!value.type.has_value()) return absl::OkStatus();
    SLIPWAY_RETURN_IF_ERROR(CheckSayable(value, value.type->dtype()));
    if (*value.type == PackType()) {
      return absl::UnimplementedError(
          absl::StrCat("value \"", value.name,
                       "\" is a sequence, which ONNX declares with the type of its elements: the "
                       "graph does not know it"));
    }
    onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(static_cast<int32_t>(value.type->dtype()));
    tensor.mutable_shape();
    for (const Dimension& extent : value.type->dimensions()) {
      onnx::TensorShapeProto::Dimension& dim = *tensor.mutable_shape()->add_dim();
      if (extent.is_known()) {
        dim.set_dim_value(extent.extent());
      } else if (!extent.is_unknown()) {
        dim.set_dim_param(ToString(extent));
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddConstants(Frame& frame) {
    for (size_t id = 0; id < frame.graph.values.size(); ++id) {
      const Value& value = frame.graph.values[id];
      if (!value.constant.has_value() || frame.names.is_outer[id]) continue;
      SLIPWAY_RETURN_IF_ERROR(CheckSayable(value, value.constant->dtype()));
      SLIPWAY_RETURN_IF_ERROR_WITH(
          tensors_.Write(*value.constant, frame.names.name[id], *frame.proto.add_initializer()),
          absl::StrCat("value \"", value.name, "\""));
    }
    return absl::OkStatus();
  }

  absl::Status AddNode(const Node& node, Frame& frame) {
    SLIPWAY_ASSIGN_OR_RETURN(const OperatorSchema* schema, registry_.Get(node.op));
    onnx::NodeProto& proto = *frame.proto.add_node();
    // Runtimes refuse two nodes of one name.
    if (!node.name.empty()) proto.set_name(frame.node_names.Make(node.name));
    const size_t dot = node.op.rfind('.');
    if (dot == std::string::npos) {
      const std::string lacked = LackedBy(options_.opset, node, *schema);
      if (!lacked.empty()) {
        return absl::UnimplementedError(absl::StrCat("opset ", options_.opset, " lacks ", lacked));
      }
      proto.set_op_type(node.op);
    } else {
      const std::string domain = node.op.substr(0, dot);
      if (domain == "slipway") {
        return absl::UnimplementedError(
            "an operator of Slipway's own, which ONNX lacks: write the graph before the passes of "
            "a "
            "backend");
      }
      proto.set_op_type(node.op.substr(dot + 1));
      proto.set_domain(domain);
      domains_[domain] = VersionOf(domain);
    }
    SLIPWAY_ASSIGN_OR_RETURN(const size_t captures, CountCaptures(node));
    const size_t own = node.inputs.size() - captures;
    for (size_t i = 0; i < own; ++i) proto.add_input(frame.NameOf(node.inputs[i]));
    for (const ValueId id : node.outputs) proto.add_output(frame.NameOf(id));
    std::vector<std::string> captured;
    for (size_t i = own; i < node.inputs.size(); ++i) {
      captured.push_back(frame.NameOf(node.inputs[i]));
    }
    for (const auto& [name, value] : node.attributes) {
      if (name == kCapturesAttribute || IsOmitted(options_.opset, node.op, name)) continue;
      onnx::AttributeProto& attribute = *proto.add_attribute();
      attribute.set_name(name);
      SLIPWAY_RETURN_IF_ERROR_WITH(SetAttribute(value, captured, attribute),
                                   absl::StrCat("attribute \"", name, "\""));
    }
    return absl::OkStatus();
  }

  absl::Status SetAttribute(const Attribute& value, const std::vector<std::string>& captured,
                            onnx::AttributeProto& proto) {
    switch (KindOf(value)) {
      case AttributeKind::kInt:
        proto.set_type(onnx::AttributeProto::INT);
        proto.set_i(std::get<int64_t>(value));
        return absl::OkStatus();
      case AttributeKind::kFloat:
        proto.set_type(onnx::AttributeProto::FLOAT);
        proto.set_f(std::get<float>(value));
        return absl::OkStatus();
      case AttributeKind::kString:
        proto.set_type(onnx::AttributeProto::STRING);
        proto.set_s(std::get<std::string>(value));
        return absl::OkStatus();
      case AttributeKind::kInts: {
        proto.set_type(onnx::AttributeProto::INTS);
        const auto& list = std::get<std::vector<int64_t>>(value);
        proto.mutable_ints()->Add(list.begin(), list.end());
        return absl::OkStatus();
      }
      case AttributeKind::kFloats: {
        proto.set_type(onnx::AttributeProto::FLOATS);
        const auto& list = std::get<std::vector<float>>(value);
        proto.mutable_floats()->Add(list.begin(), list.end());
        return absl::OkStatus();
      }
      case AttributeKind::kStrings:
        proto.set_type(onnx::AttributeProto::STRINGS);
        for (const std::string& text : std::get<std::vector<std::string>>(value)) {
          proto.add_strings(text);
        }
        return absl::OkStatus();
      case AttributeKind::kTensor:
        proto.set_type(onnx::AttributeProto::TENSOR);
        return tensors_.Write(std::get<Tensor>(value), "", *proto.mutable_t());
      case AttributeKind::kGraph:
        proto.set_type(onnx::AttributeProto::GRAPH);
        return AddGraph(*std::get<std::shared_ptr<const Graph>>(value), captured,
                        *proto.mutable_g());
    }
    return absl::InternalError("an attribute of an unknown kind");
  }

  absl::StatusOr<OnnxExport> Serialize() {
    OnnxExport files;
    if (model_.ByteSizeLong() > std::numeric_limits<int32_t>::max()) {
      return absl::ResourceExhaustedError(
          "the model takes 2 GiB or more, which one file of ONNX cannot");
    }
    google::protobuf::io::StringOutputStream stream(&files.main);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    model_.SerializeToCodedStream(&coded);
    coded.Trim();
    files.external = tensors_.TakeExternal();
    return files;
  }

  const Graph& graph_;
  const OperatorRegistry& registry_;
  const OnnxExportOptions& options_;
  onnx::ModelProto model_;
  TensorWriter tensors_;
  ValueNames names_;
  std::map<std::string, int> domains_;  // With their versions.
};

}  // namespace

absl::StatusOr<OnnxExport> ExportOnnx(const Graph& graph, const OperatorRegistry& registry,
                                      const OnnxExportOptions& options) {
  return Exporter(graph, registry, options).Run();
}

}  // namespace slipway
