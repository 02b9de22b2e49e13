#include "core/runtime/drivers/cuda/cublaslt_products.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cublaslt_product.h"
#include "core/runtime/drivers/cuda/cuda_device.h"

namespace slipway {

CublasLtProducts::CublasLtProducts(const CudaDevice& device, const CublasLtLibrary& library,
                                   VendorLibraries options)
    : device_(device),
      library_(library),
      options_(std::move(options)),
      key_(absl::StrCat(library.name, ", ", device.facts().name, ", sm_", device.facts().capability,
                        ", ", device.facts().multiprocessors, " multiprocessors, driver for CUDA ",
                        CudaVersionName(device.cuda().version))) {}

absl::StatusOr<std::unique_ptr<CublasLtProducts>> CublasLtProducts::Create(
    const CudaDevice& device, const VendorLibraries& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const CublasLtLibrary* library,
                           CublasLtLibrary::Load(device.cuda().version));
  const CurrentContext current(device);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  std::unique_ptr<CublasLtProducts> products(new CublasLtProducts(device, *library, options));
  SLIPWAY_RETURN_IF_ERROR(ToStatus(library->Create(&products->handle_),
                                   absl::StrCat(device.name(), ": ", library->name)));
  if (device.facts().capability >= RoundingCode::kLeastCapability) {
    SLIPWAY_ASSIGN_OR_RETURN(products->rounding_, RoundingCode::Load(device));
  }
  return products;
}

CublasLtProducts::~CublasLtProducts() {
  const CurrentContext current(device_);
  if (handle_ != nullptr) library_.Destroy(handle_);
}

absl::StatusOr<std::vector<std::unique_ptr<LibraryWay>>> CublasLtProducts::Find(
    const VendorStep& step, int most) {
  const CurrentContext current(device_);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  return CublasLtProduct::Find(device_, library_, handle_, rounding_.get(), step, most);
}

}  // namespace slipway
