// A network to train.
#ifndef SLIPWAY_CORE_PASSES_TESTING_RESIDUAL_NETWORK_H_
#define SLIPWAY_CORE_PASSES_TESTING_RESIDUAL_NETWORK_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway::testing {

struct ResidualNetworkOptions {
  int64_t image = 32;     // Height and width.
  int64_t channels = 16;  // Of the first of three stages; each has twice as many as the one before.
  int blocks_a_stage = 16;
};

// The residual network of 6n + 2 layers for small images (He et al., "Deep Residual Learning for Image Recognition", 2015,
// section 4.2), n blocks a stage, up to its loss over two images: with batch statistics, and all weights as inputs.
absl::StatusOr<Graph> ResidualNetwork(const OperatorRegistry& registry,
                                      const ResidualNetworkOptions& options);

}  // namespace slipway::testing

#endif  // SLIPWAY_CORE_PASSES_TESTING_RESIDUAL_NETWORK_H_
