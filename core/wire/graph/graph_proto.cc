#include "core/wire/graph/graph_proto.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/symbolic/constraint.h"
#include "core/symbolic/expression.h"
#include "core/wire/tensor_proto.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace slipway {
namespace {

using AddBlob = absl::FunctionRef<void(const Digest&, absl::string_view)>;
using GetBlob = absl::FunctionRef<absl::StatusOr<Blob>(const Digest&)>;

v1::Tensor TensorToProto(const Tensor& tensor, AddBlob add_blob) {
  if (tensor.byte_size() <= kMaxInlineTensorBytes) return ToInlineProto("", tensor);
  const Digest digest = Digest::Of(tensor.bytes());
  add_blob(digest, tensor.bytes());
  return ToBlobProto("", tensor.type(), digest);
}

v1::Graph::ValueType TypeToProto(const ValueType& type) {
  v1::Graph::ValueType proto;
  proto.set_dtype(static_cast<v1::DataType>(type.dtype()));
  for (int d = 0; d < type.rank(); ++d) {
    const Dimension dimension = type.dimension(d);
    v1::Graph::Dimension& extent = *proto.add_dimensions();
    if (dimension.is_known()) {
      extent.set_extent(dimension.extent());
    } else if (!dimension.is_unknown()) {
      extent.set_expression(ToString(dimension.expression()));
    }
  }
  if (type.quantization().has_value()) {
    const Quantization& from = *type.quantization();
    v1::Graph::Quantization& to = *proto.mutable_quantization();
    to.mutable_scales()->Add(from.scales.begin(), from.scales.end());
    to.mutable_zero_points()->Add(from.zero_points.begin(), from.zero_points.end());
    if (from.axis.has_value()) to.set_axis(*from.axis);
  }
  return proto;
}

v1::Graph::Attribute AttributeToProto(const std::string& name, const Attribute& attribute,
                                      AddBlob add_blob) {
  v1::Graph::Attribute proto;
  proto.set_name(name);
  switch (KindOf(attribute)) {
    case AttributeKind::kInt:
      proto.set_int_value(std::get<int64_t>(attribute));
      break;
    case AttributeKind::kFloat:
      proto.set_float_value(std::get<float>(attribute));
      break;
    case AttributeKind::kString:
      proto.set_string_value(std::get<std::string>(attribute));
      break;
    case AttributeKind::kInts: {
      const auto& list = std::get<std::vector<int64_t>>(attribute);
      proto.mutable_ints()->mutable_values()->Add(list.begin(), list.end());
      break;
    }
    case AttributeKind::kFloats: {
      const auto& list = std::get<std::vector<float>>(attribute);
      proto.mutable_floats()->mutable_values()->Add(list.begin(), list.end());
      break;
    }
    case AttributeKind::kStrings: {
      v1::Graph::Attribute::Strings& strings = *proto.mutable_strings();
      for (const std::string& text : std::get<std::vector<std::string>>(attribute)) {
        strings.add_values(text);
      }
      break;
    }
    case AttributeKind::kTensor:
      *proto.mutable_tensor() = TensorToProto(std::get<Tensor>(attribute), add_blob);
      break;
    case AttributeKind::kGraph:
      *proto.mutable_graph() =
          ToProto(*std::get<std::shared_ptr<const Graph>>(attribute), add_blob);
      break;
  }
  return proto;
}

std::string Quoted(absl::string_view name) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(name.substr(0, 64)), "\"");
}

absl::Status CheckCount(int64_t count, int64_t limit, absl::string_view what) {
  if (count <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(count, " ", what, ", more than the limit of ", limit));
}

absl::Status CheckName(const std::string& name, absl::string_view what) {
  return CheckCount(static_cast<int64_t>(name.size()), kMaxNameBytes,
                    absl::StrCat("bytes in the name of ", what));
}

absl::StatusOr<Dimension> DimensionFromProto(const v1::Graph::Dimension& proto) {
  switch (proto.content_case()) {
    case v1::Graph::Dimension::kExtent:
      return Dimension(proto.extent());
    case v1::Graph::Dimension::kExpression: {
      SLIPWAY_ASSIGN_OR_RETURN(Expression expression, ParseExpression(proto.expression()));
      return Dimension(std::move(expression));
    }
    case v1::Graph::Dimension::CONTENT_NOT_SET:
      return Dimension();
  }
  return absl::InvalidArgumentError("an extent is of an unknown kind");
}

absl::StatusOr<ValueType> TypeFromProto(const v1::Graph::ValueType& proto) {
  SLIPWAY_ASSIGN_OR_RETURN(const DataType dtype, DataTypeFromNumber(proto.dtype()));
  SLIPWAY_RETURN_IF_ERROR(CheckCount(proto.dimensions_size(), kMaxRank, "extents"));
  Dimensions dimensions;
  for (const v1::Graph::Dimension& extent : proto.dimensions()) {
    SLIPWAY_ASSIGN_OR_RETURN(Dimension dimension, DimensionFromProto(extent));
    dimensions.push_back(std::move(dimension));
  }
  ValueType type(dtype, dimensions);
  if (proto.has_quantization()) {
    const v1::Graph::Quantization& from = proto.quantization();
    Quantization to;
    to.scales.assign(from.scales().begin(), from.scales().end());
    to.zero_points.assign(from.zero_points().begin(), from.zero_points().end());
    if (from.has_axis()) to.axis = from.axis();
    type.set_quantization(std::move(to));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckType(type));
  return type;
}

absl::StatusOr<Expression> SideFromProto(const std::string& text) {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(Expression side, ParseExpression(text), "constraint");
  if (ToString(side) == text) return side;
  return absl::InvalidArgumentError(
      absl::StrCat("constraint: ", Quoted(text), " is written ", Quoted(ToString(side))));
}

absl::StatusOr<std::vector<Constraint>> ConstraintsFromProto(
    const google::protobuf::RepeatedPtrField<v1::Graph::Constraint>& proto) {
  SLIPWAY_RETURN_IF_ERROR(CheckCount(proto.size(), kMaxConstraints, "constraints"));
  std::vector<Constraint> constraints;
  for (const v1::Graph::Constraint& from : proto) {
    SLIPWAY_RETURN_IF_ERROR(
        CheckCount(from.any_of_size(), kMaxConstraintEqualities, "equalities of a constraint"));
    SLIPWAY_RETURN_IF_ERROR(CheckName(from.user(), "the user of a constraint"));
    Constraint& constraint = constraints.emplace_back();
    constraint.user = from.user();
    for (const v1::Graph::Constraint::Equality& equality : from.any_of()) {
      SLIPWAY_ASSIGN_OR_RETURN(Expression left, SideFromProto(equality.left()));
      SLIPWAY_ASSIGN_OR_RETURN(Expression right, SideFromProto(equality.right()));
      constraint.any_of.push_back({std::move(left), std::move(right)});
    }
  }
  return constraints;
}

absl::StatusOr<Graph> GraphFromProto(const v1::Graph& proto, GetBlob get_blob, int depth);

absl::StatusOr<Attribute> AttributeFromProto(const v1::Graph::Attribute& proto, GetBlob get_blob,
                                             int depth) {
  switch (proto.content_case()) {
    case v1::Graph::Attribute::kIntValue:
      return Attribute(int64_t{proto.int_value()});
    case v1::Graph::Attribute::kFloatValue:
      return Attribute(proto.float_value());
    case v1::Graph::Attribute::kStringValue:
      return Attribute(proto.string_value());
    case v1::Graph::Attribute::kInts:
      return Ints({proto.ints().values().begin(), proto.ints().values().end()});
    case v1::Graph::Attribute::kFloats:
      return Floats({proto.floats().values().begin(), proto.floats().values().end()});
    case v1::Graph::Attribute::kStrings:
      return Strings({proto.strings().values().begin(), proto.strings().values().end()});
    case v1::Graph::Attribute::kTensor: {
      SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, FromProto(proto.tensor(), get_blob));
      return Attribute(std::move(tensor));
    }
    case v1::Graph::Attribute::kGraph: {
      SLIPWAY_ASSIGN_OR_RETURN(Graph body, GraphFromProto(proto.graph(), get_blob, depth + 1));
      return Attribute(std::make_shared<const Graph>(std::move(body)));
    }
    case v1::Graph::Attribute::CONTENT_NOT_SET:
      return absl::InvalidArgumentError("no value is set, or one of an unknown kind");
  }
  return absl::InvalidArgumentError("the value is of an unknown kind");
}

// Ids within the graph's values; -1 where something may be omitted.
template <typename Ids>
absl::StatusOr<std::vector<ValueId>> IdsFromProto(const Ids& ids, const Graph& graph,
                                                  bool may_omit) {
  for (const ValueId id : ids) {
    if (may_omit && id == kNoValue) continue;
    if (id < 0 || id >= static_cast<ValueId>(graph.values.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("value ", id, " is mentioned, of ", graph.values.size()));
    }
  }
  return std::vector<ValueId>(ids.begin(), ids.end());
}

absl::StatusOr<Value> ValueFromProto(const v1::Graph::Value& proto, GetBlob get_blob) {
  Value value;
  value.name = proto.name();
  SLIPWAY_RETURN_IF_ERROR(CheckName(proto.name(), "a value"));
  if (proto.has_type()) {
    SLIPWAY_ASSIGN_OR_RETURN(value.type, TypeFromProto(proto.type()));
  }
  if (proto.has_constant()) {
    SLIPWAY_ASSIGN_OR_RETURN(value.constant, FromProto(proto.constant(), get_blob));
  }
  return value;
}

absl::StatusOr<Node> NodeFromProto(const v1::Graph::Node& proto, const Graph& graph,
                                   GetBlob get_blob, int depth) {
  Node node;
  node.name = proto.name();
  node.op = proto.op();
  SLIPWAY_RETURN_IF_ERROR(CheckName(proto.name(), "a node"));
  SLIPWAY_RETURN_IF_ERROR(CheckName(proto.op(), "an operator"));
  SLIPWAY_RETURN_IF_ERROR(CheckCount(proto.inputs_size(), kMaxNodeArity, "inputs"));
  SLIPWAY_RETURN_IF_ERROR(CheckCount(proto.outputs_size(), kMaxNodeArity, "outputs"));
  SLIPWAY_ASSIGN_OR_RETURN(node.inputs, IdsFromProto(proto.inputs(), graph, true));
  SLIPWAY_ASSIGN_OR_RETURN(node.outputs, IdsFromProto(proto.outputs(), graph, true));
  const std::string* last = nullptr;
  for (const v1::Graph::Attribute& attribute : proto.attributes()) {
    const std::string what = absl::StrCat("attribute ", Quoted(attribute.name()));
    SLIPWAY_RETURN_IF_ERROR(CheckName(attribute.name(), "an attribute"));
    if (last != nullptr && !(*last < attribute.name())) {
      return absl::InvalidArgumentError(absl::StrCat(what, " is not in order, or there twice"));
    }
    last = &attribute.name();
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Attribute value, AttributeFromProto(attribute, get_blob, depth),
                                  what);
    node.attributes.Set(attribute.name(), std::move(value));
  }
  return node;
}

absl::StatusOr<Graph> GraphFromProto(const v1::Graph& proto, GetBlob get_blob, int depth) {
  SLIPWAY_RETURN_IF_ERROR(CheckCount(depth, kMaxGraphNesting, "graphs within one another"));
  SLIPWAY_RETURN_IF_ERROR(CheckCount(proto.nodes_size(), kMaxNodes, "nodes"));
  SLIPWAY_RETURN_IF_ERROR(CheckCount(proto.values_size(), kMaxValues, "values"));
  SLIPWAY_RETURN_IF_ERROR(CheckName(proto.name(), "a graph"));
  Graph graph;
  graph.name = proto.name();
  graph.opset = proto.opset();
  for (const v1::Graph::Symbol& symbol : proto.symbols()) {
    graph.symbols.push_back({symbol.name(), symbol.min(), symbol.max()});
  }
  SLIPWAY_RETURN_IF_ERROR(CheckSymbols(graph.symbols));
  SLIPWAY_ASSIGN_OR_RETURN(graph.constraints, ConstraintsFromProto(proto.constraints()));
  SLIPWAY_RETURN_IF_ERROR(CheckConstraints(graph.constraints, graph.symbols));
  for (const v1::Graph::Value& value : proto.values()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Value from, ValueFromProto(value, get_blob),
                                  absl::StrCat("value ", Quoted(value.name())));
    graph.values.push_back(std::move(from));
  }
  for (const v1::Graph::Node& node : proto.nodes()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Node from, NodeFromProto(node, graph, get_blob, depth),
                                  absl::StrCat("node ", graph.nodes.size(), " ",
                                               Quoted(node.name()), " (", Quoted(node.op()), ")"));
    graph.nodes.push_back(std::move(from));
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(graph.inputs, IdsFromProto(proto.inputs(), graph, false), "inputs");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(graph.outputs, IdsFromProto(proto.outputs(), graph, false),
                                "outputs");
  return graph;
}

}  // namespace

v1::Graph ToProto(const Graph& graph, AddBlob add_blob) {
  v1::Graph proto;
  proto.set_name(graph.name);
  proto.set_opset(graph.opset);
  for (const Symbol& symbol : graph.symbols) {
    v1::Graph::Symbol& to = *proto.add_symbols();
    to.set_name(symbol.name);
    to.set_min(symbol.min);
    to.set_max(symbol.max);
  }
  for (const Constraint& constraint : graph.constraints) {
    v1::Graph::Constraint& to = *proto.add_constraints();
    to.set_user(constraint.user);
    for (const Equality& equality : constraint.any_of) {
      v1::Graph::Constraint::Equality& equal = *to.add_any_of();
      equal.set_left(ToString(equality.left));
      equal.set_right(ToString(equality.right));
    }
  }
  for (const Value& value : graph.values) {
    v1::Graph::Value& to = *proto.add_values();
    to.set_name(value.name);
    if (value.type.has_value()) *to.mutable_type() = TypeToProto(*value.type);
    if (value.constant.has_value()) {
      *to.mutable_constant() = TensorToProto(*value.constant, add_blob);
    }
  }
  for (const Node& node : graph.nodes) {
    v1::Graph::Node& to = *proto.add_nodes();
    to.set_name(node.name);
    to.set_op(node.op);
    to.mutable_inputs()->Add(node.inputs.begin(), node.inputs.end());
    to.mutable_outputs()->Add(node.outputs.begin(), node.outputs.end());
    for (const auto& [name, attribute] : node.attributes) {
      *to.add_attributes() = AttributeToProto(name, attribute, add_blob);
    }
  }
  proto.mutable_inputs()->Add(graph.inputs.begin(), graph.inputs.end());
  proto.mutable_outputs()->Add(graph.outputs.begin(), graph.outputs.end());
  return proto;
}

absl::StatusOr<Graph> FromProto(const v1::Graph& proto, GetBlob get_blob) {
  return GraphFromProto(proto, get_blob, 0);
}

absl::StatusOr<std::string> FormatGraphFile(const Graph& graph) {
  v1::GraphFile file;
  absl::flat_hash_set<std::string> known;
  int64_t blob_bytes = 0;
  std::vector<absl::string_view> blobs;
  *file.mutable_graph() = ToProto(graph, [&](const Digest& digest, absl::string_view bytes) {
    if (!known.insert(digest.hex()).second) return;
    blob_bytes += static_cast<int64_t>(bytes.size());
    blobs.push_back(bytes);
  });
  const int64_t bytes = static_cast<int64_t>(file.graph().ByteSizeLong()) + blob_bytes;
  // A blob has a few bytes around it.
  constexpr int64_t kAround = 16;
  const int64_t limit =
      std::numeric_limits<int32_t>::max() - kAround * static_cast<int64_t>(blobs.size() + 1);
  if (bytes > limit) {
    return absl::ResourceExhaustedError(
        absl::StrCat("graph \"", graph.name, "\" takes ", bytes,
                     " bytes, more than a protocol buffer may have"));
  }
  for (const absl::string_view blob : blobs) file.add_blobs(blob.data(), blob.size());
  std::string serialized;
  {
    google::protobuf::io::StringOutputStream stream(&serialized);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    file.SerializeToCodedStream(&coded);
  }
  return serialized;
}

absl::StatusOr<Graph> ParseGraphFile(absl::string_view bytes) {
  auto file = std::make_shared<v1::GraphFile>();
  if (bytes.size() > std::numeric_limits<int32_t>::max() ||
      !file->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !file->has_graph()) {
    return absl::InvalidArgumentError("the file is no graph in protobuf, or it is cut off");
  }
  absl::flat_hash_map<std::string, Blob> blobs;
  for (const std::string& blob : file->blobs()) {
    blobs.emplace(Digest::Of(blob).hex(), Blob(blob, file));
  }
  return FromProto(file->graph(), [&blobs](const Digest& digest) -> absl::StatusOr<Blob> {
    const auto found = blobs.find(digest.hex());
    if (found == blobs.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the file lacks the blob ", digest.hex(), " that it mentions"));
    }
    return found->second;
  });
}

}  // namespace slipway
