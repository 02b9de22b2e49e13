#include "core/importers/onnx/graph_importer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/importers/onnx/attribute_conversion.h"
#include "core/importers/onnx/derived_nodes.h"
#include "core/importers/onnx/domains.h"
#include "core/importers/onnx/limits.h"
#include "core/importers/onnx/names.h"
#include "core/importers/onnx/node_order.h"
#include "core/importers/onnx/tensor_conversion.h"
#include "core/importers/onnx/upgrade.h"
#include "core/operators/constants.h"
#include "core/operators/sequence.h"
#include "core/operators/training.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

// Every body takes everything that one of them captures, behind its own inputs.
template <typename Body>
std::vector<ValueId> CloseBodies(std::vector<Body>& bodies) {
  std::vector<ValueId> captured;
  absl::flat_hash_set<ValueId> seen;
  for (const Body& body : bodies) {
    for (const Scope::Capture& capture : body.captures) {
      if (seen.insert(capture.outer).second) captured.push_back(capture.outer);
    }
  }
  for (Body& body : bodies) {
    absl::flat_hash_map<ValueId, ValueId> inner;
    for (const Scope::Capture& capture : body.captures) inner.emplace(capture.outer, capture.inner);
    UniqueNames names(body.graph);
    for (const ValueId outer : captured) {
      const auto found = inner.find(outer);
      if (found != inner.end()) {
        body.graph.inputs.push_back(found->second);
      } else {
        body.graph.AddInput(names.Make("unread"), std::nullopt);
      }
    }
  }
  return captured;
}

}  // namespace

absl::StatusOr<Graph> GraphImporter::Import(const onnx::GraphProto& proto, int opset) {
  if (proto.output_size() == 0) return Invalid("the model has no outputs");
  Graph graph;
  graph.name = WithoutControls(proto.name());
  SymbolicDimensions symbolic(options_);
  Emitter emitter(graph, registry_);
  Scope scope(emitter, budget_, "", nullptr);
  Frame frame{emitter, scope, opset};
  SLIPWAY_RETURN_IF_ERROR(AddInitializers(proto, frame));
  SLIPWAY_RETURN_IF_ERROR(AddInputs(proto, frame, graph));
  for (const onnx::ValueInfoProto& input : proto.input()) {
    Value& value = graph.values[*scope.FindOwn(input.name())];
    if (value.constant.has_value()) continue;
    if (input.type().has_sequence_type() || input.type().has_optional_type()) {
      value.type = PackType();
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN_WITH(value.type, ConvertType(input, &symbolic), "input");
  }
  graph.symbols = symbolic.symbols();
  SLIPWAY_RETURN_IF_ERROR(AddNodes(proto.node(), frame));
  SLIPWAY_RETURN_IF_ERROR(AddOutputs(proto, frame, graph));
  for (int i = 0; i < proto.output_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR(CheckDeclared(proto.output(i), graph.values[graph.outputs[i]]));
  }
  DropUnusedValues(graph);
  return graph;
}

// The types of what is inside follow from what the node is given (OperatorSchema::body_rule): what a model declares of
// them is not read.
absl::StatusOr<GraphImporter::Body> GraphImporter::ImportBody(const onnx::GraphProto& proto,
                                                              Frame& around) {
  if (around.nesting == kMaxGraphNesting) {
    return absl::ResourceExhaustedError(
        absl::StrCat("graphs are nested deeper than the limit of ", kMaxGraphNesting));
  }
  Body body;
  body.graph.name = WithoutControls(proto.name());
  Emitter emitter(body.graph, registry_);
  Scope scope(emitter, budget_, "", &around.scope);
  Frame frame{emitter,           scope,        around.opset,      "",
              around.attributes, around.calls, around.nesting + 1};
  SLIPWAY_RETURN_IF_ERROR(AddInitializers(proto, frame));
  SLIPWAY_RETURN_IF_ERROR(AddInputs(proto, frame, body.graph));
  SLIPWAY_RETURN_IF_ERROR(AddNodes(proto.node(), frame));
  SLIPWAY_RETURN_IF_ERROR(AddOutputs(proto, frame, body.graph));
  body.captures = scope.captures();
  return body;
}

absl::Status GraphImporter::AddInitializers(const onnx::GraphProto& proto, Frame& frame) {
  if (proto.sparse_initializer_size() > 0) {
    return absl::UnimplementedError("sparse initializers are not supported");
  }
  for (const onnx::TensorProto& initializer : proto.initializer()) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId id,
                             frame.scope.Define(initializer.name(), "an initializer"));
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Tensor tensor, ConvertTensor(initializer, files_),
                                  absl::StrCat("initializer \"", initializer.name(), "\""));
    frame.emitter.SetConstant(id, std::move(tensor));
  }
  return absl::OkStatus();
}

absl::Status GraphImporter::AddInputs(const onnx::GraphProto& proto, Frame& frame, Graph& graph) {
  for (const onnx::ValueInfoProto& input : proto.input()) {
    const ValueId* known = frame.scope.FindOwn(input.name());
    // Before IR version 4 every initializer had to be listed as an input, too.
    if (known != nullptr && graph.values[*known].constant.has_value()) continue;
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId id, frame.scope.Define(input.name(), "an input"));
    graph.inputs.push_back(id);
  }
  return absl::OkStatus();
}

absl::Status GraphImporter::AddOutputs(const onnx::GraphProto& proto, Frame& frame, Graph& graph) {
  for (const onnx::ValueInfoProto& output : proto.output()) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::optional<ValueId> id, frame.scope.Find(output.name()));
    if (!id.has_value() || *id == kNoValue) {
      return Invalid(absl::StrCat("nothing in the model makes its output \"", output.name(), "\""));
    }
    graph.outputs.push_back(*id);
  }
  return absl::OkStatus();
}

// What a model declares of its outputs binds it where it says anything at all. A declared type is
// kept where none could be inferred yet, to be checked when it can.
absl::Status GraphImporter::CheckDeclared(const onnx::ValueInfoProto& proto, Value& value) const {
  if (!proto.has_type() || !proto.type().has_tensor_type()) return absl::OkStatus();
  const onnx::TypeProto::Tensor& declared = proto.type().tensor_type();
  if (!value.type.has_value()) {
    const auto type = ConvertType(proto, nullptr);
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

template <typename Nodes>
absl::Status GraphImporter::AddNodes(const Nodes& nodes, Frame& frame) {
  SLIPWAY_RETURN_IF_ERROR(budget_.TakeNodes(nodes.size()));
  std::vector<const onnx::NodeProto*> pointers;
  for (const onnx::NodeProto& node : nodes) {
    if (node.input_size() > kMaxNodeArity || node.output_size() > kMaxNodeArity) {
      return absl::ResourceExhaustedError(absl::StrCat(
          Describe(node), " has more inputs or outputs than the limit of ", kMaxNodeArity));
    }
    for (const std::string& output : node.output()) {
      if (output.empty()) continue;
      SLIPWAY_RETURN_IF_ERROR_WITH(frame.scope.Define(output, "an output").status(),
                                   Describe(node));
    }
    pointers.push_back(&node);
  }
  SLIPWAY_ASSIGN_OR_RETURN(pointers, InOrder(pointers));
  for (const onnx::NodeProto* node : pointers) SLIPWAY_RETURN_IF_ERROR(AddNode(*node, frame));
  return absl::OkStatus();
}

absl::Status GraphImporter::AddNode(const onnx::NodeProto& proto, Frame& frame) {
  if (const onnx::FunctionProto* function = functions_.Find(proto)) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CallFunction(proto, *function, frame), Describe(proto));
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::string op, OperatorName(proto, frame.opset));
  if (op == kOnnxGradient) {
    SLIPWAY_RETURN_IF_ERROR_WITH(AddGradient(proto, frame), Describe(proto));
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(Node node, ConvertNode(proto, frame));
  if (const Expansion* expansion = expansions_.Find(node.op)) {
    return EmitExpanded(*expansion, std::move(node), frame.emitter);
  }
  if (node.op != "Constant") return EmitUpgraded(frame.opset, std::move(node), frame.emitter);
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                           NodeView::Create(frame.emitter.graph(), node, registry_));
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, DecodeConstant(view));
  frame.emitter.SetConstant(node.outputs[0], std::move(tensor));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ValueId>> GraphImporter::FindInputs(const onnx::NodeProto& proto,
                                                               Frame& frame) {
  std::vector<ValueId> inputs;
  for (const std::string& input : proto.input()) {
    std::optional<ValueId> id = kNoValue;
    if (!input.empty()) {
      SLIPWAY_ASSIGN_OR_RETURN(id, frame.scope.Find(input));
    }
    if (!id.has_value()) {
      return Invalid(absl::StrCat(Describe(proto), " reads \"", input,
                                  "\", which nothing in the model makes"));
    }
    inputs.push_back(*id);
  }
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  return inputs;
}

absl::StatusOr<Node> GraphImporter::ConvertNode(const onnx::NodeProto& proto, Frame& frame) {
  Node node;
  SLIPWAY_ASSIGN_OR_RETURN(node.op, OperatorName(proto, frame.opset));
  const OperatorSchema* schema = registry_.Find(node.op);
  if (schema == nullptr && !IsUpgraded(frame.opset, node.op) &&
      expansions_.Find(node.op) == nullptr) {
    return absl::UnimplementedError(absl::StrCat(Describe(proto), ": the operator \"", node.op,
                                                 "\" (opset ", frame.opset, ") is not supported"));
  }
  if (!proto.name().empty()) node.name = absl::StrCat(frame.prefix, WithoutControls(proto.name()));
  SLIPWAY_ASSIGN_OR_RETURN(node.inputs, FindInputs(proto, frame));
  for (const std::string& output : proto.output()) {
    node.outputs.push_back(output.empty() ? kNoValue : *frame.scope.FindOwn(output));
  }
  while (!node.outputs.empty() && node.outputs.back() == kNoValue) node.outputs.pop_back();
  std::vector<Body> bodies;
  SLIPWAY_RETURN_IF_ERROR(ConvertAttributes(proto, frame, node, bodies));
  const std::vector<ValueId> captured = CloseBodies(bodies);
  for (Body& body : bodies) {
    DropUnusedValues(body.graph);
    node.attributes.Set(body.attribute, std::make_shared<const Graph>(std::move(body.graph)));
  }
  if (captured.empty()) return node;
  // Behind those that are left out.
  const size_t own = schema == nullptr ? 0 : static_cast<size_t>(schema->min_inputs);
  node.inputs.resize(std::max(node.inputs.size(), own), kNoValue);
  node.inputs.insert(node.inputs.end(), captured.begin(), captured.end());
  node.attributes.Set(kCapturesAttribute, static_cast<int64_t>(captured.size()));
  return node;
}

absl::Status GraphImporter::ConvertAttributes(const onnx::NodeProto& proto, Frame& frame,
                                              Node& node, std::vector<Body>& bodies) {
  absl::flat_hash_set<std::string> names;
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    const std::string& name = attribute.name();
    const std::string context = absl::StrCat(Describe(proto), " attribute \"", name, "\"");
    if (!names.insert(name).second) return Invalid(absl::StrCat(context, " is there twice"));
    if (name == kCapturesAttribute)
      return Invalid(absl::StrCat(context, " is no attribute of ONNX's"));
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const onnx::AttributeProto* resolved,
                                  ResolveAttribute(attribute, frame.attributes), context);
    if (resolved == nullptr) continue;
    // Types are attributes of values alone, which say the same.
    if (resolved->type() == onnx::AttributeProto::TYPE_PROTO) continue;
    if (resolved->type() != onnx::AttributeProto::GRAPH) {
      SLIPWAY_ASSIGN_OR_RETURN_WITH(Attribute value, ConvertAttribute(*resolved, files_), context);
      node.attributes.Set(name, std::move(value));
      continue;
    }
    if (resolved != &attribute) {
      return absl::UnimplementedError(absl::StrCat(
          context, " is a function's attribute of kind graph, which is not supported"));
    }
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Body body, ImportBody(attribute.g(), frame), context);
    body.attribute = name;
    bodies.push_back(std::move(body));
  }
  // What is captured stands in one order, however the model lists the bodies.
  std::sort(bodies.begin(), bodies.end(),
            [](const Body& a, const Body& b) { return a.attribute < b.attribute; });
  return absl::OkStatus();
}

absl::Status GraphImporter::AddGradient(const onnx::NodeProto& proto, Frame& frame) {
  Node written;
  std::vector<Body> bodies;
  SLIPWAY_RETURN_IF_ERROR(ConvertAttributes(proto, frame, written, bodies));
  SLIPWAY_ASSIGN_OR_RETURN(const DerivedNames names, DecodeDerivedNames(written.attributes));
  std::vector<ValueId> ids;
  std::vector<std::string> all = names.from;
  all.push_back(names.to);
  for (const std::string& name : all) {
    // From inside a body the nodes around it cannot be followed.
    const ValueId* own = frame.scope.FindOwn(name);
    if (own == nullptr || *own == kNoValue) {
      return Invalid(absl::StrCat("derives \"", name, "\", which nothing beside it makes"));
    }
    ids.push_back(*own);
  }
  const ValueId to = ids.back();
  ids.pop_back();
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<ValueId> inputs, FindInputs(proto, frame));
  if (inputs.size() != ids.size() ||
      std::find(inputs.begin(), inputs.end(), kNoValue) != inputs.end()) {
    return Invalid(absl::StrCat("has ", inputs.size(), " inputs for the ", ids.size(),
                                " values that \"xs\" and \"zs\" name"));
  }
  Node node = GradientOf(frame.emitter.graph(), names, ids, to, std::move(inputs));
  const Graph& body = **node.attributes.FindAs<std::shared_ptr<const Graph>>(kGradientBody);
  SLIPWAY_RETURN_IF_ERROR(budget_.TakeNodes(static_cast<int64_t>(body.nodes.size())));
  for (size_t i = 0; i < body.values.size(); ++i) SLIPWAY_RETURN_IF_ERROR(budget_.TakeValue());
  if (!proto.name().empty()) node.name = absl::StrCat(frame.prefix, WithoutControls(proto.name()));
  for (const std::string& output : proto.output()) {
    node.outputs.push_back(output.empty() ? kNoValue : *frame.scope.FindOwn(output));
  }
  return frame.emitter.Emit(std::move(node));
}

absl::Status GraphImporter::CallFunction(const onnx::NodeProto& call,
                                         const onnx::FunctionProto& function, Frame& around) {
  if (std::count(around.calls.begin(), around.calls.end(), &function) > 0) {
    return Invalid(absl::StrCat("the function \"", function.name(), "\" calls itself"));
  }
  if (around.calls.size() == kMaxFunctionNesting) {
    return absl::ResourceExhaustedError(
        absl::StrCat("functions call each other deeper than the limit of ", kMaxFunctionNesting));
  }
  if (!called_.insert(&function).second) {
    SLIPWAY_RETURN_IF_ERROR(budget_.TakeRepeatedBytes(function.ByteSizeLong()));
  }
  if (call.input_size() > function.input_size() || call.output_size() > function.output_size()) {
    return Invalid(absl::StrCat("has ", call.input_size(), " inputs and ", call.output_size(),
                                " outputs, its function has ", function.input_size(), " and ",
                                function.output_size()));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const int opset, FindOpset(function));
  SLIPWAY_ASSIGN_OR_RETURN(const FunctionAttributes attributes,
                           AttributesOfCall(call, function, around.attributes));
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<ValueId> inputs, FindInputs(call, around));
  inputs.resize(function.input_size(), kNoValue);

  std::string prefix = absl::StrCat(
      around.prefix, WithoutControls(call.name().empty() ? call.op_type() : call.name()), "/");
  if (prefix.size() > kMaxNamePrefixBytes) prefix = around.prefix;
  Scope scope(around.emitter, budget_, prefix, nullptr);
  for (int i = 0; i < function.input_size(); ++i) scope.Bind(function.input(i), inputs[i]);
  for (int i = 0; i < call.output_size(); ++i) {
    if (call.output(i).empty()) continue;
    scope.Expect(function.output(i), *around.scope.FindOwn(call.output(i)));
  }
  Frame frame{around.emitter, scope, opset, prefix, &attributes, around.calls, around.nesting};
  frame.calls.push_back(&function);
  SLIPWAY_RETURN_IF_ERROR(AddNodes(function.node(), frame));
  // What the function hands on as it was given it.
  for (const std::string& name : function.output()) {
    const auto left = scope.expected().find(name);
    if (left == scope.expected().end()) continue;
    const ValueId* given = scope.FindOwn(name);
    if (given == nullptr || *given == kNoValue) {
      return Invalid(absl::StrCat("nothing in its function makes the output \"", name, "\""));
    }
    SLIPWAY_RETURN_IF_ERROR(
        around.emitter.Emit(Node{call.name(), "Identity", {*given}, {left->second}, {}}));
  }
  return absl::OkStatus();
}

}  // namespace slipway
