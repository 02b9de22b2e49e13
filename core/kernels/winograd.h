// Winograd's convolution by kernels of 3 x 3: fewer products, by sums over tiles of outputs. Callable: see call.h.
//
// F(m x m, 3 x 3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (CVPR 2016): a tile of m x m
// outputs is A' [(G w G') . (B' x B)] A, with . element by element, summed over input channels before A. x is the tile of
// t x t inputs, t = m + 2; products are t * t in place of m * m * 9. The matrices are those of the points 0, 1, -1, 2, -2,
// 1/2, -1/2 and infinity, as far as t goes, with the factors that make B' whole for m = 2 and 4.
#ifndef SLIPWAY_CORE_KERNELS_WINOGRAD_H_
#define SLIPWAY_CORE_KERNELS_WINOGRAD_H_

#include <stdint.h>

namespace slipway::kernels {

inline constexpr int kMaxWinogradTile = 8;
inline constexpr int kWinogradKernel = 3;

struct WinogradMatrices {
  int outputs;                                            // m.
  int tile;                                               // t = m + 2.
  double input[kMaxWinogradTile][kMaxWinogradTile];       // B', t x t.
  double weights[kMaxWinogradTile][kWinogradKernel];      // G, t x 3.
  double output[kMaxWinogradTile - 2][kMaxWinogradTile];  // A', m x t.
};

inline constexpr WinogradMatrices kWinograd[] = {
    {2,
     4,
     {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
     {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
     {{1, 1, 1, 0}, {0, 1, -1, -1}}},
    {4,
     6,
     {{4, 0, -5, 0, 1, 0},
      {0, -4, -4, 1, 1, 0},
      {0, 4, -4, -1, 1, 0},
      {0, -2, -1, 2, 1, 0},
      {0, 2, -1, -2, 1, 0},
      {0, 4, 0, -5, 0, 1}},
     {{1.0 / 4, 0, 0},
      {-1.0 / 6, -1.0 / 6, -1.0 / 6},
      {-1.0 / 6, 1.0 / 6, -1.0 / 6},
      {1.0 / 24, 1.0 / 12, 1.0 / 6},
      {1.0 / 24, -1.0 / 12, 1.0 / 6},
      {0, 0, 1}},
     {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}},
    {6,
     8,
     {{1, 0, -5.25, 0, 5.25, 0, -1, 0},
      {0, 1, 1, -4.25, -4.25, 1, 1, 0},
      {0, -1, 1, 4.25, -4.25, -1, 1, 0},
      {0, 0.5, 0.25, -2.5, -1.25, 2, 1, 0},
      {0, -0.5, 0.25, 2.5, -1.25, -2, 1, 0},
      {0, 2, 4, -2.5, -5, 0.5, 1, 0},
      {0, -2, 4, 2.5, -5, -0.5, 1, 0},
      {0, -1, 0, 5.25, 0, -5.25, 0, 1}},
     {{1, 0, 0},
      {-2.0 / 9, -2.0 / 9, -2.0 / 9},
      {-2.0 / 9, 2.0 / 9, -2.0 / 9},
      {1.0 / 90, 1.0 / 45, 2.0 / 45},
      {1.0 / 90, -1.0 / 45, 2.0 / 45},
      {32.0 / 45, 16.0 / 45, 8.0 / 45},
      {32.0 / 45, -16.0 / 45, 8.0 / 45},
      {0, 0, 1}},
     {{1, 1, 1, 1, 1, 1, 1, 0},
      {0, 1, -1, 2, -2, 0.5, -0.5, 0},
      {0, 1, 1, 4, 4, 0.25, 0.25, 0},
      {0, 1, -1, 8, -8, 0.125, -0.125, 0},
      {0, 1, 1, 16, 16, 0.0625, 0.0625, 0},
      {0, 1, -1, 32, -32, 0.03125, -0.03125, 1}}},
};

// Null for tiles of other than 2, 4 or 6 outputs along a dimension.
constexpr const WinogradMatrices* FindWinograd(int64_t outputs) {
  for (const WinogradMatrices& matrices : kWinograd) {
    if (matrices.outputs == outputs) return &matrices;
  }
  return nullptr;
}

// G w G' of `count` kernels that lie side by side: element i of each, row by row, is at w + i * w_stride, and element i of what
// they become at transformed + i * transformed_stride.
void TransformWinogradWeights(const WinogradMatrices& matrices, int64_t count, const float* w,
                              int64_t w_stride, float* transformed, int64_t transformed_stride);

}  // namespace slipway::kernels

extern "C" {
// slipway.WinogradConvNCHWc. Inputs: x, w, bias. Parameters: the window's pads at the beginning, height and width.
int32_t slipway_WinogradConv(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_WINOGRAD_H_
