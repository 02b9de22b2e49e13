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
};

}  // namespace

absl::Span<const RowGraph> RowGraphs() { return kGraphs; }

}  // namespace slipway::testing
