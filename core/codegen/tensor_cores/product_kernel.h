// From a group to its kernel on tensor cores.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_KERNEL_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/codegen/device_kernel.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/schedules/kernel_schedule.h"
#include "core/target/target.h"
#include "core/tensor/precision.h"

namespace slipway {

struct ScheduledKernel {
  DeviceKernel kernel;
  KernelSchedule
      schedule;  // "product rows=128 columns=64 high=2 wide=2 parts=1": the tile, its warps, and parts of the depth; "warp-group-product ...".
};

// `function` is what its entries' names begin with; `record`, which may be null, says the division in place of the model. INVALID_ARGUMENT for one of
// another kind, or of a division that there is not; errors of DecodeProduct and CheckHasProductsOf.
absl::StatusOr<ScheduledKernel> MakeProductKernel(const Graph& body,
                                                  const OperatorRegistry& registry,
                                                  const DeviceTarget& device, Precision precision,
                                                  const std::string& function,
                                                  const ScheduleRecord* record);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_KERNEL_H_
