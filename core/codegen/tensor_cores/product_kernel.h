// From a group to the kernel of a product on tensor cores.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_KERNEL_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/codegen/tensor_cores/scheduled_kernel.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/schedules/kernel_schedule.h"
#include "core/tensor/precision.h"

namespace slipway {

// Its schedule is "product rows=128 columns=64 high=2 wide=2 parts=1": the tile, its warps, and parts of the depth; "warp-group-product ...". Its text has no
// preamble. Otherwise as MakeTensorCoreKernel. REQUIRES: `precision` is one of tensor cores'.
absl::StatusOr<ScheduledKernel> MakeProductKernel(const Graph& body,
                                                  const OperatorRegistry& registry,
                                                  const TensorGpu& gpu, Precision precision,
                                                  const std::string& function,
                                                  const ScheduleRecord* record);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_KERNEL_H_
