// CublasLtProduct: a product of matrices by cuBLASLt, in one of the ways that its heuristics name.
//
// Source: NVIDIA, "cuBLAS", chapter "Using the cuBLASLt API".
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_PRODUCT_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/artifact/library_product.h"
#include "core/runtime/drivers/cuda/cublaslt_library.h"
#include "core/runtime/drivers/cuda/rounding_code.h"
#include "core/runtime/product_library.h"

namespace slipway {

class CudaDevice;

// A product's addresses on the device, each a multiple of kAlignment; 0 for what it does not have.
struct CublasLtAddresses {
  CUdeviceptr left = 0;
  CUdeviceptr right = 0;
  CUdeviceptr result = 0;
  CUdeviceptr bias = 0;
  CUdeviceptr added = 0;
  CUdeviceptr workspace = 0;
};

class CublasLtProduct final : public DeviceProduct {
 public:
  // What each tensor's address is a multiple of, and what a product may have beside its tensors.
  static constexpr uint32_t kAlignment = 64;
  static constexpr uint64_t kMostWorkspaceBytes = uint64_t{32} << 20;

  // As ProductLibrary::Find. Where one factor lies in 16 bits and the other one in f32, that is rounded first, to the workspace, by `rounding`, without which
  // there is no way. `library`, `handle` and `rounding` outlive them; the device's context is current.
  static absl::StatusOr<std::vector<std::unique_ptr<DeviceProduct>>> Find(
      const CudaDevice& device, const CublasLtLibrary& library, CublasLtHandle handle,
      const RoundingCode* rounding, const LibraryProduct& product, int most);
  ~CublasLtProduct() override;

  int64_t workspace_bytes() const {
    return rounded_bytes_ + static_cast<int64_t>(way_.workspace_bytes);
  }
  // Gives it to the stream, which may capture. The workspace has workspace_bytes(), and is the stream's. The device's context is current.
  absl::Status Issue(const CudaDevice& device, CUstream stream,
                     const CublasLtAddresses& addresses) const;

 private:
  struct Descriptors;  // cuBLASLt's, of all ways together.

  CublasLtProduct(std::shared_ptr<const Descriptors> descriptors, const CublasLtHeuristic& way,
                  int64_t rounded_bytes)
      : descriptors_(std::move(descriptors)), way_(way), rounded_bytes_(rounded_bytes) {}

  const std::shared_ptr<const Descriptors> descriptors_;
  const CublasLtHeuristic way_;
  const int64_t rounded_bytes_;  // Of the workspace: the factor that is rounded.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_PRODUCT_H_
