// CudnnConvolutions: cuDNN as a device's VendorLibrary for convolutions.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_CONVOLUTIONS_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_CONVOLUTIONS_H_

#include <memory>
#include <vector>

#include "core/runtime/drivers/cuda/cuda_vendor_library.h"
#include "core/runtime/drivers/cuda/cudnn_convolution.h"
#include "core/runtime/drivers/cuda/cudnn_library.h"

namespace slipway {

class CudnnConvolutions final : public CudaVendorLibrary {
 public:
  // FAILED_PRECONDITION where the library is not there or cannot be used with the device.
  static absl::StatusOr<std::unique_ptr<VendorLibrary>> Create(const CudaDevice& device,
                                                               const VendorLibraries& options);
  ~CudnnConvolutions() override;

  absl::StatusOr<std::vector<std::unique_ptr<LibraryWay>>> Find(const VendorStep& step,
                                                                int most) override;

 private:
  CudnnConvolutions(const CudaDevice& device, const CudnnLibrary& library,
                    const VendorLibraries& options)
      : CudaVendorLibrary(device, library.name, options), library_(library) {}

  const CudnnLibrary& library_;
  CudnnSession session_;
  std::unique_ptr<ConvertingCode> converting_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_CONVOLUTIONS_H_
