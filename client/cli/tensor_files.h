// Tensors in files.
#ifndef SLIPWAY_CLIENT_CLI_TENSOR_FILES_H_
#define SLIPWAY_CLIENT_CLI_TENSOR_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

// A .npy file, or a .pb file with ONNX's TensorProto. Errors of reading and parsing it; INVALID_ARGUMENT for another name.
absl::StatusOr<Tensor> ReadTensorFile(const std::string& path);

// The arrays of a .npz file. The same errors; those of an array name it.
absl::StatusOr<std::vector<NamedTensor>> ReadTensorArchive(const std::string& path);

// As .npy.
absl::Status WriteTensorFile(const Tensor& tensor, const std::string& path);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_TENSOR_FILES_H_
