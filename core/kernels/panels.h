// Products of a few rows by a panel: columns of a matrix that lie together, step by step of the depth. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_PANELS_H_
#define SLIPWAY_CORE_KERNELS_PANELS_H_

#include <stdint.h>

#include "core/kernels/vectors.h"

namespace slipway::kernels {

// What a product is made of for each row: to = from + x * panel.
struct Product {
  const float* x;
  const float* from;
  float* to;
};

// Sums of kVectors vectors of columns of a panel that is `kWidth` wide, from `column` on in `from` and `to`, for kRows rows; in
// several parts where few of them would wait for each other. Not inlined, so that the registers are its own.
template <int kRows, int kVectors, int64_t kWidth>
__attribute__((noinline)) void MultiplyPanel(const float* panel, int64_t depth, int64_t column,
                                             const Product* rows) {
  constexpr int kWanted = 8 / (kRows * kVectors);
  constexpr int kParts = kWanted < 1 ? 1 : kWanted > 4 ? 4 : kWanted;
  Vector sums[kParts][kRows][kVectors] = {};
  const float* x[kRows];
  for (int row = 0; row < kRows; ++row) {
    x[row] = rows[row].x;
    for (int v = 0; v < kVectors; ++v) {
      sums[0][row][v] = LoadVector(rows[row].from + column + v * kLanes);
    }
  }
  // The fewer of the two stay in registers for a step.
  const auto add = [&](int64_t k, int part) __attribute__((always_inline)) {
    if constexpr (kVectors < kRows) {
      Vector weights[kVectors];
      for (int v = 0; v < kVectors; ++v) weights[v] = LoadVector(panel + k * kWidth + v * kLanes);
      for (int row = 0; row < kRows; ++row) {
        const Vector factor = Broadcast(x[row][k]);
        for (int v = 0; v < kVectors; ++v) sums[part][row][v] += weights[v] * factor;
      }
      return;
    }
    for (int v = 0; v < kVectors; ++v) {
      const Vector weights = LoadVector(panel + k * kWidth + v * kLanes);
      for (int row = 0; row < kRows; ++row) sums[part][row][v] += weights * x[row][k];
    }
  };
  int64_t k = 0;
  for (; k + kParts <= depth; k += kParts) {
    for (int part = 0; part < kParts; ++part) add(k + part, part);
  }
  for (; k < depth; ++k) add(k, 0);
  for (int row = 0; row < kRows; ++row) {
    for (int v = 0; v < kVectors; ++v) {
      Vector sum = sums[0][row][v];
      for (int part = 1; part < kParts; ++part) sum += sums[part][row][v];
      StoreVector(sum, rows[row].to + column + v * kLanes);
    }
  }
}

// Rows whose sums fit into registers, with a vector of each column and a broadcast.
template <int kVectors>
inline constexpr int kMostRows = (kVectorRegisters - 4) / kVectors < 6
                                     ? (kVectorRegisters - 4) / kVectors
                                     : 6;

// For `count` <= kMostRows<kVectors> rows.
template <int kVectors, int64_t kWidth, int kRows = kMostRows<kVectors>>
void MultiplyRows(const float* panel, int64_t depth, int64_t column, const Product* rows,
                  int64_t count) {
  if constexpr (kRows > 0) {
    if (count == kRows) return MultiplyPanel<kRows, kVectors, kWidth>(panel, depth, column, rows);
    MultiplyRows<kVectors, kWidth, kRows - 1>(panel, depth, column, rows, count);
  }
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_PANELS_H_
