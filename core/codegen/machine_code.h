// From what Halide made of a kernel to an object file.
#ifndef SLIPWAY_CORE_CODEGEN_MACHINE_CODE_H_
#define SLIPWAY_CORE_CODEGEN_MACHINE_CODE_H_

#include <halide14/Halide.h>

#include <string>

#include "absl/status/status.h"
#include "core/target/target.h"

namespace slipway {

// Writes the module's machine code, an object file, to `path`, with no instruction that `device` lacks, whatever chip the
// module's own target names. INTERNAL when it cannot be written. May throw Halide's errors; LLVM ends the process where it finds
// no instruction (compile_child.h makes an error of that).
absl::Status WriteMachineCode(const Halide::Module& module, const DeviceTarget& device,
                              const std::string& path);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_MACHINE_CODE_H_
