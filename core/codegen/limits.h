// The limits of code generation. A group or object beyond them is refused by name.
#ifndef SLIPWAY_CORE_CODEGEN_LIMITS_H_
#define SLIPWAY_CORE_CODEGEN_LIMITS_H_

#include <cstdint>

namespace slipway {

// Halide's index arithmetic is 32-bit: no tensor of a kernel may have this many elements or bytes.
inline constexpr int64_t kMaxKernelTensorBytes = (int64_t{1} << 31) - 1;
inline constexpr int kMaxGroupNodes = 256;       // Nodes of one fusion group.
inline constexpr int kMaxKernelArguments = 512;  // Inputs and outputs of one kernel.
// A constant inside a group becomes part of the code; larger ones belong among the group's inputs.
inline constexpr int64_t kMaxBakedConstantBytes = 64 << 10;
inline constexpr int64_t kMaxObjectBytes = int64_t{16} << 20;  // One kernel's object file.
inline constexpr int64_t kMaxProgramBytes = int64_t{256} << 20;
// Of the log of a compile or link that failed, this much is kept: its end.
inline constexpr int64_t kMaxLogBytes = 64 << 10;
// An expression with more terms than this is computed into memory of its own: Halide's cost grows
// faster than linearly with the size of an expression.
inline constexpr int kMaxInlinedTerms = 48;

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LIMITS_H_
