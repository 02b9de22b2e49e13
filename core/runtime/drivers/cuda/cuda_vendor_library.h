// CudaVendorLibrary: what NVIDIA's libraries have in common as a device's VendorLibrary.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_VENDOR_LIBRARY_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_VENDOR_LIBRARY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/runtime/drivers/cuda/converting_code.h"
#include "core/runtime/vendor_library.h"

namespace slipway {

class CudaDevice;

// What a driver is told of libraries.
struct VendorLibraries {
  LibraryUse use = LibraryUse::kNever;
  std::string kept_times;  // As VendorLibrary::kept_times.
};

class CudaVendorLibrary : public VendorLibrary {
 public:
  const std::string& name() const final { return name_; }
  const std::string& key() const final { return key_; }
  LibraryUse use() const final { return options_.use; }
  const std::string& kept_times() const final { return options_.kept_times; }

 protected:
  // `name` is the library's, with its version.
  CudaVendorLibrary(const CudaDevice& device, const std::string& name, VendorLibraries options);

  const CudaDevice& device() const { return device_; }
  // Null, and OK, where the device has no instructions for it. The device's context is current.
  static absl::StatusOr<std::unique_ptr<ConvertingCode>> LoadConvertingCode(
      const CudaDevice& device);

 private:
  const CudaDevice& device_;
  const VendorLibraries options_;
  const std::string name_;
  const std::string key_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_VENDOR_LIBRARY_H_
