// CpuBackend: artifacts for one CPU, x86-64, arm-64, arm-32, riscv-64 or wasm-32, of kernels compiled by core/codegen.
#ifndef SLIPWAY_CORE_BACKENDS_CPU_CPU_BACKEND_H_
#define SLIPWAY_CORE_BACKENDS_CPU_CPU_BACKEND_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/backends/backend_environment.h"
#include "core/backends/target_backend.h"

namespace slipway {

// FamilyOf the targets it compiles for.
inline constexpr absl::string_view kCpuFamilies[] = {
    "arm-32-linux", "arm-64-linux", "riscv-64-linux", "wasm-32-wasi", "x86-64-linux"};

// Compiles kernels in forked children: the calling process must have one thread
// (core/codegen/kernel_compiler.h).
absl::StatusOr<std::unique_ptr<TargetBackend>> CreateCpuBackend(
    const BackendEnvironment& environment);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_CPU_CPU_BACKEND_H_
