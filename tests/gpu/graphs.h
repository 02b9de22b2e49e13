// Small graphs with each kind of loops that GPUs run.
#ifndef SLIPWAY_TESTS_GPU_GRAPHS_H_
#define SLIPWAY_TESTS_GPU_GRAPHS_H_

#include <ostream>

#include "absl/types/span.h"

namespace slipway::testing {

struct SmallGraph {
  const char* name;
  const char* text;
  // Kernels that the device computes, of OpenCL and of CUDA.
  int of_opencl;
  int of_cuda;
};

absl::Span<const SmallGraph> SmallGraphs();

// For GoogleTest.
inline std::ostream& operator<<(std::ostream& out, const SmallGraph& graph) {
  return out << graph.name;
}

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_GRAPHS_H_
