// Linker: from kernels' object files to a program's code.
#ifndef SLIPWAY_CORE_CODEGEN_LINKER_H_
#define SLIPWAY_CORE_CODEGEN_LINKER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/target/target.h"

namespace slipway {

// A kernel of a program. Kernels are numbered by their place in the list.
struct LinkedKernel {
  std::string symbol;  // Defined by `object`; unique in a program.
  // Must outlive the call. Null for a callable kernel: the archives of //core/kernels define it.
  const std::string* object = nullptr;
  int argument_count = 0;  // Inputs and outputs.
};

struct LinkOptions {
  // Looked for in $PATH.
  std::string lld = "ld.lld-14";
  std::string wasm_lld = "wasm-ld-14";
  std::string objcopy = "llvm-objcopy-14";
  absl::Duration deadline = absl::Seconds(60);
};

// An ELF shared object after core/kernel_abi/kernel_abi.h: no undefined symbols, no needed libraries, one
// exported function; for wasm-32 the module that is said there, which imports nothing else. The bytes depend on the arguments alone. Objects may refer to what
// support/program_support.c defines.
//
// FAILED_PRECONDITION when there is no lld; ABORTED when somebody killed it; INTERNAL with its messages when it fails (an object refers
// to something undefined: a kernel must not call libm); UNIMPLEMENTED for other architectures than
// x86-64, arm-64, arm-32, riscv-64 and wasm-32; RESOURCE_EXHAUSTED for a program over kMaxProgramBytes; DEADLINE_EXCEEDED.
// Thread-safe. Starts a process, for which it needs threads: see kernel_compiler.h.
absl::StatusOr<std::string> LinkProgram(const DeviceTarget& target,
                                        absl::Span<const LinkedKernel> kernels,
                                        const LinkOptions& options);

// C identifiers.
struct LibrarySymbols {
  std::string kernels;  // A slipway_kernel_table that the library defines.
  std::string imports;  // The slipway_imports that it needs.
};

// A relocatable ELF object for a program that is linked into another: of the two symbols it defines the first and needs the second,
// both hidden; all else is local to it, so that a program may have any number of such. It has no variables. Otherwise as LinkProgram,
// with llvm-objcopy besides lld; UNIMPLEMENTED for wasm-32, whose programs are instantiated and not linked.
absl::StatusOr<std::string> LinkLibrary(const DeviceTarget& target,
                                        absl::Span<const LinkedKernel> kernels,
                                        const LibrarySymbols& symbols, const LinkOptions& options);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LINKER_H_
