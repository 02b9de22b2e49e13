// RowDivision: how rows that are normalized are divided among warps.
#ifndef SLIPWAY_CORE_CODEGEN_ROWS_ROW_DIVISION_H_
#define SLIPWAY_CORE_CODEGEN_ROWS_ROW_DIVISION_H_

#include <cstdint>
#include <vector>

#include "core/codegen/tensor_cores/tensor_tile.h"

namespace slipway {

enum class RowLayout {
  kTogether,  // A row's numbers are neighbours.
  kTurned,  // Neighbours are of different rows: kTurnedRows of them are a group's, four lanes of each warp have one.
};

// An instance keeps its share of a row, or of a part of one, in registers.
struct RowDivision {
  int warps =
      1;  // That have a row, or a part, together: one, of which kRowWarps make a group, or 4, 8 or 16, which are one.
  int parts =
      1;  // Of a row; where it has several a first launch tells the second one of each part what that needs of it.

  friend bool operator==(const RowDivision& a, const RowDivision& b) {
    return a.warps == b.warps && a.parts == b.parts;
  }
};
inline constexpr int kRowWarps = 4;
inline constexpr int kTurnedRows = 8;
inline constexpr int64_t kMostOfInstance = 32;
inline constexpr int kMostRowWarps = 16;
inline constexpr int kMostRowParts = 256;
inline constexpr int64_t kMostOfPart = kMostRowWarps * 32 * kMostOfInstance;
inline constexpr int64_t kMostRowSize = kMostRowParts * kMostOfPart;  // Where they lie together.

// All that have room for rows of so many numbers, at least one; rows that are turned are whole. REQUIRES: 1 <= size <= MostRowSize(layout).
std::vector<RowDivision> RowDivisions(int64_t size, RowLayout layout = RowLayout::kTogether);
int64_t MostRowSize(RowLayout layout);
// One of these.
RowDivision ChooseRowDivision(const TensorGpu& gpu, int64_t rows, int64_t size,
                              RowLayout layout = RowLayout::kTogether);
// How many numbers a part has, but for the last one, which has fewer: whole vectors of 4, where there are several parts.
int64_t RowPartSize(int64_t size, int parts);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_ROWS_ROW_DIVISION_H_
