#include "core/runtime/drivers/cuda/cudnn_convolutions.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cuda_device.h"

namespace slipway {

absl::StatusOr<std::unique_ptr<VendorLibrary>> CudnnConvolutions::Create(
    const CudaDevice& device, const VendorLibraries& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const CudnnLibrary* library, CudnnLibrary::Load(device.cuda().version));
  const CurrentContext current(device);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  std::unique_ptr<CudnnConvolutions> made(new CudnnConvolutions(device, *library, options));
  SLIPWAY_RETURN_IF_ERROR(library->ToStatus(library->Create(&made->session_.handle),
                                            absl::StrCat(device.name(), ": ", library->name)));
  SLIPWAY_ASSIGN_OR_RETURN(made->converting_, LoadConvertingCode(device));
  return std::unique_ptr<VendorLibrary>(std::move(made));
}

CudnnConvolutions::~CudnnConvolutions() {
  const CurrentContext current(device());
  if (session_.handle != nullptr) library_.Destroy(session_.handle);
}

absl::StatusOr<std::vector<std::unique_ptr<LibraryWay>>> CudnnConvolutions::Find(
    const VendorStep& step, int most) {
  const CurrentContext current(device());
  SLIPWAY_RETURN_IF_ERROR(current.status());
  return CudnnConvolution::Find(device(), library_, session_, converting_.get(), step, most);
}

}  // namespace slipway
