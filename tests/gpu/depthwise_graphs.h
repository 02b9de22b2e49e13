// Small convolutions whose channels have a window each.
#ifndef SLIPWAY_TESTS_GPU_DEPTHWISE_GRAPHS_H_
#define SLIPWAY_TESTS_GPU_DEPTHWISE_GRAPHS_H_

#include <ostream>

#include "absl/types/span.h"

namespace slipway::testing {

struct DepthwiseGraph {
  const char* name;
  const char* text;
};

absl::Span<const DepthwiseGraph> DepthwiseGraphs();

// For GoogleTest.
inline std::ostream& operator<<(std::ostream& out, const DepthwiseGraph& graph) {
  return out << graph.name;
}

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_DEPTHWISE_GRAPHS_H_
