// From a group to the kernel of a convolution whose channels have a window each.
#ifndef SLIPWAY_CORE_CODEGEN_DEPTHWISE_DEPTHWISE_KERNEL_H_
#define SLIPWAY_CORE_CODEGEN_DEPTHWISE_DEPTHWISE_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/codegen/tensor_cores/scheduled_kernel.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/schedules/kernel_schedule.h"
#include "core/target/target.h"

namespace slipway {

// Its schedule is "depthwise rows=4 columns=4". `function` is what its entry's name begins with; `record`, which may be null, says the tile in place of the model.
// UNIMPLEMENTED for any other group, and for devices that are none of CUDA's from 8.0 on; INVALID_ARGUMENT for a record of something else.
absl::StatusOr<ScheduledKernel> MakeDepthwiseKernel(const Graph& body,
                                                    const OperatorRegistry& registry,
                                                    const DeviceTarget& device,
                                                    const std::string& function,
                                                    const ScheduleRecord* record);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_DEPTHWISE_DEPTHWISE_KERNEL_H_
