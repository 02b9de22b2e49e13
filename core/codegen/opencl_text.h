// From what Halide made of a kernel to OpenCL C and its launches.
#ifndef SLIPWAY_CORE_CODEGEN_OPENCL_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_OPENCL_TEXT_H_

#include <halide14/Halide.h>

#include <string>

#include "absl/status/statusor.h"
#include "core/codegen/device_kernel.h"

namespace slipway {

// A module that was compiled for a target with OpenCL has, in place of the loops of instances, calls of Halide's runtime that
// launch entries of a text, which it holds, too. Here they become a list. Entries are called `prefix` and a number; their
// parameters are pointers alone, as core/runtime/device.h wants them, and tables that the kernel reads lie in the text.
// UNIMPLEMENTED for a module that does something else on the host, or whose launches hang on what only a run knows.
absl::StatusOr<DeviceKernel> OpenClTextOf(const Halide::Module& module, const std::string& prefix);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_OPENCL_TEXT_H_
