// CublasLtProducts: cuBLASLt as a device's VendorLibrary for products.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_PRODUCTS_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_PRODUCTS_H_

#include <memory>
#include <string>
#include <vector>

#include "core/runtime/drivers/cuda/cublaslt_library.h"
#include "core/runtime/drivers/cuda/rounding_code.h"
#include "core/runtime/vendor_library.h"

namespace slipway {

class CudaDevice;

// What a driver is told of libraries.
struct VendorLibraries {
  LibraryUse use = LibraryUse::kNever;
  std::string kept_times;  // As VendorLibrary::kept_times.
};

class CublasLtProducts final : public VendorLibrary {
 public:
  // FAILED_PRECONDITION where the library is not there or cannot be used with the device.
  static absl::StatusOr<std::unique_ptr<CublasLtProducts>> Create(const CudaDevice& device,
                                                                  const VendorLibraries& options);
  ~CublasLtProducts() override;

  const std::string& name() const override { return library_.name; }
  const std::string& key() const override { return key_; }
  LibraryUse use() const override { return options_.use; }
  const std::string& kept_times() const override { return options_.kept_times; }
  absl::StatusOr<std::vector<std::unique_ptr<LibraryWay>>> Find(const VendorStep& step,
                                                                int most) override;

 private:
  CublasLtProducts(const CudaDevice& device, const CublasLtLibrary& library,
                   VendorLibraries options);

  const CudaDevice& device_;
  const CublasLtLibrary& library_;
  const VendorLibraries options_;
  const std::string key_;
  CublasLtHandle handle_ = nullptr;
  std::unique_ptr<RoundingCode> rounding_;  // Null where the device has no instructions for it.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_PRODUCTS_H_
