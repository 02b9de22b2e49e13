// Copies and fills of memory in kernels, as LLVM makes them of loops.
#ifndef SLIPWAY_CORE_CODEGEN_BYTE_MOVES_H_
#define SLIPWAY_CORE_CODEGEN_BYTE_MOVES_H_

namespace llvm {
class Module;
}  // namespace llvm

namespace slipway {

// Puts loads and stores of whole vector registers in the place of llvm.memcpy and llvm.memset of known lengths. Left to LLVM, those
// become calls of what every processor of the architecture can do, around which no vector stays in its register:
// rows of padded images are copied by the kilobyte between products. What has other lengths stays.
// LLVM's optimizations must be done: they would make the loops calls again. REQUIRES: vector_bytes is a power of two, at least 16.
void WriteByteMoves(llvm::Module& module, unsigned vector_bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_BYTE_MOVES_H_
