// From a group to its kernel on tensor cores.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_TENSOR_CORE_KERNEL_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_TENSOR_CORE_KERNEL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/codegen/tensor_cores/scheduled_kernel.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/schedules/kernel_schedule.h"
#include "core/target/target.h"
#include "core/tensor/precision.h"

namespace slipway {

// Whether a device multiplies in tf32, f16 or bf16 on tensor cores, as the templates do. UNIMPLEMENTED names what it lacks: "cuda-sm75 has no tensor
// cores for bf16".
absl::Status CheckHasProductsOf(const DeviceTarget& device, Precision precision);

// What GPUs of 8.0 and 9.0 for servers have about: the target does not say.
const TensorGpu& GpuOf(const DeviceTarget& device);

// `function` is what its entries' names begin with; `record`, which may be null, says the division in place of the model. INVALID_ARGUMENT for one of
// another kind, or of a division that there is not; errors of DecodeProduct, DecodeFusedAttention and CheckHasProductsOf.
absl::StatusOr<ScheduledKernel> MakeTensorCoreKernel(
    const Graph& body, const OperatorRegistry& registry, const DeviceTarget& device,
    Precision precision, const std::string& function, const ScheduleRecord* record);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_TENSOR_CORE_KERNEL_H_
