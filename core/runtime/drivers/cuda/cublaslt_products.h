// CublasLtProducts: cuBLASLt as a device's VendorLibrary for products.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_PRODUCTS_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_PRODUCTS_H_

#include <memory>
#include <vector>

#include "core/runtime/drivers/cuda/cublaslt_library.h"
#include "core/runtime/drivers/cuda/cuda_vendor_library.h"

namespace slipway {

class CublasLtProducts final : public CudaVendorLibrary {
 public:
  // FAILED_PRECONDITION where the library is not there or cannot be used with the device.
  static absl::StatusOr<std::unique_ptr<VendorLibrary>> Create(const CudaDevice& device,
                                                               const VendorLibraries& options);
  ~CublasLtProducts() override;

  absl::StatusOr<std::vector<std::unique_ptr<LibraryWay>>> Find(const VendorStep& step,
                                                                int most) override;

 private:
  CublasLtProducts(const CudaDevice& device, const CublasLtLibrary& library,
                   const VendorLibraries& options)
      : CudaVendorLibrary(device, library.name, options), library_(library) {}

  const CublasLtLibrary& library_;
  CublasLtHandle handle_ = nullptr;
  std::unique_ptr<ConvertingCode> converting_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_PRODUCTS_H_
