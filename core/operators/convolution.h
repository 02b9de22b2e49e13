// Convolutions: Conv, slipway.IntegerConv, slipway.ConvNCHWc, slipway.DepthwiseConvNCHWc, slipway.WinogradConvNCHWc,
// slipway.StrassenConvNCHWc.
//
// slipway.IntegerConv is Conv over i16 without a bias; y is i32, whose sums wrap around. Quantized tensors less their zero point
// are such (core/passes/fold_quantization_pass.h).
//
// The blocked forms (NCHWc) keep c channels innermost:
//   slipway.ConvNCHWc: x [N, Ci/ci, H, W, ci], or plain [N, Ci, H, W] where channels are few;
//     w [Co/co, Ci/group/ci, KH, KW, ci, co], or [Co/co, Ci/group, KH, KW, co] for a plain x;
//     bias [Co], optional; y [N, Co/co, OH, OW, co]. Both Ci/group % ci and Co/group % co are 0.
//     Of i16, where y is i32, there is no bias, and w has pairs innermost, which are multiplied and added at once: of input
//     channels, [Co/co, Ci/group/ci, KH, KW, ci/2, co, 2], or of columns for a plain x, [Co/co, Ci/group, KH, KW/2, co, 2].
//     Of x and w in bf16 y and bias are f32, and w has such pairs of channels; x is not plain.
//     Of x in u8 and w in i8 y and bias are i32, whose sums wrap around, and w has fours of channels, [..., ci/4, co, 4]; x is
//     not plain, and its surroundings hold the number "zero".
//   slipway.DepthwiseConvNCHWc: x [N, C/c, H, W, c]; w [C/c, KH, KW, c]; bias [C], optional. Of i16 as slipway.IntegerConv,
//     or of x in u8 and w in i8 as slipway.ConvNCHWc, w without fours; or of x in bf16, where all else is f32.
//   slipway.WinogradConvNCHWc: x and y as ConvNCHWc's, with kernels of 3 x 3 in one group, strides and dilations of 1; f32;
//     w [t, t, Co/co, Ci/ci, ci, co], transformed for tiles of (t - 2) x (t - 2) outputs, t 4, 6 or 8 (core/kernels/winograd.h).
//   slipway.StrassenConvNCHWc: x and y as ConvNCHWc's, with kernels of 1 x 1 in one group, strides and dilations of 1, no pads; f32;
//     w [Co/2/co, 7, Ci/2, co], sums of quarters (strassen.h): blocks of Co are of the left and of the right ones in turn. Both
//     numbers of blocks are even.
// Their attributes are Conv's with pads explicit.
#ifndef SLIPWAY_CORE_OPERATORS_CONVOLUTION_H_
#define SLIPWAY_CORE_OPERATORS_CONVOLUTION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"
#include "core/operators/window.h"

namespace slipway {

// A convolution's sizes with everything implicit made explicit, of any of the operators.
// Extent: see BasicWindow.
template <typename Extent>
struct BasicConvView {
  Extent batch = 0;
  Extent in_channels = 0;
  Extent out_channels = 0;
  int64_t group = 1;           // in_channels for the depthwise form.
  int64_t in_block = 1;        // Channels innermost in x; 1 when x is plain.
  int64_t out_block = 1;       // Channels innermost in y; 1 for Conv.
  int64_t winograd_tile = 0;   // t of the Winograd form; 0 for the others.
  bool has_bias = false;       // Input 2.
  bool is_integer = false;     // y is i32.
  int64_t terms = 1;           // Innermost in w: products that are added at once.
  int64_t zero = 0;            // What surrounds x.
  BasicWindow<Extent> window;  // Over the spatial dimensions; the blocked forms have two.
};
using ConvView = BasicConvView<int64_t>;

// Any of them by node.op; batch and the window's input and output are kOpenExtent where they are not known. Errors as
// those of the type rule, which reads nodes by the same code; UNIMPLEMENTED where another number is open.
absl::StatusOr<ConvView> DecodeConv(const NodeView& view);

absl::Status RegisterConvolutionOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_CONVOLUTION_H_
