#include "core/codegen/tensor_cores/tensor_core_kernel.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/ptx_head.h"
#include "core/codegen/tensor_cores/attention_kernel.h"
#include "core/codegen/tensor_cores/kernel_text.h"
#include "core/codegen/tensor_cores/product_kernel.h"
#include "core/codegen/tensor_cores/tensor_tile.h"

namespace slipway {

const TensorGpu& GpuOf(const DeviceTarget& device) { return device.is_specific ? kH100 : kA100; }

absl::Status CheckHasProductsOf(const DeviceTarget& device, Precision precision) {
  if (FindNumberForm(precision) == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("nothing is multiplied in ", Name(precision), " on tensor cores"));
  }
  constexpr int kFirst = 80;
  if (device.arch == Arch::kCuda && device.level >= kFirst) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(device.ToString(), " has no tensor cores for ", Name(precision)));
}

absl::StatusOr<ScheduledKernel> MakeTensorCoreKernel(
    const Graph& body, const OperatorRegistry& registry, const DeviceTarget& device,
    Precision precision, const std::string& function, const ScheduleRecord* record) {
  SLIPWAY_RETURN_IF_ERROR(CheckHasProductsOf(device, precision));
  const auto make = IsAttention(body) ? MakeAttentionKernel : MakeProductKernel;
  SLIPWAY_ASSIGN_OR_RETURN(ScheduledKernel made,
                           make(body, registry, GpuOf(device), precision, function, record));
  made.kernel.preamble = PtxHead(device);
  return made;
}

}  // namespace slipway
