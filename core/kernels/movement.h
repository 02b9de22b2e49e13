// Kernels that move elements about, whatever these are. Callable: see call.h. What the extents of the operands say is not
// among the parameters.
#ifndef SLIPWAY_CORE_KERNELS_MOVEMENT_H_
#define SLIPWAY_CORE_KERNELS_MOVEMENT_H_

#include <stdint.h>

namespace slipway::kernels {
// Parameter of slipway_Pad.
enum class PadMode : int64_t { kConstant, kReflect, kEdge, kWrap };
}  // namespace slipway::kernels

extern "C" {
// Parameters: by dimension of y that of x.
int32_t slipway_Transpose(void** arguments);
// Parameters: the axis.
int32_t slipway_Concat(void** arguments);
// Inputs: x, the parts' lengths (as y's extents say). Parameters: the axis, the length of each output's part.
int32_t slipway_Split(void** arguments);
// Inputs: x, starts, ends, axes, steps. y has the extents that these make.
int32_t slipway_Slice(void** arguments);
// Parameters: the axis.
int32_t slipway_Gather(void** arguments);
// Inputs: x, shape (y's extents say as much). Fails where x does not broadcast to y.
int32_t slipway_Expand(void** arguments);
// Inputs: x, pads, value, axes. Parameters: a PadMode.
int32_t slipway_Pad(void** arguments);
// Parameters: the block's extent, whether channels are the major part of the deep image's (CRD).
int32_t slipway_DepthToSpace(void** arguments);
int32_t slipway_SpaceToDepth(void** arguments);
// [N, C, H, W] to [N, C / block, H, W, block], and back.
int32_t slipway_Pack(void** arguments);
int32_t slipway_Unpack(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_MOVEMENT_H_
