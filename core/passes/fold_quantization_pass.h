// FoldQuantization: products between DequantizeLinear and QuantizeLinear as products of integers.
#ifndef SLIPWAY_CORE_PASSES_FOLD_QUANTIZATION_PASS_H_
#define SLIPWAY_CORE_PASSES_FOLD_QUANTIZATION_PASS_H_

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"

namespace slipway {

// Where an image or rows of 8 bits, with one scale and one zero point that are constants, are multiplied with
// constant weights of 8 bits, which have a scale for all or one an output channel:
//   - both become numbers of 16 bits less their zero point, so that zeros around an image are
//     zeros, and their products a slipway.IntegerConv of a Conv, or a slipway.IntegerGemm of a Gemm or MatMul. ConvInteger,
//     QLinearConv, MatMulInteger and QLinearMatMul become the same, MatMulInteger also where only running tells the zero
//     point of the rows. None of them saturates, and no sum of products of 8 bits wraps around;
//   - sums are multiplied with both scales and the bias is added, in f32;
//   - a QuantizeLinear takes its scale into what it reads where that costs nothing (scale_ahead.h):
//     it becomes 1; else it multiplies what is computed by the reciprocal, which takes a fraction of a division. Results differ
//     from the model's by roundings in f32;
//   - a QuantizeLinear that such products read makes numbers of 16 bits less their zero point at
//     once. MaxPools between a DequantizeLinear and a QuantizeLinear that undo each other are of
//     those.
//   - a Relu or Clip before a QuantizeLinear goes where that saturates at the same numbers.
// Depthwise convolutions are taken where weights are of 8 bits less their zero point, too: kernels sum them in f32, exactly.
// Everything else stays.
absl::StatusOr<Graph> FoldQuantization(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_FOLD_QUANTIZATION_PASS_H_
