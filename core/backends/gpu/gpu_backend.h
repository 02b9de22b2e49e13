// GpuBackend: artifacts for a CPU with a GPU beside it, or whatever else is programmed like one: a device of CUDA or of OpenCL.
#ifndef SLIPWAY_CORE_BACKENDS_GPU_GPU_BACKEND_H_
#define SLIPWAY_CORE_BACKENDS_GPU_GPU_BACKEND_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/backends/backend_environment.h"
#include "core/backends/target_backend.h"

namespace slipway {

// FamilyOf the targets it compiles for.
inline constexpr absl::string_view kGpuFamilies[] = {"arm-64-linux,cuda", "arm-64-linux,opencl",
                                                     "x86-64-linux,cuda", "x86-64-linux,opencl"};

// Compiles kernels in forked children: the calling process must have one thread
// (core/codegen/kernel_compiler.h).
absl::StatusOr<std::unique_ptr<TargetBackend>> CreateGpuBackend(
    const BackendEnvironment& environment);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_GPU_GPU_BACKEND_H_
