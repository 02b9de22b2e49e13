// Small models for tests over processes: graphs that are also files.
#ifndef SLIPWAY_TESTS_INTEGRATION_SMALL_MODELS_H_
#define SLIPWAY_TESTS_INTEGRATION_SMALL_MODELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/tensor/tensor.h"
#include "tests/common/temp_tree.h"

namespace slipway::testing {

// y = Relu(x + b), x: f32[1, 8].
Graph TinyGraph();

// `layers` 3x3 convolutions with Relu over f32[1, 4, 8, 8], the i-th of 4 + i channels and with weights of
// its own. The kernels of shorter chains of the same seed are among those of longer ones, since the layers
// do not depend on what follows them.
Graph ConvChain(int layers, uint64_t seed);

// A model of the operators that image networks are made of (core/passes/testing/random_graph.h).
Graph RandomModel(uint64_t seed);

// Writes the graph's text to NAME.graph; returns the path.
std::string WriteModel(const TempTree& tree, const std::string& name, const Graph& graph);

// Random inputs by name.
std::vector<NamedTensor> RandomNamedInputs(const Graph& graph, uint64_t seed);

// What core/reference makes of the inputs; named as the graph's outputs.
absl::StatusOr<std::vector<NamedTensor>> ReferenceOutputs(const Graph& graph,
                                                          const std::vector<NamedTensor>& inputs);

// OK when names are the same and values close; else what differs.
absl::Status CheckOutputs(const std::vector<NamedTensor>& actual,
                          const std::vector<NamedTensor>& expected);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_INTEGRATION_SMALL_MODELS_H_
