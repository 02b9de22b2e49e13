// From a group to the kernel of rows that are normalized.
#ifndef SLIPWAY_CORE_CODEGEN_ROWS_ROW_KERNEL_H_
#define SLIPWAY_CORE_CODEGEN_ROWS_ROW_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/codegen/tensor_cores/scheduled_kernel.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/schedules/kernel_schedule.h"
#include "core/target/target.h"

namespace slipway {

// Its schedule is "warp-rows warps=4", or "warp-rows warps=8 parts=3" where rows are long. `function` is what its entries' names begin with; `record`, which may be null, says the division in place of the model.
// UNIMPLEMENTED for any other group, and for devices that are none of CUDA's from 8.0 on; INVALID_ARGUMENT for a record of something else.
absl::StatusOr<ScheduledKernel> MakeRowKernel(const Graph& body, const OperatorRegistry& registry,
                                              const DeviceTarget& device,
                                              const std::string& function,
                                              const ScheduleRecord* record);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_ROWS_ROW_KERNEL_H_
