// Random tensors that are the same everywhere: inputs a caller does not give.
#ifndef SLIPWAY_CORE_TENSOR_RANDOM_H_
#define SLIPWAY_CORE_TENSOR_RANDOM_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/tensor/tensor.h"

namespace slipway {

// Element i is made of r(i), output i of SplitMix64 (Steele, Lea, Flood 2014) from the state
// `seed` + the first 8 bytes of SHA-256(`name`), little-endian, so that inputs of one call differ:
//   f32           (r >> 40) * 2^-24, in [0, 1); f16 and bf16 are it, rounded
//   f64           (r >> 11) * 2^-53, in [0, 1)
//   integers      r >> 61, 0 to 7: indices into nearly anything
//   bool, u2, i2  r >> 63
// Errors of Tensor::Create; UNIMPLEMENTED for complex types and floats of less than 16 bits.
absl::StatusOr<Tensor> RandomTensor(const TensorType& type, uint64_t seed, absl::string_view name);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_RANDOM_H_
