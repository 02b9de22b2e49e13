// How much scratch memory a kernel asks for.
#ifndef SLIPWAY_CORE_CODEGEN_SCRATCH_BYTES_H_
#define SLIPWAY_CORE_CODEGEN_SCRATCH_BYTES_H_

#include <halide14/Halide.h>

#include "core/kernel_abi/kernel_scratch.h"

namespace slipway {

// Of the one kernel of `module`, which is lowered: the bodies of its parallel loops are functions beside it. Blocks are nested, and each
// counts as the next multiple of 64 bytes and 64 more, for whoever hands them out. -1 where a size depends on open extents.
KernelScratch ScratchBytes(const Halide::Module& module);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCRATCH_BYTES_H_
