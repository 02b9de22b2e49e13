#include "tests/gpu/depthwise_graphs.h"

namespace slipway::testing {
namespace {

constexpr DepthwiseGraph kGraphs[] = {
    {"whole_vectors",
     R"(graph "g" (%x: f32[2, 5, 20, 16], %w: f32[5, 1, 3, 3], %b: f32[5]) -> (%y) {
  %c = Conv(%x, %w, %b) {group = 5, pads = [1, 1, 1, 1]}
  %y = Relu(%c)
})"},
    {"odd",
     R"(graph "g" (%x: f32[1, 7, 13, 11], %w: f32[7, 1, 3, 3]) -> (%y) {
  %y = Conv(%x, %w) {group = 7, pads = [1, 1, 1, 1]}
})"},
    {"strided",
     R"(graph "g" (%x: f32[1, 6, 17, 24], %w: f32[6, 1, 5, 5], %b: f32[6]) -> (%y) {
  const %low: f32[] = {0.0}
  const %high: f32[] = {6.0}
  %c = Conv(%x, %w, %b) {group = 6, pads = [2, 2, 2, 2], strides = [2, 2]}
  %y = Clip(%c, %low, %high)
})"},
    {"strided_odd",
     R"(graph "g" (%x: f32[1, 4, 15, 15], %w: f32[4, 1, 3, 3]) -> (%y) {
  %y = Conv(%x, %w) {group = 4, pads = [0, 0, 1, 1], strides = [2, 2]}
})"},
    {"dilated",
     R"(graph "g" (%x: f32[1, 4, 21, 32], %w: f32[4, 1, 3, 3]) -> (%y) {
  %c = Conv(%x, %w) {group = 4, pads = [2, 2, 2, 2], dilations = [2, 2]}
  %y = HardSwish(%c)
})"},
    {"dilated_beyond_the_plane",
     R"(graph "g" (%x: f32[1, 3, 9, 8], %w: f32[3, 1, 3, 3]) -> (%y) {
  %y = Conv(%x, %w) {group = 3, pads = [6, 6, 6, 6], dilations = [6, 6]}
})"},
    {"no_padding",
     R"(graph "g" (%x: f32[1, 5, 12, 12], %w: f32[5, 1, 3, 5]) -> (%y) {
  %y = Conv(%x, %w) {group = 5}
})"},
    {"seven",
     R"(graph "g" (%x: f32[1, 3, 14, 28], %w: f32[3, 1, 7, 7], %b: f32[3]) -> (%y) {
  %y = Conv(%x, %w, %b) {group = 3, pads = [3, 3, 3, 3]}
})"},
    {"residual",
     R"(graph "g" (%x: f32[2, 4, 8, 8], %w: f32[4, 1, 3, 3], %b: f32[4], %r: f32[2, 4, 8, 8], %s: f32[2, 4, 1, 1]) -> (%y) {
  %c = Conv(%x, %w, %b) {group = 4, pads = [1, 1, 1, 1]}
  %m = Mul(%c, %s)
  %a = Add(%m, %r)
  %y = Sigmoid(%a)
})"},
    {"sequence",
     R"(graph "g" (%x: f32[2, 6, 45], %w: f32[6, 1, 4], %b: f32[6]) -> (%y) {
  %y = Conv(%x, %w, %b) {group = 6, pads = [3, 0]}
})"},
    {"one_channel",
     R"(graph "g" (%x: f32[2, 1, 10, 12], %w: f32[1, 1, 3, 3]) -> (%y) {
  %y = Conv(%x, %w) {pads = [1, 1, 1, 1]}
})"},
    {"small_planes",
     R"(graph "g" (%x: f32[1, 40, 7, 7], %w: f32[40, 1, 5, 5]) -> (%y) {
  %y = Conv(%x, %w) {group = 40, pads = [2, 2, 2, 2]}
})"},
};

}  // namespace

absl::Span<const DepthwiseGraph> DepthwiseGraphs() { return kGraphs; }

}  // namespace slipway::testing
