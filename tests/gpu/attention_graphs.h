// Small graphs of attention, as exporters write it, for one kernel on tensor cores.
#ifndef SLIPWAY_TESTS_GPU_ATTENTION_GRAPHS_H_
#define SLIPWAY_TESTS_GPU_ATTENTION_GRAPHS_H_

#include <ostream>
#include <vector>

#include "absl/types/span.h"
#include "core/graph/graph.h"
#include "core/tensor/tensor.h"

namespace slipway::testing {

struct AttentionGraph {
  const char* name;
  const char* text;
  bool is_causal = false;  // By what is known when compiling.
};

absl::Span<const AttentionGraph> AttentionGraphs();

// Those of RandomInputs; but of an input "%causal" that each query sees the keys up to its own, by numbers that are added to scores or as conditions, of one "%blind"
// that besides the first query sees none, and of one "%padding" that the last third of the keys is not seen.
std::vector<Tensor> AttentionInputs(const Graph& graph);

// For GoogleTest.
inline std::ostream& operator<<(std::ostream& out, const AttentionGraph& graph) {
  return out << graph.name;
}

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_ATTENTION_GRAPHS_H_
