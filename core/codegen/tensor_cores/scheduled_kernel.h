// A kernel, and how its work is divided.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCHEDULED_KERNEL_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCHEDULED_KERNEL_H_

#include "core/codegen/device_kernel.h"
#include "core/schedules/kernel_schedule.h"

namespace slipway {

struct ScheduledKernel {
  DeviceKernel kernel;
  KernelSchedule schedule;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCHEDULED_KERNEL_H_
