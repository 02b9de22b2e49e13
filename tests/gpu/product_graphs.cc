#include "tests/gpu/product_graphs.h"

namespace slipway::testing {
namespace {

// Most extents are no multiples of a tile, nor of what is moved at once.
constexpr ProductGraph kGraphs[] = {
    {"odd", R"(graph "g" (%a: f32[37, 53], %b: f32[53, 45]) -> (%y) {
  %y = MatMul(%a, %b)
})"},
    {"even", R"(graph "g" (%a: f32[64, 96], %b: f32[96, 64]) -> (%y) {
  %y = MatMul(%a, %b)
})"},
    {"narrow", R"(graph "g" (%a: f32[70, 40], %b: f32[40, 3]) -> (%y) {
  %y = MatMul(%a, %b)
})"},
    {"one_term", R"(graph "g" (%a: f32[5, 1], %b: f32[1, 7]) -> (%y) {
  %y = MatMul(%a, %b)
})"},
    {"vectors", R"(graph "g" (%a: f32[36], %b: f32[36]) -> (%y) {
  %y = MatMul(%a, %b)
})"},
    {"vector_and_matrices", R"(graph "g" (%a: f32[20], %b: f32[3, 20, 9], %c: f32[3, 1]) -> (%y) {
  %p = MatMul(%a, %b)
  %y = Add(%p, %c)
})"},
    {"matrices_and_vector", R"(graph "g" (%a: f32[3, 18, 20], %b: f32[20], %c: f32[18]) -> (%y) {
  %p = MatMul(%a, %b)
  %y = Mul(%p, %c)
})"},
    {"bias_and_activation", R"(graph "g" (%a: f32[19, 33], %b: f32[33, 50], %c: f32[50]) -> (%y) {
  %p = MatMul(%a, %b)
  %s = Add(%p, %c)
  %y = Gelu(%s)
})"},
    {"rows_of_a_batch",
     R"(graph "g" (%a: f32[2, 3, 5, 20], %b: f32[20, 24], %c: f32[3, 1, 24], %d: f32[2, 1, 5, 1]) -> (%y) {
  %p = MatMul(%a, %b)
  %s = Add(%p, %c)
  %y = Mul(%s, %d)
})"},
    {"batch",
     R"(graph "g" (%a: f32[2, 3, 17, 20], %b: f32[2, 3, 20, 18], %c: f32[3, 17, 1]) -> (%y) {
  %p = MatMul(%a, %b)
  %y = Sub(%c, %p)
})"},
    {"batches_that_broadcast", R"(graph "g" (%a: f32[2, 1, 9, 8], %b: f32[3, 8, 10]) -> (%y) {
  %p = MatMul(%a, %b)
  %y = Relu(%p)
})"},
    {"rows_of_rows", R"(graph "g" (%a: f32[6, 40], %b: f32[40, 36], %c: f32[6, 36]) -> (%y) {
  %y = Gemm(%a, %b, %c) {alpha = 0.5, beta = 2.0}
})"},
    {"columns_of_rows", R"(graph "g" (%a: f32[40, 36], %b: f32[40, 20], %c: f32[36, 1]) -> (%y) {
  %y = Gemm(%a, %b, %c) {transA = 1}
})"},
    {"rows_of_columns", R"(graph "g" (%a: f32[21, 44], %b: f32[68, 44], %c: f32[68]) -> (%y) {
  %p = Gemm(%a, %b, %c) {transB = 1}
  %y = HardSwish(%p)
})"},
    {"columns_of_columns", R"(graph "g" (%a: f32[45, 35], %b: f32[19, 45]) -> (%y) {
  %y = Gemm(%a, %b) {transA = 1, transB = 1, alpha = -1.0}
})"},
    {"attention", R"(graph "g" (%a: f32[2, 18, 16], %b: f32[2, 16, 18], %mask: f32[1, 18]) -> (%y) {
  const %scale: f32[] = {0.25}
  %p = MatMul(%a, %b)
  %s = Mul(%p, %scale)
  %y = Add(%s, %mask)
})"},
    {"pointwise", R"(graph "g" (%x: f32[2, 20, 5, 7], %w: f32[33, 20, 1, 1], %b: f32[33]) -> (%y) {
  %c = Conv(%x, %w, %b)
  %y = Relu(%c)
})"},
    {"pointwise_of_even_planes",
     R"(graph "g" (%x: f32[1, 40, 4, 6], %w: f32[18, 40, 1, 1]) -> (%y) {
  %y = Conv(%x, %w)
})"},
    {"residual",
     R"(graph "g" (%x: f32[2, 6, 9, 7], %w: f32[20, 6, 3, 3], %b: f32[20], %r: f32[2, 20, 9, 7], %s: f32[20, 1, 1]) -> (%y) {
  %c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]}
  %m = Mul(%c, %s)
  %a = Add(%m, %r)
  %y = Relu(%a)
})"},
    {"window", R"(graph "g" (%x: f32[1, 5, 13, 11], %w: f32[18, 5, 3, 2]) -> (%y) {
  %y = Conv(%x, %w) {strides = [2, 3], dilations = [2, 1], pads = [1, 0, 2, 1]}
})"},
    {"strided_point", R"(graph "g" (%x: f32[2, 10, 7, 7], %w: f32[12, 10, 1, 1]) -> (%y) {
  %y = Conv(%x, %w) {strides = [2, 2]}
})"},
    {"groups",
     R"(graph "g" (%x: f32[2, 32, 5, 5], %w: f32[48, 16, 3, 3], %b: f32[48], %r: f32[2, 1, 5, 5], %s: f32[48, 1, 1]) -> (%y) {
  %c = Conv(%x, %w, %b) {group = 2, pads = [1, 1, 1, 1]}
  %a = Add(%c, %r)
  %y = Mul(%a, %s)
})"},
    {"sequence", R"(graph "g" (%x: f32[2, 6, 30], %w: f32[20, 6, 5]) -> (%y) {
  %c = Conv(%x, %w) {pads = [4, 0], dilations = [2]}
  %y = Relu(%c)
})"},
    {"curves", R"(graph "g" (%a: f32[4, 8], %b: f32[8, 12]) -> (%y) {
  const %small: f32[] = {0.1}
  const %low: f32[] = {-0.5}
  %p = MatMul(%a, %b)
  %x = Mul(%p, %small)
  %t = Tanh(%x)
  %s = Sigmoid(%x)
  %e = Exp(%x)
  %g = Gelu(%x) {approximate = "tanh"}
  %f = Erf(%x)
  %n = Neg(%s)
  %l = LeakyRelu(%x) {alpha = 0.2}
  %h = HardSigmoid(%x)
  %c = Clip(%x, %low)
  %m = Abs(%x)
  %q = Sqrt(%e)
  %r = Reciprocal(%e)
  %u1 = Add(%t, %n)
  %u2 = Max(%e, %g)
  %u3 = Min(%f, %l)
  %u4 = Div(%h, %e)
  %o = Add(%c, %q)
  %u5 = Add(%o, %m)
  %v1 = Add(%u1, %u2)
  %v2 = Add(%u3, %u4)
  %v3 = Add(%u5, %r)
  %w = Add(%v1, %v2)
  %y = Add(%w, %v3)
})"},
};

constexpr ProductGraph kWeightGraphs[] = {
    {"right", R"(graph "g" (%x: f32[37, 72], %w: f32[72, 50], %c: f32[50]) -> (%y) {
  %p = MatMul(%x, %w)
  %y = Add(%p, %c)
})"},
    {"left", R"(graph "g" (%w: f32[40, 64], %x: f32[64, 30]) -> (%y) {
  %y = MatMul(%w, %x)
})"},
    {"odd_depth", R"(graph "g" (%x: f32[20, 53], %w: f32[53, 36]) -> (%y) {
  %y = MatMul(%x, %w)
})"},
    {"columns_of_both", R"(graph "g" (%x: f32[21, 48], %w: f32[68, 48], %c: f32[68]) -> (%y) {
  %y = Gemm(%x, %w, %c) {transB = 1}
})"},
    {"batched", R"(graph "g" (%x: f32[3, 9, 40], %w: f32[40, 33]) -> (%y) {
  %p = MatMul(%x, %w)
  %y = Relu(%p)
})"},
    {"points", R"(graph "g" (%x: f32[2, 64, 5, 7], %w: f32[33, 64, 1, 1], %b: f32[33]) -> (%y) {
  %c = Conv(%x, %w, %b)
  %y = Relu(%c)
})"},
    {"channels", R"(graph "g" (%x: f32[2, 64, 7, 6], %w: f32[20, 64, 3, 3], %b: f32[20]) -> (%y) {
  %c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]}
  %y = Relu(%c)
})"},
    {"strided_channels", R"(graph "g" (%x: f32[1, 64, 11, 9], %w: f32[18, 64, 3, 2]) -> (%y) {
  %y = Conv(%x, %w) {strides = [2, 1], dilations = [1, 2], pads = [0, 1, 2, 1]}
})"},
    {"few_channels", R"(graph "g" (%x: f32[1, 8, 9, 9], %w: f32[24, 8, 3, 3]) -> (%y) {
  %y = Conv(%x, %w) {pads = [1, 1, 1, 1]}
})"},
    {"image", R"(graph "g" (%x: f32[1, 3, 17, 15], %w: f32[16, 3, 7, 7]) -> (%y) {
  %y = Conv(%x, %w) {strides = [2, 2], pads = [3, 3, 3, 3]}
})"},
    // Patches: no window goes beyond an edge; of the one, nor does a step of the depth.
    {"patches", R"(graph "g" (%x: f32[2, 3, 20, 28], %w: f32[40, 3, 4, 4], %b: f32[40]) -> (%y) {
  %y = Conv(%x, %w, %b) {strides = [4, 4]}
})"},
    {"whole_patches", R"(graph "g" (%x: f32[2, 4, 24, 32], %w: f32[40, 4, 8, 8]) -> (%y) {
  %y = Conv(%x, %w) {strides = [8, 8]}
})"},
    {"sequence_of_few", R"(graph "g" (%x: f32[2, 5, 70], %w: f32[20, 5, 9]) -> (%y) {
  %y = Conv(%x, %w) {strides = [3], dilations = [2], pads = [7, 8]}
})"},
    {"channel_groups", R"(graph "g" (%x: f32[1, 128, 5, 5], %w: f32[32, 64, 3, 3]) -> (%y) {
  %y = Conv(%x, %w) {group = 2, pads = [1, 1, 1, 1]}
})"},
    {"sequence_of_channels", R"(graph "g" (%x: f32[2, 64, 19], %w: f32[20, 64, 5]) -> (%y) {
  %y = Conv(%x, %w) {pads = [4, 0]}
})"},
    {"twice", R"(graph "g" (%x: f32[9, 40], %w: f32[40, 40]) -> (%y) {
  %p = MatMul(%x, %w)
  %s = Softmax(%p)
  %y = MatMul(%s, %w)
})"},
};

}  // namespace

absl::Span<const ProductGraph> ProductGraphs() { return kGraphs; }
absl::Span<const ProductGraph> WeightGraphs() { return kWeightGraphs; }

}  // namespace slipway::testing
