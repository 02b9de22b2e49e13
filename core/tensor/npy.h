// NumPy's .npy files (format 1.0 to 3.0: NEP 1), read without trust and written as version 1.0.
#ifndef SLIPWAY_CORE_TENSOR_NPY_H_
#define SLIPWAY_CORE_TENSOR_NPY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/tensor/tensor.h"

namespace slipway {

// INVALID_ARGUMENT says what is wrong with the bytes; UNIMPLEMENTED for object arrays, big-endian
// elements and element types a tensor cannot hold. Fortran order is transposed on reading.
absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes);

// UNIMPLEMENTED for types NumPy lacks: bf16, and those of ONNX that are smaller than NumPy's.
absl::StatusOr<std::string> FormatNpy(const Tensor& tensor);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_NPY_H_
