// Weights and other constants in the layouts of the blocked operators (core/operators/convolution.h,
// matrix.h). A wrong shape or type is a bug of ours. Weights of convolutions are f32, or i16, which come in pairs; those of Winograd
// and matrices are f32.
#ifndef SLIPWAY_CORE_PASSES_PACK_CONSTANTS_H_
#define SLIPWAY_CORE_PASSES_PACK_CONSTANTS_H_

#include <cstddef>
#include <cstdint>

#include "core/tensor/tensor.h"

namespace slipway {

// [N, C, H, W] to [N, C/block, H, W, block]. REQUIRES: block divides C.
Tensor PackChannels(const Tensor& nchw, int64_t block);

// A dimension is as long as `extent`, by zeros behind what is there. REQUIRES: it is not longer.
Tensor ExtendByZeros(const Tensor& tensor, size_t axis, int64_t extent);

// Conv's weights [Co, Ci/g, KH, KW] to [Co/co, Ci/g/ci, KH, KW, ci, co]; of i16 to [Co/co, Ci/g/ci, KH, KW, ci/2, co, 2].
Tensor PackConvWeights(const Tensor& weights, int64_t ci, int64_t co);

// The same for a plain input: to [Co/co, Ci/g, KH, KW, co]; of i16 to [Co/co, Ci/g, KH, ceil(KW/2), co, 2], where a column of
// zeros makes KW even.
Tensor PackConvWeightsForPlainInput(const Tensor& weights, int64_t co);

// What PackConvWeights or PackMatrix makes of f32, rounded to bf16 in pairs of inputs: to [..., ci/2, co, 2].
Tensor PackedAsBfloat16(const Tensor& packed);

// What they make of i16, as i8 in fours: from [..., ci/2, co, 2] to [..., ci/4, co, 4]. REQUIRES: i8 holds each, and 4 divides ci.
Tensor PackedAsBytes(const Tensor& packed);
// The sum of each of so many output channels' weights, times `factor`: i32 [channels], which wraps around. `packed` is as PackedAsBytes
// reads it, and may be padded beyond those channels.
Tensor SumsOfPacked(const Tensor& packed, int64_t channels, int32_t factor);

// [C, 1, KH, KW] to [C/c, KH, KW, c].
Tensor PackDepthwiseWeights(const Tensor& weights, int64_t c);
// What it makes of i16, as i8. REQUIRES: i8 holds each.
Tensor DepthwiseAsBytes(const Tensor& packed);
// As SumsOfPacked.
Tensor SumsOfDepthwise(const Tensor& packed, int32_t factor);

// What PackConvWeights makes of kernels of 3 x 3, transformed for Winograd's tiles of m x m outputs (core/kernels/winograd.h): to
// [m + 2, m + 2, Co/co, Ci/ci, ci, co]. REQUIRES: m is 2, 4 or 6.
Tensor WinogradWeights(const Tensor& packed, int64_t m);

// Of what PackMatrix makes, or PackConvWeights of single places, the sums of quarters for Strassen's products (core/operators/strassen.h):
// from [N/n, K, n] or [N/n, K/k, 1, 1, k, n] to [N/2/n, 7, K/2, n]. REQUIRES: N/n and K are even.
Tensor StrassenWeights(const Tensor& packed);

// [K, N] to [ceil(N/n), K, n]; of i16 to [ceil(N/n), K/2, n, 2]; the columns past N are 0. REQUIRES: pairs divide K.
Tensor PackMatrix(const Tensor& matrix, int64_t n);

// [N, K] to [K, N].
Tensor Transposed(const Tensor& matrix);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_PACK_CONSTANTS_H_
