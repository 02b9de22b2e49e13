#include "core/exporters/onnx/onnx_exporter.h"

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/exporters/onnx/older_forms.h"
#include "core/graph/edit.h"
#include "core/tensor/onnx_tensor.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

constexpr int64_t kMinExternalBytes = 1024;
constexpr int64_t kExternalAlignment = 64;

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

class Exporter {
 public:
  Exporter(const Graph& graph, const OperatorRegistry& registry, const OnnxExportOptions& options)
      : graph_(graph), registry_(registry), options_(options) {}

  absl::StatusOr<OnnxExport> Run() {
    if (options_.opset < kMinWrittenOpset || options_.opset > kOpset) {
      return absl::InvalidArgumentError(absl::StrCat(
          "opset ", options_.opset, " cannot be written, but ", kMinWrittenOpset, " to ", kOpset));
    }
    model_.set_ir_version(IrVersion(options_.opset));
    model_.set_producer_name("slipway");
    model_.mutable_graph()->set_name(graph_.name.empty() ? "graph" : graph_.name);
    domains_[""] = options_.opset;
    SLIPWAY_RETURN_IF_ERROR(AddInputsAndOutputs());
    SLIPWAY_RETURN_IF_ERROR(AddConstants());
    for (const Node& node : graph_.nodes) {
      SLIPWAY_RETURN_IF_ERROR_WITH(
          AddNode(node), absl::StrCat("node \"", DisplayName(graph_, node), "\" (", node.op, ")"));
    }
    for (const auto& [domain, version] : domains_) {
      onnx::OperatorSetIdProto& opset = *model_.add_opset_import();
      opset.set_domain(domain);
      opset.set_version(version);
    }
    return Serialize();
  }

 private:
  absl::Status AddInputsAndOutputs() {
    for (const ValueId id : graph_.inputs) {
      SLIPWAY_RETURN_IF_ERROR(Declare(graph_.values[id], *model_.mutable_graph()->add_input()));
    }
    for (const ValueId id : graph_.outputs) {
      SLIPWAY_RETURN_IF_ERROR(Declare(graph_.values[id], *model_.mutable_graph()->add_output()));
    }
    return absl::OkStatus();
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

  absl::Status Declare(const Value& value, onnx::ValueInfoProto& info) const {
    info.set_name(value.name);
    if (!value.type.has_value()) return absl::OkStatus();
    SLIPWAY_RETURN_IF_ERROR(CheckSayable(value, value.type->dtype()));
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

  absl::Status AddConstants() {
    for (const Value& value : graph_.values) {
      if (!value.constant.has_value()) continue;
      SLIPWAY_RETURN_IF_ERROR(CheckSayable(value, value.constant->dtype()));
      SLIPWAY_RETURN_IF_ERROR_WITH(
          SetTensor(*value.constant, value.name, *model_.mutable_graph()->add_initializer()),
          absl::StrCat("value \"", value.name, "\""));
    }
    return absl::OkStatus();
  }

  absl::Status SetTensor(const Tensor& tensor, absl::string_view name, onnx::TensorProto& proto) {
    const bool external =
        !options_.external_name.empty() && OnnxByteSize(tensor.type()) >= kMinExternalBytes;
    bytes_ += external ? 0 : std::max(OnnxByteSize(tensor.type()), tensor.byte_size());
    if (bytes_ > std::numeric_limits<int32_t>::max()) {
      return absl::ResourceExhaustedError(
          "the model takes 2 GiB or more, which one file of ONNX cannot; name a file for external "
          "data");
    }
    proto.ParseFromString(FormatOnnxTensor(tensor, name));
    if (external) MoveOut(proto);
    return absl::OkStatus();
  }

  // Puts the elements of a tensor into the external file.
  void MoveOut(onnx::TensorProto& proto) {
    const auto say = [&proto](const char* key, std::string value) {
      onnx::StringStringEntryProto& entry = *proto.add_external_data();
      entry.set_key(key);
      entry.set_value(std::move(value));
    };
    external_.resize((external_.size() + kExternalAlignment - 1) / kExternalAlignment *
                     kExternalAlignment);
    say("location", options_.external_name);
    say("offset", absl::StrCat(external_.size()));
    say("length", absl::StrCat(proto.raw_data().size()));
    external_ += proto.raw_data();
    proto.clear_raw_data();
    proto.set_data_location(onnx::TensorProto::EXTERNAL);
  }

  absl::Status AddNode(const Node& node) {
    SLIPWAY_ASSIGN_OR_RETURN(const OperatorSchema* schema, registry_.Get(node.op));
    onnx::NodeProto& proto = *model_.mutable_graph()->add_node();
    // Runtimes refuse two nodes of one name.
    if (!node.name.empty()) proto.set_name(names_.Make(node.name));
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
    for (const ValueId id : node.inputs) proto.add_input(NameOf(id));
    for (const ValueId id : node.outputs) proto.add_output(NameOf(id));
    for (const auto& [name, value] : node.attributes) {
      if (IsOmitted(options_.opset, node.op, name)) continue;
      onnx::AttributeProto& attribute = *proto.add_attribute();
      attribute.set_name(name);
      SLIPWAY_RETURN_IF_ERROR_WITH(SetAttribute(value, attribute),
                                   absl::StrCat("attribute \"", name, "\""));
    }
    return absl::OkStatus();
  }

  std::string NameOf(ValueId id) const { return id == kNoValue ? "" : graph_.values[id].name; }

  absl::Status SetAttribute(const Attribute& value, onnx::AttributeProto& proto) {
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
        return SetTensor(std::get<Tensor>(value), "", *proto.mutable_t());
      case AttributeKind::kGraph:
        return absl::UnimplementedError("bodies cannot be written yet");
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
    files.external = std::move(external_);
    return files;
  }

  const Graph& graph_;
  const OperatorRegistry& registry_;
  const OnnxExportOptions& options_;
  onnx::ModelProto model_;
  UniqueNames names_{Graph()};          // Of nodes.
  std::map<std::string, int> domains_;  // With their versions.
  std::string external_;
  int64_t bytes_ = 0;  // Of tensors inside the model.
};

}  // namespace

absl::StatusOr<OnnxExport> ExportOnnx(const Graph& graph, const OperatorRegistry& registry,
                                      const OnnxExportOptions& options) {
  return Exporter(graph, registry, options).Run();
}

}  // namespace slipway
