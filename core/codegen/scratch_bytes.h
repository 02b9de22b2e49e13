// How much scratch memory a kernel asks for.
#ifndef SLIPWAY_CORE_CODEGEN_SCRATCH_BYTES_H_
#define SLIPWAY_CORE_CODEGEN_SCRATCH_BYTES_H_

#include <halide14/Halide.h>

#include <cstdint>

namespace slipway {

// At most alive at one time in a call by one thread of the one function of `module`, which is lowered: blocks are nested, and each counts
// as the next multiple of 64 bytes and 64 more, for whoever hands them out. -1 where a size depends on open extents.
int64_t ScratchBytes(const Halide::Module& module);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCRATCH_BYTES_H_
