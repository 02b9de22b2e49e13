// How attention is divided among groups and warps of a GPU with tensor cores.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_TILE_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_TILE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/codegen/tensor_cores/tensor_tile.h"

namespace slipway {

// A group computes what so many queries of a head make, its warps a part of these each, and goes through the keys so many at a time.
struct AttentionTile {
  int queries = 0;
  int keys = 0;
  int warps = 0;

  int instances() const { return 32 * warps; }
  int warp_queries() const { return queries / warps; }  // 16, or 32.

  friend bool operator==(const AttentionTile&, const AttentionTile&) = default;
};

// All there are, the best ones first where there is enough to do.
absl::Span<const AttentionTile> AttentionTiles();

// Whether what the group shares and what an instance keeps have room, with heads of so many numbers of so many bytes.
bool CanAttend(const AttentionTile& tile, int64_t size, int64_t value_size, int number_bytes);

// The first that gives every multiprocessor a group; where none does, the one with the most groups. Of those that are less than twice as
// large as there are queries, or the smallest. `heads` are those of all of the batch. REQUIRES: sizes are multiples of 16 up to 128, and bytes are 2 or 4.
AttentionTile ChooseAttentionTile(const TensorGpu& gpu, int64_t heads, int64_t queries,
                                  int64_t size, int64_t value_size, int number_bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_TILE_H_
