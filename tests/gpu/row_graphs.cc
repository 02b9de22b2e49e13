#include "tests/gpu/row_graphs.h"

namespace slipway::testing {
namespace {

constexpr RowGraph kGraphs[] = {
    {"layers", R"(graph "g" (%x: f32[2, 33, 64], %s: f32[64], %b: f32[64]) -> (%y) {
  %y = LayerNormalization(%x, %s, %b) {axis = -1, epsilon = 1e-3}
})",
     64},
    {"odd_layers", R"(graph "g" (%x: f32[7, 37], %s: f32[37]) -> (%y) {
  %y = LayerNormalization(%x, %s) {axis = 1}
})",
     37},
    {"planes", R"(graph "g" (%x: f32[3, 4, 5, 6], %s: f32[4, 5, 6], %b: f32[1, 4, 5, 6]) -> (%y) {
  %y = LayerNormalization(%x, %s, %b) {axis = 1}
})",
     120},
    {"long_layers", R"(graph "g" (%x: f32[3, 3000], %s: f32[3000], %b: f32[3000]) -> (%y) {
  %y = LayerNormalization(%x, %s, %b) {axis = -1}
})",
     3000},
    {"one", R"(graph "g" (%x: f32[5, 1], %s: f32[1], %b: f32[1]) -> (%y) {
  %y = LayerNormalization(%x, %s, %b) {axis = -1}
})",
     1},
    {"squares", R"(graph "g" (%x: f32[2, 9, 200], %s: f32[200]) -> (%y) {
  %y = RMSNormalization(%x, %s) {axis = -1, epsilon = 1e-6}
})",
     200},
    {"softmax", R"(graph "g" (%x: f32[2, 3, 130]) -> (%y) {
  %y = Softmax(%x) {axis = -1}
})",
     130},
    {"softmax_of_vectors", R"(graph "g" (%x: f32[6, 1000]) -> (%y) {
  %y = Softmax(%x) {axis = 1}
})",
     1000},
    {"long_softmax", R"(graph "g" (%x: f32[2, 8191]) -> (%y) {
  %y = Softmax(%x) {axis = 1}
})",
     8191},
    {"inner_ones", R"(graph "g" (%x: f32[3, 20, 1]) -> (%y) {
  %y = Softmax(%x) {axis = 1}
})",
     20},
    {"layers_and_more",
     R"(graph "g" (%x: f32[4, 6, 64], %s: f32[64], %b: f32[64], %r: f32[4, 6, 64], %c: f32[6, 1]) -> (%y) {
  %n = LayerNormalization(%x, %s, %b) {axis = -1}
  %a = Add(%n, %r)
  %m = Mul(%a, %c)
  %y = Gelu(%m)
})",
     64},
    {"odd_layers_and_itself", R"(graph "g" (%x: f32[5, 39], %s: f32[39], %c: f32[]) -> (%y) {
  const %three: f32[] = {3}
  %n = RMSNormalization(%x, %s) {axis = -1}
  %a = Add(%n, %x)
  %m = Mul(%a, %c)
  %y = Div(%m, %three)
})",
     39},
    {"weights_that_repeat",
     R"(graph "g" (%x: f32[3, 4, 8], %s: f32[4, 1], %b: f32[1, 8], %r: f32[3, 1, 8]) -> (%y) {
  %n = LayerNormalization(%x, %s, %b) {axis = 1}
  %y = Add(%n, %r)
})",
     32},
    {"softmax_and_mask", R"(graph "g" (%x: f32[4, 8, 64], %m: f32[4, 1, 64]) -> (%y) {
  %n = Softmax(%x) {axis = -1}
  %y = Mul(%n, %m)
})",
     64},
    {"instances", R"(graph "g" (%x: f32[2, 6, 8, 10], %s: f32[6], %b: f32[6]) -> (%y) {
  %n = InstanceNormalization(%x, %s, %b) {epsilon = 1e-3}
  %y = LeakyRelu(%n) {alpha = 0.1}
})",
     80},
    {"odd_instances", R"(graph "g" (%x: f32[2, 3, 37], %s: f32[3], %b: f32[3]) -> (%y) {
  %y = InstanceNormalization(%x, %s, %b)
})",
     37},
    {"groups",
     R"(graph "g" (%x: f32[2, 32, 8, 8], %s: f32[32], %b: f32[32], %r: f32[2, 32, 8, 8], %c: f32[2, 32, 1, 1]) -> (%y) {
  %n = GroupNormalization(%x, %s, %b) {num_groups = 8}
  %g = Sigmoid(%n)
  %m = Mul(%n, %g)
  %a = Add(%m, %c)
  %y = Add(%a, %r)
})",
     256},
    {"odd_groups",
     R"(graph "g" (%x: f32[2, 6, 5, 7], %s: f32[6], %b: f32[6], %r: f32[5, 1]) -> (%y) {
  %n = GroupNormalization(%x, %s, %b) {num_groups = 3}
  %y = Mul(%n, %r)
})",
     70},
    {"groups_as_torch_has_them",
     R"(graph "g" (%x: f32[2, 12, 6, 6], %s: f32[12, 1, 1], %b: f32[12, 1, 1]) -> (%y) {
  const %to: i64[3] = {2, 4, 108}
  const %back: i64[4] = {2, 12, 6, 6}
  const %one: f32[4] = splat 1
  const %zero: f32[4] = splat 0
  %v = Reshape(%x, %to)
  %n = InstanceNormalization(%v, %one, %zero)
  %w = Reshape(%n, %back)
  %t = Mul(%w, %s)
  %u = Add(%t, %b)
  %y = Relu(%u)
})",
     108},
    {"layers_as_codes", R"(graph "g" (%x: f32[6, 64], %s: f32[64], %b: f32[64]) -> (%y) {
  const %scale: f32[] = {0.02}
  const %zero: u8[] = {128}
  %n = LayerNormalization(%x, %s, %b) {axis = -1}
  %y = QuantizeLinear(%n, %scale, %zero)
})",
     64},
    {"odd_layers_of_codes",
     R"(graph "g" (%x: f32[6, 37], %s: f32[37], %b: f32[37], %r: u8[6, 37]) -> (%y) {
  const %scale: f32[] = {0.02}
  const %zero: u8[] = {100}
  const %other: f32[] = {0.01}
  const %middle: i8[] = {-3}
  %n = LayerNormalization(%x, %s, %b) {axis = -1}
  %d = DequantizeLinear(%r, %scale, %zero)
  %a = Add(%n, %d)
  %y = QuantizeLinear(%a, %other, %middle)
})",
     37},
    {"groups_of_codes",
     R"(graph "g" (%x: f32[2, 8, 6, 6], %s: f32[8], %b: f32[8], %r: i8[2, 8, 6, 6]) -> (%y) {
  const %scale: f32[] = {0.03}
  const %zero: i8[] = {7}
  %n = GroupNormalization(%x, %s, %b) {num_groups = 2}
  %q = QuantizeLinear(%n, %scale, %zero)
  %c = DequantizeLinear(%q, %scale, %zero)
  %d = DequantizeLinear(%r, %scale, %zero)
  %a = Add(%c, %d)
  %y = QuantizeLinear(%a, %scale, %zero)
})",
     144},
    // As ConvNeXt has it, before a convolution and before a product.
    {"channels", R"(graph "g" (%x: f32[2, 96, 5, 7], %s: f32[96], %b: f32[96]) -> (%y) {
  %t = Transpose(%x) {perm = [0, 2, 3, 1]}
  %n = LayerNormalization(%t, %s, %b) {axis = -1}
  %y = Transpose(%n) {perm = [0, 3, 1, 2]}
})",
     96, RowLayout::kTurned},
    {"turned_channels", R"(graph "g" (%x: f32[3, 96, 8, 4], %s: f32[96], %b: f32[96]) -> (%y) {
  %t = Transpose(%x) {perm = [0, 2, 3, 1]}
  %y = LayerNormalization(%t, %s, %b) {axis = -1, epsilon = 1e-3}
})",
     96, RowLayout::kTurned},
    {"odd_turned_channels", R"(graph "g" (%x: f32[2, 37, 13], %s: f32[37]) -> (%y) {
  %t = Transpose(%x) {perm = [0, 2, 1]}
  %y = RMSNormalization(%t, %s) {axis = -1}
})",
     37, RowLayout::kTurned},
    {"many_channels", R"(graph "g" (%x: f32[1, 2048, 3, 3], %s: f32[2048], %b: f32[2048]) -> (%y) {
  %t = Transpose(%x) {perm = [0, 2, 3, 1]}
  %y = LayerNormalization(%t, %s, %b) {axis = -1}
})",
     2048, RowLayout::kTurned},
    {"softmax_of_channels",
     R"(graph "g" (%x: f32[2, 21, 6, 5], %m: f32[21, 1, 1], %r: f32[2, 21, 6, 5]) -> (%y) {
  %n = Softmax(%x) {axis = 1}
  %a = Mul(%n, %m)
  %y = Add(%a, %r)
})",
     21, RowLayout::kTurned},
    {"softmax_of_columns", R"(graph "g" (%x: f32[40, 16]) -> (%y) {
  %y = Softmax(%x) {axis = 0}
})",
     40, RowLayout::kTurned},
    {"groups_of_parts", R"(graph "g" (%x: f32[1, 8, 72, 72], %s: f32[8], %b: f32[8]) -> (%y) {
  %n = GroupNormalization(%x, %s, %b) {num_groups = 2}
  %g = Sigmoid(%n)
  %y = Mul(%n, %g)
})",
     20736},
    {"softmax_of_parts", R"(graph "g" (%x: f32[2, 16401]) -> (%y) {
  %y = Softmax(%x) {axis = -1}
})",
     16401},
    {"squares_of_parts", R"(graph "g" (%x: f32[1, 24576], %s: f32[24576]) -> (%y) {
  %y = RMSNormalization(%x, %s) {axis = -1}
})",
     24576},
};

}  // namespace

absl::Span<const RowGraph> RowGraphs() { return kGraphs; }

}  // namespace slipway::testing
