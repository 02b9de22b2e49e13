// Models that are exported in every form.
#ifndef SLIPWAY_TESTS_LIBRARY_MODELS_H_
#define SLIPWAY_TESTS_LIBRARY_MODELS_H_

#include "absl/strings/string_view.h"
#include "core/compiler/compiler.h"

namespace slipway::testing {

inline constexpr char kResidual[] = R"(
  graph "residual" (%x: f32[1, 3, 20, 20]) -> (%y) {
    const %w0: f32[16, 3, 3, 3] = splat 0.05
    const %b0: f32[16] = splat 0.1
    const %w1: f32[16, 16, 3, 3] = splat 0.01
    const %w2: f32[16, 16, 3, 3] = splat -0.01
    const %w3: f32[32, 16, 1, 1] = splat 0.03
    const %v: f32[32, 10] = splat 0.25
    %c0 = Conv "stem" (%x, %w0, %b0) {pads = [1, 1, 1, 1], strides = [2, 2]}
    %r0 = Relu(%c0)
    %c1 = Conv "c1" (%r0, %w1) {pads = [1, 1, 1, 1]}
    %r1 = Relu(%c1)
    %c2 = Conv "c2" (%r1, %w2) {pads = [1, 1, 1, 1]}
    %s = Add(%c2, %r0)
    %r2 = Relu(%s)
    %c3 = Conv "c3" (%r2, %w3)
    %g = GlobalAveragePool(%c3)
    %f = Flatten(%g)
    %h = MatMul(%f, %v)
    %y = Softmax(%h)
  })";

inline constexpr char kQuantized[] = R"(
  graph "quantized" (%x: f32[1, 4, 8, 8]) -> (%y) {
    const %xs: f32[] = {0.0078125}
    const %xz: u8[] = {128}
    const %ws: f32[] = {0.01}
    const %wz: i8[] = {0}
    const %w: i8[8, 4, 3, 3] = splat 11
    const %ys: f32[] = {0.05}
    const %yz: u8[] = {100}
    %q = QuantizeLinear(%x, %xs, %xz)
    %d = DequantizeLinear(%q, %xs, %xz)
    %wd = DequantizeLinear(%w, %ws, %wz)
    %c = Conv "c" (%d, %wd) {pads = [1, 1, 1, 1]}
    %r = Relu(%c)
    %y = QuantizeLinear(%r, %ys, %yz)
  })";

// What no export has: an open extent, a size that is found out while running.
inline constexpr char kOpenExtent[] =
    R"(graph "g" [batch in 1..64] (%x: f32[batch, 3]) -> (%y) { %y = Relu(%x) })";
inline constexpr char kFoundSize[] =
    R"(graph "g" (%x: f32[4]) -> (%y) { %y = NonZero "find" (%x) })";

// The trained model of client/examples.
ModelSource DigitsModel();

ModelSource TextModel(absl::string_view text);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LIBRARY_MODELS_H_
