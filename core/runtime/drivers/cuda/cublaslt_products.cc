#include "core/runtime/drivers/cuda/cublaslt_products.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cublaslt_product.h"
#include "core/runtime/drivers/cuda/cuda_device.h"

namespace slipway {

absl::StatusOr<std::unique_ptr<VendorLibrary>> CublasLtProducts::Create(
    const CudaDevice& device, const VendorLibraries& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const CublasLtLibrary* library,
                           CublasLtLibrary::Load(device.cuda().version));
  const CurrentContext current(device);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  std::unique_ptr<CublasLtProducts> products(new CublasLtProducts(device, *library, options));
  SLIPWAY_RETURN_IF_ERROR(ToStatus(library->Create(&products->handle_),
                                   absl::StrCat(device.name(), ": ", library->name)));
  SLIPWAY_ASSIGN_OR_RETURN(products->converting_, LoadConvertingCode(device));
  return std::unique_ptr<VendorLibrary>(std::move(products));
}

CublasLtProducts::~CublasLtProducts() {
  const CurrentContext current(device());
  if (handle_ != nullptr) library_.Destroy(handle_);
}

absl::StatusOr<std::vector<std::unique_ptr<LibraryWay>>> CublasLtProducts::Find(
    const VendorStep& step, int most) {
  const CurrentContext current(device());
  SLIPWAY_RETURN_IF_ERROR(current.status());
  return CublasLtProduct::Find(device(), library_, handle_, converting_.get(), step, most);
}

}  // namespace slipway
