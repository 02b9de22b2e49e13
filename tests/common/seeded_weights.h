// Random weights for the architectures that the "light" models of onnx/onnx describe without any.
#ifndef SLIPWAY_TESTS_COMMON_SEEDED_WEIGHTS_H_
#define SLIPWAY_TESTS_COMMON_SEEDED_WEIGHTS_H_

#include <cstdint>

#include "core/graph/graph.h"

namespace slipway::testing {

// Replaces the f32 parameters of Conv, Gemm and BatchNormalization that are constants or made by
// ConstantOfShape. Products get weights of He's scale (He et al., "Delving Deep into Rectifiers", 2015),
// so that activations keep their size through the layers, and small biases; normalizations get scales
// and variances around 1. The same seed gives the same weights on every machine. REQUIRES: InferType.
Graph WithSeededWeights(Graph graph, uint64_t seed);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_SEEDED_WEIGHTS_H_
