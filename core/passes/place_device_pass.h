// PlaceDevice: says which device computes each node, and copies what crosses from one to another.
#ifndef SLIPWAY_CORE_PASSES_PLACE_DEVICE_PASS_H_
#define SLIPWAY_CORE_PASSES_PLACE_DEVICE_PASS_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"

namespace slipway {

struct PlaceDeviceOptions {
  // The device that a node must be computed by; none where its inputs may decide. Devices are numbers from 0 on.
  std::function<std::optional<int>(const Graph&, const Node&)> device_of;
  // Where inputs and outputs of the graph lie, and nodes on which nothing else decides.
  int host = 0;
};

struct PlacedGraph {
  Graph graph;
  std::vector<int> device_of_node;  // By node of `graph`.
  // The nodes that copy, ascending: an Identity each, of the device that reads what it makes. What it reads another
  // device made, or lies at the host as an input. Constants are not copied: each device has its own.
  std::vector<NodeId> copies;
};

// A node of which nothing is said goes to the device of its first input that a node makes, else to the host's. A value is
// copied once to each device that reads it, and to the host where it is an output of the graph. INVALID_ARGUMENT for a
// negative device. REQUIRES: the graph is verified.
absl::StatusOr<PlacedGraph> PlaceDevice(Graph graph, const PlaceDeviceOptions& options,
                                        const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_PLACE_DEVICE_PASS_H_
