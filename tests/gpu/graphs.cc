#include "tests/gpu/graphs.h"

namespace slipway::testing {
namespace {

constexpr SmallGraph kGraphs[] = {
    {"elementwise", R"(graph "g" (%x: f32[3, 50], %b: f32[50]) -> (%y) {
  %a = Add(%x, %b)
  %r = Relu(%a)
  %y = Mul(%r, %x)
})",
     1, 1},
    {"convolution", R"(graph "g" (%x: f32[2, 6, 9, 7], %w: f32[4, 6, 3, 3]) -> (%pool, %mean) {
  %conv = Conv(%x, %w) {pads = [1, 1, 1, 1]}
  %relu = Relu(%conv)
  %pool = MaxPool(%relu) {kernel_shape = [2, 2], strides = [2, 2]}
  %mean = GlobalAveragePool(%pool)
})",
     3, 3},
    {"depthwise", R"(graph "g" (%x: f32[1, 8, 6, 6], %w: f32[8, 1, 3, 3]) -> (%y) {
  %y = Conv(%x, %w) {group = 8, strides = [2, 2], pads = [1, 1, 1, 1]}
})",
     1, 1},
    {"product", R"(graph "g" (%a: f32[5, 7], %b: f32[7, 6], %c: f32[6]) -> (%y) {
  %p = MatMul(%a, %b)
  %y = Add(%p, %c)
})",
     1, 1},
    {"batched_product", R"(graph "g" (%a: f32[2, 3, 5, 4], %b: f32[3, 4, 6]) -> (%y) {
  %y = MatMul(%a, %b)
})",
     1, 1},
    {"rows_and_a_view", R"(graph "g" (%m: f32[5, 14]) -> (%soft, %joined, %whole) {
  %t = Transpose(%m) {perm = [1, 0]}
  %product = MatMul(%m, %t)
  %soft = Softmax(%product)
  %joined = Concat(%soft, %product) {axis = 1}
  %whole = ReduceMean(%joined) {keepdims = 0}
})",
     5, 5},
    {"layer_norm", R"(graph "g" (%x: f32[4, 9], %s: f32[9], %b: f32[9]) -> (%y) {
  %y = LayerNormalization(%x, %s, %b)
})",
     1, 1},
    {"reductions", R"(graph "g" (%x: f32[4, 5, 6]) -> (%sum, %max) {
  const %axes: i64[1] = {1}
  %sum = ReduceSum(%x, %axes)
  %max = ReduceMax(%x) {keepdims = 0}
})",
     2, 2},
    {"transpose", R"(graph "g" (%x: f32[2, 3, 4]) -> (%y) {
  %y = Transpose(%x) {perm = [2, 0, 1]}
})",
     1, 1},
    // By tables, integers of 64 bits and constants that Halide moves out of loops.
    {"sines", R"(graph "g" (%x: f32[3, 50]) -> (%turned) {
  %sin = Sin(%x)
  %cos = Cos(%x)
  %turned = Sub(%sin, %cos)
})",
     2, 2},
    {"powers", R"(graph "g" (%x: f32[3, 50]) -> (%power, %log) {
  %base = Abs(%x)
  %power = Pow(%base, %x)
  %log = Log(%base)
})",
     3, 3},
    {"exponentials", R"(graph "g" (%x: f32[3, 50]) -> (%y) {
  %e = Exp(%x)
  %t = Tanh(%e)
  %s = Sigmoid(%t)
  %y = Sqrt(%s)
})",
     1, 1},
    {"error_function", R"(graph "g" (%x: f32[40]) -> (%y) {
  %e = Erf(%x)
  %y = Mul(%e, %x)
})",
     1, 1},
    {"rounding", R"(graph "g" (%x: f32[40], %z: f32[40]) -> (%y) {
  %f = Floor(%x)
  %c = Ceil(%z)
  %r = Round(%x)
  %s = Div(%f, %c)
  %y = Add(%s, %r)
})",
     3, 3},
    {"integers", R"(graph "g" (%a: i32[30], %b: i32[30]) -> (%y) {
  const %one: i32[] = {1}
  %d = Add(%b, %one)
  %q = Div(%a, %d)
  %m = Mul(%q, %d)
  %y = Sub(%a, %m)
})",
     1, 1},
    {"casts", R"(graph "g" (%x: f32[30]) -> (%y, %z) {
  %i = Cast(%x) {to = 7}
  %b = Cast(%i) {to = 2}
  %y = Cast(%b) {to = 1}
  %z = Cast(%x) {to = 3}
})",
     2, 2},
    {"decisions", R"(graph "g" (%a: f32[4, 8], %b: f32[8]) -> (%y) {
  %less = Less(%a, %b)
  %y = Where(%less, %a, %b)
})",
     1, 1},
    {"bytes", R"(graph "g" (%x: f32[4, 8]) -> (%q, %y) {
  const %scale: f32[] = {0.05}
  const %zero: u8[] = {128}
  %q = QuantizeLinear(%x, %scale, %zero)
  %y = DequantizeLinear(%q, %scale, %zero)
})",
     2, 2},
    {"resize", R"(graph "g" (%x: f32[1, 2, 3, 4]) -> (%y) {
  const %scales: f32[4] = {1, 1, 2, 2}
  %y = Resize(%x, _, %scales) {mode = "nearest"}
})",
     1, 1},
    {"padding", R"(graph "g" (%x: f32[3, 4]) -> (%y) {
  const %pads: i64[4] = {1, 0, 0, 2}
  %p = Pad(%x, %pads)
  %y = Exp(%p)
})",
     2, 2},
    // Rows that are counted from the end, of 3: what is added where a place is negative is a mask, too.
    {"places_from_the_end", R"(graph "g" (%x: f32[3, 8], %i: i64[2, 6]) -> (%y) {
  const %two: i64[] = {2}
  %small = Min(%i, %two)
  %places = Neg(%small)
  %y = Gather(%x, %places)
})",
     2, 2},
    // TopK has no lowering, f64 is not every device's, a view moves nothing.
    {"host_and_device", R"(graph "g" (%m: f32[5, 6]) -> (%flat, %places, %half) {
  %a = Exp(%m)
  const %k: i64[1] = {2}
  %sorted, %places = TopK(%a, %k)
  %b = Sigmoid(%sorted)
  %flat = Flatten(%b)
  %wide = Cast(%a) {to = 11}
  %half = Mul(%wide, %wide)
})",
     2, 3},
    {"an_input_is_an_output", R"(graph "g" (%x: f32[3, 4], %y: f32[3, 4]) -> (%z, %x) {
  const %c: f32[4] = {1, 2, 3, 4}
  %s = Add(%x, %y)
  %z = Mul(%s, %c)
})",
     1, 1},
};

}  // namespace

absl::Span<const SmallGraph> SmallGraphs() { return kGraphs; }

}  // namespace slipway::testing
