// Numbers looked up by a byte in tables of 256, between Halide's lowering, which would have to be given each table as a buffer, and LLVM's
// machine code: a call of a function that nobody defines, and whose name is the table, stands for each.
#ifndef SLIPWAY_CORE_CODEGEN_TABLE_LOOKUPS_H_
#define SLIPWAY_CORE_CODEGEN_TABLE_LOOKUPS_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace slipway {

// The function of a u8 that returns the table's number for it, an integer of so many bits, 8 or 16. REQUIRES: 256 numbers, which as
// many bits hold, signed or not.
std::string TableName(absl::Span<const int64_t> table, int bits);

// Puts loads from constants in the place of the calls; where the machine permutes the bytes of two registers (VBMI of Intel's Software
// Developer's Manual, volume 2, VPERMI2B), vectors of calls of 8 bits become such permutations. LLVM's optimizations must be done.
void WriteTableLookups(llvm::Module& module, bool has_permutations);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TABLE_LOOKUPS_H_
