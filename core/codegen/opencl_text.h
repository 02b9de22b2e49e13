// From what Halide made of a kernel to OpenCL C and its launches.
#ifndef SLIPWAY_CORE_CODEGEN_OPENCL_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_OPENCL_TEXT_H_

#include "absl/status/statusor.h"
#include "core/codegen/device_kernel.h"
#include "core/codegen/device_module.h"

namespace slipway {

// Parameters of entries are pointers alone, as core/runtime/device.h wants them, and tables that the kernel reads lie in the text.
// UNIMPLEMENTED for what not every device of OpenCL computes.
absl::StatusOr<DeviceKernel> OpenClTextOf(const DeviceModule& module);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_OPENCL_TEXT_H_
