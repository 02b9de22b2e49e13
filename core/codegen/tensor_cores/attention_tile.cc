#include "core/codegen/tensor_cores/attention_tile.h"

#include <algorithm>

namespace slipway {
namespace {

// Each fragment of keys and values that a warp reads it multiplies by all of its queries: with 16 of them reading takes as long as multiplying.
constexpr AttentionTile kTiles[] = {{128, 64, 4}, {128, 32, 4}, {64, 64, 4},
                                    {64, 32, 4},  {32, 32, 2},  {32, 16, 2}};

// What no launch has to ask for, rows 16 bytes apart in it.
constexpr int64_t kSharedBytes = 48 << 10;
constexpr int64_t kRowGap = 16;
// Of an instance: what there are, and what addresses and statistics take. With scores come elements of a mask and powers, with what is loaded where it goes: half as
// many again, as NVIDIA's assembler allots them.
constexpr int64_t kRegisters = 255;
constexpr int64_t kOtherRegisters = 64;

}  // namespace

absl::Span<const AttentionTile> AttentionTiles() { return kTiles; }

bool CanAttend(const AttentionTile& tile, int64_t size, int64_t value_size, int number_bytes) {
  const int64_t rows_of_values = number_bytes == 2 ? tile.keys : value_size;
  const int64_t numbers_of_row = number_bytes == 2 ? value_size : tile.keys;
  const int64_t shared = tile.keys * (size * number_bytes + kRowGap) +
                         rows_of_values * (numbers_of_row * number_bytes + kRowGap);
  const int64_t own_queries = tile.warp_queries();
  const int64_t queries = own_queries * size * number_bytes / 4 / 32;
  const int64_t scores = own_queries * tile.keys / 32;
  const int64_t sums = own_queries * value_size / 32;
  const int64_t next = tile.keys * std::max(size, value_size) / tile.instances();
  return shared <= kSharedBytes &&
         queries + sums + (scores + next) * 3 / 2 <= kRegisters - kOtherRegisters;
}

AttentionTile ChooseAttentionTile(const TensorGpu& gpu, int64_t heads, int64_t queries,
                                  int64_t size, int64_t value_size, int number_bytes) {
  AttentionTile best;
  AttentionTile smallest;
  int64_t most = 0;
  for (const AttentionTile& tile : kTiles) {
    if (!CanAttend(tile, size, value_size, number_bytes)) continue;
    smallest = tile;
    if (tile.queries >= 2 * queries) continue;
    const int64_t groups = heads * ((queries + tile.queries - 1) / tile.queries);
    if (groups > most) {
      best = tile;
      most = groups;
    }
    if (most >= gpu.multiprocessors) break;
  }
  return most > 0 ? best : smallest;
}

}  // namespace slipway
