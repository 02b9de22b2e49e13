// The host's memory, as kernels need it.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_HOST_MEMORY_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_HOST_MEMORY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/runtime/device.h"

namespace slipway {

// Aligned to kBufferAlignment and never empty, so that tensors without elements have an address too; on large
// pages where it is large and the system has them. Its `address` is 0. RESOURCE_EXHAUSTED.
absl::StatusOr<DeviceMemory> AllocateHostMemory(int64_t bytes);
void FreeHostMemory(const DeviceMemory& memory);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_HOST_MEMORY_H_
