// What a text of PTX begins with.
#ifndef SLIPWAY_CORE_CODEGEN_PTX_HEAD_H_
#define SLIPWAY_CORE_CODEGEN_PTX_HEAD_H_

#include <string>

#include "absl/status/status.h"
#include "core/target/target.h"

namespace slipway {

// The version of the language and the compute capability, as all kernels for a device have them, whoever writes them: from sm80 on those that LLVM 14 writes, which
// later devices compile for themselves; for cuda-sm90a its own. REQUIRES: a device of CUDA, cuda-sm80 or later.
std::string PtxHead(const DeviceTarget& device);

// Whether templates of PTX in f32 are for the device: of CUDA, from sm80 on, where the largest and the smallest of two numbers, of which one may be none, are
// instructions. UNIMPLEMENTED.
absl::Status CheckTakesTemplates(const DeviceTarget& device);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_PTX_HEAD_H_
