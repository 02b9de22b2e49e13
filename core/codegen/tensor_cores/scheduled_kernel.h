// A kernel, and how its work is divided.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCHEDULED_KERNEL_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCHEDULED_KERNEL_H_

#include <vector>

#include "core/codegen/device_kernel.h"
#include "core/schedules/kernel_schedule.h"

namespace slipway {

struct ScheduledKernel {
  DeviceKernel kernel;
  KernelSchedule schedule;
  // Others that its template takes, the likeliest first.
  std::vector<KernelSchedule> candidates;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCHEDULED_KERNEL_H_
