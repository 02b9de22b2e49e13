// CanonicalizeOps: one way of writing what ONNX can say in several.
#ifndef SLIPWAY_CORE_PASSES_CANONICALIZE_OPS_PASS_H_
#define SLIPWAY_CORE_PASSES_CANONICALIZE_OPS_PASS_H_

#include "core/passes/pass.h"

namespace slipway {

// Afterwards:
//  - there is no Identity (but where an output needs it), Dropout, Constant, Sum, Flatten,
//    Squeeze, Unsqueeze, GlobalAveragePool or GlobalMaxPool, no variadic Max or Min of other than two,
//    no Cast, Clip, Concat, Transpose or Reshape that changes nothing;
//  - Reshape says its shape as a constant without 0 and -1 (tensors without elements aside);
//  - Conv, MaxPool and AveragePool state kernel_shape, strides, dilations (not AveragePool) and pads;
//    auto_pad is gone; ceil_mode is gone but for an AveragePool that counts padding; what had one spatial
//    dimension has two;
//  - Gemm with constant weights and MatMul by a constant matrix are Gemm(A, B) or Gemm(A, B, bias[N])
//    without attributes; what else Gemm can say is spelled out as Transpose, Mul and Add;
//  - elementwise operators behind a Gemm come before the Reshape that makes a tensor of its rows, as far as they take
//    whole tensors of that shape, scalars and vectors along a row;
//  - an InstanceNormalization of groups of channels that lie behind each other as one is a GroupNormalization;
//  - Softmax has a non-negative axis, the last one where those behind it have extent 1.
absl::StatusOr<Graph> CanonicalizeOps(Graph graph, const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_CANONICALIZE_OPS_PASS_H_
