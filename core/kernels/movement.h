// Kernels that move elements about, whatever these are. Callable: see call.h. What the extents of the operands say is not
// among the parameters. Those named _extents: see extents.h.
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
// Inputs: x, the parts' lengths; without these parts are equal, but for the last. Parameters: the axis.
int32_t slipway_Split(void** arguments);
int32_t slipway_Split_extents(void** arguments);
// Inputs: x, starts, ends, axes, steps.
int32_t slipway_Slice(void** arguments);
int32_t slipway_Slice_extents(void** arguments);
// Parameters: the axis.
int32_t slipway_Gather(void** arguments);
// Inputs: x, shape.
int32_t slipway_Expand(void** arguments);
int32_t slipway_Expand_extents(void** arguments);
// Inputs: x, pads, value, axes. Parameters: a PadMode.
int32_t slipway_Pad(void** arguments);
int32_t slipway_Pad_extents(void** arguments);
// Parameters: the block's extent, whether channels are the major part of the deep image's (CRD).
int32_t slipway_DepthToSpace(void** arguments);
int32_t slipway_SpaceToDepth(void** arguments);
// [N, C, H, W] to [N, C / block, H, W, block], and back.
int32_t slipway_Pack(void** arguments);
int32_t slipway_Unpack(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_MOVEMENT_H_
