// From a group to the kernel of attention on tensor cores.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_KERNEL_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/codegen/tensor_cores/scheduled_kernel.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/schedules/kernel_schedule.h"
#include "core/tensor/precision.h"

namespace slipway {

// Whether a group is one slipway.BlockAttention, and nothing besides.
bool IsAttention(const Graph& body);

// Its schedule is "attention queries=128 keys=64 warps=4". Its text has no preamble. Otherwise as MakeTensorCoreKernel. REQUIRES: IsAttention, and
// `precision` is one of tensor cores'.
absl::StatusOr<ScheduledKernel> MakeAttentionKernel(const Graph& body,
                                                    const OperatorRegistry& registry,
                                                    const TensorGpu& gpu, Precision precision,
                                                    const std::string& function,
                                                    const ScheduleRecord* record);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_KERNEL_H_
