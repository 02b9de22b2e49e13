#include "core/backends/gpu/gpu_placement.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/backends/program/program_manifest.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/operators/fused.h"
#include "core/passes/place_device_pass.h"

namespace slipway {
namespace {

constexpr int kHost = 0;
constexpr int kDevice = 1;
// Devices take 1,024 bytes of parameters at least.
constexpr size_t kMaxTensors = 120;
// More would fill a report.
constexpr size_t kMaxNotes = 32;

bool LiesWhereItsInputsLie(const Node& node, const OperatorRegistry& registry) {
  return LiesInPlace(registry.MovementOf(node.op));
}

// Empty where the device computes the slipway.Fused; else why not, for people: "its extents are open".
std::string WhyNotOnDevice(const Node& node, absl::Span<const DataType> types) {
  const Graph& body = *ComputedBy(node);
  if (body.inputs.size() + body.outputs.size() > kMaxTensors) {
    return absl::StrCat("it has more than ", kMaxTensors, " tensors");
  }
  for (const Value& value : body.values) {
    if (!value.type.has_value()) return "its types are not known";
    if (!value.type->is_static()) return "its extents are open";
    if (!absl::c_linear_search(types, value.type->dtype())) {
      return absl::StrCat("not every device has ", Name(value.type->dtype()));
    }
  }
  for (const ValueId id : body.outputs) {
    if (body.values[id].type->byte_size() == 0) return "it makes no element";
  }
  return "";
}

// By node, in the order of nodes: kDevice or kHost.
std::vector<int> ChooseDevices(const Graph& graph, const OperatorRegistry& registry,
                               absl::Span<const DataType> types) {
  std::vector<bool> is_kept(graph.nodes.size(), false);  // With the host, whatever it is.
  std::vector<NodeId> producer(graph.values.size(), kNoNode);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].outputs) {
      if (id != kNoValue) producer[id] = static_cast<NodeId>(n);
    }
  }
  while (true) {
    std::vector<int> device(graph.nodes.size(), kHost);
    const auto device_of = [&](ValueId id) {
      return producer[id] == kNoNode ? kHost : device[producer[id]];
    };
    bool changed = false;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      if (LiesWhereItsInputsLie(node, registry)) {
        device[n] = device_of(node.inputs[0]);
        if (registry.MovementOf(node.op) != Movement::kConcat) continue;
        // Its parts are made in one memory.
        bool is_mixed = false;
        for (const ValueId id : node.inputs) is_mixed |= device_of(id) != device[n];
        for (const ValueId id : node.inputs) {
          NodeId maker = producer[id];
          while (maker != kNoNode && LiesWhereItsInputsLie(graph.nodes[maker], registry)) {
            maker = producer[graph.nodes[maker].inputs[0]];
          }
          if (!is_mixed || maker == kNoNode || is_kept[maker]) continue;
          is_kept[maker] = true;
          changed = true;
        }
      } else if (!is_kept[n] && node.op == kFusedOperator && WhyNotOnDevice(node, types).empty()) {
        device[n] = kDevice;
      }
    }
    if (!changed) return device;
  }
}

void AddNotes(const Graph& graph, const std::vector<int>& device, const OperatorRegistry& registry,
              absl::Span<const DataType> types, PassLedger& ledger) {
  size_t on_device = 0;
  std::vector<std::string> stays;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (LiesWhereItsInputsLie(node, registry) || node.op == kBindSymbolsOperator) continue;
    if (device[n] == kDevice) {
      ++on_device;
      continue;
    }
    const std::string why = node.op == kFusedOperator  ? WhyNotOnDevice(node, types)
                            : node.op == kCallOperator ? "its kernel is the host's alone"
                                                       : "it runs functions, which the host does";
    stays.push_back(absl::StrCat("\"", DisplayName(graph, node), "\" stays with the host: ",
                                 why.empty() ? "it makes a part of what the host makes" : why));
  }
  ledger.notes.push_back(
      absl::StrCat(on_device, " of ", on_device + stays.size(), " kernels are the device's"));
  for (size_t i = 0; i < stays.size(); ++i) {
    if (i == kMaxNotes) {
      ledger.notes.push_back(absl::StrCat("and ", stays.size() - i, " more stay with the host"));
      return;
    }
    ledger.notes.push_back(std::move(stays[i]));
  }
}

bool IsKernelOfDevice(const Node& node, int device) {
  return device == kDevice && node.op == kFusedOperator && !IsDeviceCopy(node);
}

// The Identity as a group of its own, which needs a step.
void MakeCopy(Graph& graph, int device, NodeId n) {
  Node& node = graph.nodes[n];
  auto body = std::make_shared<Graph>();
  body->symbols = graph.symbols;
  const ValueId from = body->AddValue("from", graph.values[node.inputs[0]].type);
  const ValueId to = body->AddValue("to", graph.values[node.inputs[0]].type);
  body->inputs = {from};
  body->outputs = {to};
  body->nodes.push_back({"", "Identity", {from}, {to}, {}});
  node.op = kFusedOperator;
  node.name = absl::StrCat("Copy ", graph.values[node.inputs[0]].name);
  node.attributes.Set(kFusedBody, std::shared_ptr<const Graph>(std::move(body)));
  node.attributes.Set(kFusedDevice, static_cast<int64_t>(device));
  node.attributes.Set(kFusedCopies, int64_t{1});
}

// Constants that both read are there twice.
void SeparateConstants(Graph& graph, const std::vector<int>& device_of_node) {
  std::vector<bool> is_hosts(graph.values.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (IsKernelOfDevice(graph.nodes[n], device_of_node[n])) continue;
    for (const ValueId id : graph.nodes[n].inputs) {
      if (id != kNoValue) is_hosts[id] = true;
    }
  }
  for (const ValueId id : graph.outputs) is_hosts[id] = true;
  UniqueNames names(graph);
  std::map<ValueId, ValueId> copies;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!IsKernelOfDevice(graph.nodes[n], device_of_node[n])) continue;
    for (size_t i = 0; i < graph.nodes[n].inputs.size(); ++i) {
      const ValueId id = graph.nodes[n].inputs[i];
      if (id == kNoValue || !graph.values[id].constant.has_value() || !is_hosts[id]) continue;
      auto [copy, is_new] = copies.try_emplace(id, kNoValue);
      if (is_new) {
        const std::string name = names.Make(absl::StrCat(graph.values[id].name, "_at_", kDevice));
        copy->second = graph.AddValue(name, graph.values[id].type);
        graph.values[copy->second].constant = graph.values[id].constant;
      }
      graph.nodes[n].inputs[i] = copy->second;
    }
  }
}

}  // namespace

absl::StatusOr<Graph> PlaceOnDevice(Graph graph, const PassContext& context,
                                    absl::Span<const DataType> types) {
  const std::vector<int> devices = ChooseDevices(graph, context.registry, types);
  if (context.ledger != nullptr) {
    AddNotes(graph, devices, context.registry, types, *context.ledger);
  }
  size_t next = 0;  // PlaceDevice asks of each node once, in their order.
  SLIPWAY_ASSIGN_OR_RETURN(
      PlacedGraph placed,
      PlaceDevice(std::move(graph),
                  {.device_of = [&](const Graph&, const Node&) -> std::optional<int> {
                    return devices[next++];
                  }},
                  context));
  for (const NodeId copy : placed.copies) MakeCopy(placed.graph, placed.device_of_node[copy], copy);
  SeparateConstants(placed.graph, placed.device_of_node);
  for (size_t n = 0; n < placed.graph.nodes.size(); ++n) {
    Node& node = placed.graph.nodes[n];
    if (node.op != kFusedOperator || placed.device_of_node[n] == kHost) continue;
    node.attributes.Set(kFusedDevice, static_cast<int64_t>(placed.device_of_node[n]));
  }
  return std::move(placed.graph);
}

std::vector<int> DevicesOfValues(const Graph& graph, const OperatorRegistry& registry) {
  std::vector<int> device(graph.values.size(), kHost);
  for (const Node& node : graph.nodes) {
    const int own = LiesWhereItsInputsLie(node, registry) ? device[node.inputs[0]]
                                                          : static_cast<int>(DeviceNumberOf(node));
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) device[id] = own;
    }
    if (node.op != kFusedOperator || IsDeviceCopy(node)) continue;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && graph.values[id].constant.has_value()) device[id] = own;
    }
  }
  return device;
}

}  // namespace slipway
