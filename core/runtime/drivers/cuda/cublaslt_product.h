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
#include "core/artifact/vendor_step.h"
#include "core/runtime/drivers/cuda/converting_code.h"
#include "core/runtime/drivers/cuda/cublaslt_library.h"
#include "core/runtime/drivers/cuda/cuda_way.h"
#include "core/runtime/vendor_library.h"

namespace slipway {

class CublasLtProduct final : public CudaWay {
 public:
  // What a product may have beside its tensors.
  static constexpr uint64_t kMostWorkspaceBytes = uint64_t{32} << 20;

  // As VendorLibrary::Find. REQUIRES: the step is a product. Where one factor lies in 16 bits and the other one in f32, that is rounded first, to the workspace, by `rounding`, without which
  // there is no way. `library`, `handle` and `rounding` outlive them; the device's context is current.
  static absl::StatusOr<std::vector<std::unique_ptr<LibraryWay>>> Find(
      const CudaDevice& device, const CublasLtLibrary& library, CublasLtHandle handle,
      const ConvertingCode* rounding, const VendorStep& step, int most);
  ~CublasLtProduct() override;

  int64_t workspace_bytes() const override {
    return rounded_bytes_ + static_cast<int64_t>(way_.workspace_bytes);
  }
  absl::Status Issue(const CudaDevice& device, CUstream stream,
                     const CudaWayAddresses& addresses) const override;

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
