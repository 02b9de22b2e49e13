#include "core/importers/onnx/node_order.h"

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/graph/graph.h"
#include "core/importers/onnx/derived_nodes.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

// What a node reads, its bodies and the ends of what it derives included.
std::vector<std::string> ReadNames(const onnx::NodeProto& node) {
  std::vector<std::string> names;
  for (const std::string& input : node.input()) {
    if (!input.empty()) names.push_back(input);
  }
  const bool derives = absl::StrCat(node.domain(), ".", node.op_type()) == kOnnxGradient;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    // What is derived is named.
    if (derives) {
      names.insert(names.end(), attribute.strings().begin(), attribute.strings().end());
      names.push_back(attribute.s());
    }
    if (!attribute.has_g()) continue;
    for (const std::string& name : FreeNames(attribute.g())) names.push_back(name);
  }
  return names;
}

}  // namespace

absl::flat_hash_set<std::string> FreeNames(const onnx::GraphProto& body) {
  absl::flat_hash_set<std::string> names;
  for (const onnx::ValueInfoProto& output : body.output()) names.insert(output.name());
  for (const onnx::NodeProto& node : body.node()) {
    for (std::string& name : ReadNames(node)) names.insert(std::move(name));
  }
  for (const onnx::ValueInfoProto& input : body.input()) names.erase(input.name());
  for (const onnx::TensorProto& initializer : body.initializer()) names.erase(initializer.name());
  for (const onnx::NodeProto& node : body.node()) {
    for (const std::string& output : node.output()) names.erase(output);
  }
  return names;
}

absl::StatusOr<std::vector<const onnx::NodeProto*>> InOrder(
    absl::Span<const onnx::NodeProto* const> nodes) {
  Graph skeleton;
  absl::flat_hash_map<std::string, ValueId> ids;
  for (const onnx::NodeProto* node : nodes) {
    for (const std::string& output : node->output()) {
      if (!output.empty()) ids.emplace(output, static_cast<ValueId>(ids.size()));
    }
  }
  skeleton.values.resize(ids.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    Node& stand_in = skeleton.nodes.emplace_back();
    stand_in.name = nodes[n]->name();
    stand_in.op = nodes[n]->op_type();
    for (const std::string& name : ReadNames(*nodes[n])) {
      const auto found = ids.find(name);
      if (found != ids.end()) stand_in.inputs.push_back(found->second);
    }
    for (const std::string& output : nodes[n]->output()) {
      if (!output.empty()) stand_in.outputs.push_back(ids.at(output));
    }
    stand_in.attributes.Set("position", static_cast<int64_t>(n));
  }
  SLIPWAY_RETURN_IF_ERROR(SortTopologically(skeleton));
  std::vector<const onnx::NodeProto*> order;
  for (const Node& node : skeleton.nodes) {
    order.push_back(nodes[*node.attributes.FindAs<int64_t>("position")]);
  }
  return order;
}

}  // namespace slipway
