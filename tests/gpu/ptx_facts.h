// What is worth to be known of the code for small graphs.
#ifndef SLIPWAY_TESTS_GPU_PTX_FACTS_H_
#define SLIPWAY_TESTS_GPU_PTX_FACTS_H_

#include <string>

#include "absl/status/statusor.h"

namespace slipway::testing {

// Of each of SmallGraphs for x86-64-linux,cuda-sm80, and each of ProductGraphs in bf16, some of them for cuda-sm90a, too, and some of AttentionGraphs in bf16: which kernels are the device's, how they are launched, and how often each of their
// instructions stands there. Names of entries and registers, which say nothing, are left out.
absl::StatusOr<std::string> PtxFacts();

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_PTX_FACTS_H_
