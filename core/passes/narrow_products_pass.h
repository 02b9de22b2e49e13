// NarrowProducts: convolutions and products of matrices of the small numbers that the machine multiplies and adds several at once.
#ifndef SLIPWAY_CORE_PASSES_NARROW_PRODUCTS_PASS_H_
#define SLIPWAY_CORE_PASSES_NARROW_PRODUCTS_PASS_H_

#include <functional>

#include "core/operators/convolution.h"
#include "core/passes/pass.h"

namespace slipway {

// Which products of small numbers are to be.
struct NarrowForms {
  bool bfloat16_matrices = false;  // GemmPacked's in place of f32, which they are rounded to,
  // and ConvNCHWc's over blocks of an even number of channels for which this says so; none where it is null.
  std::function<bool(const ConvView&)> bfloat16_convolutions;
  bool bfloat16_depthwise =
      false;           // What DepthwiseConvNCHWc of f32 reads, which is summed in f32 as before.
  bool bytes = false;  // In place of i16 whose values fit in 8 bits: the same sums.
  bool depthwise_bytes = false;  // The same where a channel is one of its own.
};

// slipway.ConvNCHWc of blocked channels by constant weights, in f32 or of integers (i16), reads data and weights in bf16 or in
// bytes (core/operators/convolution.h); so does slipway.GemmPacked of a depth that is even, or of fours for bytes. What they read is made narrow behind what makes it, so that FuseOps puts that into one
// kernel; where elementwise operators are all else that reads it, they read the narrow form, widened, and the wide one is never
// stored. Integers are told by what makes them to fit in bytes, weights by themselves. Expects AlterLayout, ChooseConvolution and
// PackGemm: what is to be by other means, as depthwise convolutions, those of few channels and transformed tiles are, stays what it is.
absl::StatusOr<Graph> NarrowProducts(Graph graph, const PassContext& context,
                                     const NarrowForms& forms);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_NARROW_PRODUCTS_PASS_H_
