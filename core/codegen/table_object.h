// The object file of a program's table of kernels (kernel_abi.h), written directly, as ELF or, for wasm-32, as WebAssembly:
// its rows point to kernels by relocations, so that no compiler has to run for it.
#ifndef SLIPWAY_CORE_CODEGEN_TABLE_OBJECT_H_
#define SLIPWAY_CORE_CODEGEN_TABLE_OBJECT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/target/target.h"

namespace slipway {

// One row of the table.
struct TableRow {
  std::string symbol;      // The kernel's, a slipway_kernel function.
  int argument_count = 0;  // Inputs and outputs.
};

// A relocatable object that defines `slipway_program_kernels` with these rows. UNIMPLEMENTED for an
// architecture other than x86-64, arm-64, arm-32, riscv-64 and wasm-32.
absl::StatusOr<std::string> MakeTableObject(Arch arch, const std::vector<TableRow>& rows);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TABLE_OBJECT_H_
