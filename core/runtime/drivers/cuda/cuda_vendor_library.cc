#include "core/runtime/drivers/cuda/cuda_vendor_library.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/runtime/drivers/cuda/cuda_device.h"

namespace slipway {

CudaVendorLibrary::CudaVendorLibrary(const CudaDevice& device, const std::string& name,
                                     VendorLibraries options)
    : device_(device),
      options_(std::move(options)),
      name_(name),
      key_(absl::StrCat(name, ", ", device.facts().name, ", sm_", device.facts().capability, ", ",
                        device.facts().multiprocessors, " multiprocessors, driver for CUDA ",
                        CudaVersionName(device.cuda().version))) {}

absl::StatusOr<std::unique_ptr<ConvertingCode>> CudaVendorLibrary::LoadConvertingCode(
    const CudaDevice& device) {
  if (device.facts().capability < ConvertingCode::kLeastCapability) return nullptr;
  return ConvertingCode::Load(device);
}

}  // namespace slipway
