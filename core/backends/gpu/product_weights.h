// Weights as tensor cores want them, before a program is there.
#ifndef SLIPWAY_CORE_BACKENDS_GPU_PRODUCT_WEIGHTS_H_
#define SLIPWAY_CORE_BACKENDS_GPU_PRODUCT_WEIGHTS_H_

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"
#include "core/tensor/precision.h"

namespace slipway {

// A pass (pass.h), behind UseTensorCores: matrices of constants that are multiplied on tensor cores become constants whose rows go along the depth, of a window
// element by element through all channels, and, of f16 and bf16, rounded to that: half the bytes, which are copied to shared memory as they are.
// The groups that read them begin with what makes the old ones of them, a Cast or a Transpose, for the template to look through.
absl::StatusOr<Graph> LayOutProductWeights(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_GPU_PRODUCT_WEIGHTS_H_
