#include "core/codegen/tile_shapes.h"

#include <algorithm>

namespace slipway {

int StepsOfTile(int steps) {
  int most = std::min(steps, kTileRows);
  while (most > 1 && steps % most != 0) --most;
  return most;
}

bool FillsTiles(int columns, int steps) {
  constexpr int kLeastSteps = 6;
  return columns > 0 && columns % kTileColumns == 0 && StepsOfTile(steps) >= kLeastSteps;
}

TileRows TileRowsOf(int rows) {
  const int registers = (rows + kTileRows - 1) / kTileRows;
  if (rows % registers == 0) return {.whole = registers, .rows = rows / registers};
  return {.whole = rows / kTileRows, .rows = kTileRows, .rest = rows % kTileRows};
}

}  // namespace slipway
