// Small graphs of one product of matrices or convolution, as tensor cores are to multiply it.
#ifndef SLIPWAY_TESTS_GPU_PRODUCT_GRAPHS_H_
#define SLIPWAY_TESTS_GPU_PRODUCT_GRAPHS_H_

#include <ostream>

#include "absl/types/span.h"

namespace slipway::testing {

// The factors are the graph's first two inputs, and nothing else reads these.
struct ProductGraph {
  const char* name;
  const char* text;
};

absl::Span<const ProductGraph> ProductGraphs();

// The same, to be compiled with input %w as a constant: its weights, which may be laid out before there is a program.
absl::Span<const ProductGraph> WeightGraphs();

// For GoogleTest.
inline std::ostream& operator<<(std::ostream& out, const ProductGraph& graph) {
  return out << graph.name;
}

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_PRODUCT_GRAPHS_H_
