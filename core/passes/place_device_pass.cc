#include "core/passes/place_device_pass.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/graph/edit.h"

namespace slipway {
namespace {

class Placer {
 public:
  Placer(Graph graph, const PlaceDeviceOptions& options)
      : options_(options), names_(graph), home_(graph.values.size(), options.host) {
    placed_.graph = std::move(graph);
  }

  absl::StatusOr<PlacedGraph> Run() {
    std::vector<Node> old = std::move(graph().nodes);
    graph().nodes.clear();
    for (Node& node : old) {
      const int device = DeviceOf(node);
      if (device < 0) {
        return absl::InvalidArgumentError(absl::StrCat("node \"", DisplayName(graph(), node),
                                                       "\" (", node.op, ") is to be on device ",
                                                       device));
      }
      for (ValueId& id : node.inputs) id = At(device, id);
      for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        home_[id] = device;
        is_made_.insert(id);
      }
      Emit(std::move(node), device);
    }
    for (size_t i = 0; i < graph().outputs.size(); ++i) ReturnOutput(i);
    return std::move(placed_);
  }

 private:
  Graph& graph() { return placed_.graph; }

  int DeviceOf(const Node& node) {
    const std::optional<int> told = options_.device_of(graph(), node);
    if (told.has_value()) return *told;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && is_made_.contains(id)) return home_[id];
    }
    return options_.host;
  }

  void Emit(Node node, int device) {
    graph().nodes.push_back(std::move(node));
    placed_.device_of_node.push_back(device);
  }

  // The value where the device can read it; copied there when it is not yet.
  ValueId At(int device, ValueId id) {
    if (id == kNoValue || graph().values[id].constant.has_value() || home_[id] == device) return id;
    const auto known = copies_.find({id, device});
    if (known != copies_.end()) return known->second;
    const ValueId copy =
        Copy(id, device, names_.Make(absl::StrCat(graph().values[id].name, "_at_", device)));
    copies_.emplace(std::pair(id, device), copy);
    return copy;
  }

  ValueId Copy(ValueId id, int device, std::string name) {
    const ValueId copy = graph().AddValue(std::move(name), graph().values[id].type);
    home_.push_back(device);
    placed_.copies.push_back(static_cast<NodeId>(graph().nodes.size()));
    Emit({"", "Identity", {id}, {copy}, {}}, device);
    return copy;
  }

  // An output keeps its name: what another device makes under it is called otherwise from now on.
  void ReturnOutput(size_t i) {
    const ValueId id = graph().outputs[i];
    const ValueId returned = At(options_.host, id);
    if (returned == id) return;
    graph().outputs[i] = returned;
    if (!renamed_.insert(id).second) return;
    std::swap(graph().values[id].name, graph().values[returned].name);
  }

  const PlaceDeviceOptions& options_;
  PlacedGraph placed_;
  UniqueNames names_;
  std::vector<int> home_;      // By value: the device that makes it.
  std::set<ValueId> is_made_;  // By a node.
  std::set<ValueId> renamed_;
  std::map<std::pair<ValueId, int>, ValueId> copies_;
};

}  // namespace

absl::StatusOr<PlacedGraph> PlaceDevice(Graph graph, const PlaceDeviceOptions& options,
                                        const PassContext&) {
  return Placer(std::move(graph), options).Run();
}

}  // namespace slipway
