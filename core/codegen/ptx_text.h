// From what Halide made of a kernel to PTX and its launches.
#ifndef SLIPWAY_CORE_CODEGEN_PTX_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_PTX_TEXT_H_

#include "absl/status/statusor.h"
#include "core/codegen/device_kernel.h"
#include "core/codegen/device_module.h"
#include "core/target/target.h"

namespace slipway {

// As OpenClTextOf (opencl_text.h). Pointers are declared as such, so that whoever loads the text can count them. UNIMPLEMENTED for a text that
// needs more than its entries: functions of a library, or data.
absl::StatusOr<DeviceKernel> PtxTextOf(const DeviceModule& module, const DeviceTarget& device);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_PTX_TEXT_H_
