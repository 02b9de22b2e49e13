#include "client/cli/tensor_files.h"

#include <utility>

#include "absl/strings/match.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/tensor/npy.h"
#include "core/tensor/npz.h"
#include "core/tensor/onnx_tensor.h"

namespace slipway::cli {
namespace {

// Larger inputs than a server could take are not read at all.
constexpr int64_t kMaxInputFileBytes = int64_t{8} << 30;

}  // namespace

absl::StatusOr<Tensor> ReadTensorFile(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxInputFileBytes));
  if (absl::EndsWith(path, ".npy")) return ParseNpy(bytes);
  if (absl::EndsWith(path, ".pb")) {
    SLIPWAY_ASSIGN_OR_RETURN(NamedTensor named, ParseOnnxTensor(bytes));
    return std::move(named.tensor);
  }
  return absl::InvalidArgumentError("the name ends neither in .npy nor in .pb");
}

absl::StatusOr<std::vector<NamedTensor>> ReadTensorArchive(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxInputFileBytes));
  return ParseNpz(bytes, kMaxInputFileBytes);
}

absl::Status WriteTensorFile(const Tensor& tensor, const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(tensor));
  return WriteFileAtomically(path, bytes, /*durable=*/false);
}

}  // namespace slipway::cli
