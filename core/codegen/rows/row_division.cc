#include "core/codegen/rows/row_division.h"

#include "core/codegen/tensor_cores/kernel_text.h"

namespace slipway {
namespace {

constexpr int kNumbersOfWarps[] = {1, 4, 8, 16};
// That have parts of rows: two groups of them are on a multiprocessor at a time.
constexpr int kFewestWarpsOfPart = 8;
constexpr int64_t kWarp = 32;
// Of a multiprocessor: enough to hide what one of them waits for.
constexpr int64_t kWantedWarps = 8;
constexpr int64_t kFewestOfInstance = 4;

}  // namespace

int64_t RowPartSize(int64_t size, int parts) {
  return parts == 1 ? size : Parts(Parts(size, parts), kVector) * kVector;
}

int64_t MostRowSize(RowLayout layout) {
  return layout == RowLayout::kTogether ? kMostRowSize : kMostOfPart / kTurnedRows;
}

std::vector<RowDivision> RowDivisions(int64_t size, RowLayout layout) {
  const bool is_turned = layout == RowLayout::kTurned;
  std::vector<RowDivision> divisions;
  for (const int warps : kNumbersOfWarps) {
    const int64_t lanes = is_turned ? kWarp / kTurnedRows : kWarp;
    const int64_t parts = Parts(size, warps * lanes * kMostOfInstance);
    const bool is_for_parts =
        !is_turned && size > kMostOfPart && warps >= kFewestWarpsOfPart && parts <= kMostRowParts;
    if (is_turned && warps < kRowWarps) continue;
    if (parts == 1 || is_for_parts) divisions.push_back({warps, static_cast<int>(parts)});
  }
  return divisions;
}

RowDivision ChooseRowDivision(const TensorGpu& gpu, int64_t rows, int64_t size, RowLayout layout) {
  const bool is_turned = layout == RowLayout::kTurned;
  const int64_t groups = is_turned ? Parts(rows, kTurnedRows) : rows;
  const int64_t lanes = is_turned ? kWarp / kTurnedRows : kWarp;
  const std::vector<RowDivision> divisions = RowDivisions(size, layout);
  RowDivision best = divisions[0];
  for (const RowDivision& division : divisions) {
    const bool has_work = size >= division.warps * lanes * kFewestOfInstance;
    if (groups * best.warps * best.parts >= gpu.multiprocessors * kWantedWarps || !has_work) break;
    if (best.parts == 1) best = division;
  }
  return best;
}

}  // namespace slipway
