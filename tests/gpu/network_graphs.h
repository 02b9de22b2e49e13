// Small networks as exporters write them, of the kinds that GPUs are bought for.
#ifndef SLIPWAY_TESTS_GPU_NETWORK_GRAPHS_H_
#define SLIPWAY_TESTS_GPU_NETWORK_GRAPHS_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/graph/graph.h"

namespace slipway::testing {

struct NetworkGraph {
  const char* name;
  const char* text;
  std::vector<std::string> steps;  // All launches of the device, in order.
  int products = 0;                // Of matrices and convolutions, one of which is an attention.
};

absl::Span<const NetworkGraph> NetworkGraphs();

// What a text has as inputs "%w...", "%g..." and "%b..." becomes constants: weights, which keep the size of what they multiply, numbers around one and small ones.
Graph WithWeights(Graph graph);

// For GoogleTest.
inline std::ostream& operator<<(std::ostream& out, const NetworkGraph& graph) {
  return out << graph.name;
}

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_NETWORK_GRAPHS_H_
