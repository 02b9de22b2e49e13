// What is added to scores, or stands in their place.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCORE_MASK_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCORE_MASK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/codegen/tensor_cores/fused_attention.h"
#include "core/codegen/tensor_cores/kernel_text.h"
#include "core/codegen/tensor_cores/score_rows.h"

namespace slipway {

// Who reads the mask: registers.
struct MaskPlace {
  std::string batch, head;
  std::string first_query;  // The instance's: that of its row 0,
  std::string first_key;    // and its first key of the first tile.
};

// Writes the parts of the text that apply a mask, tile by tile of keys.
class ScoreMask {
 public:
  // `attention` has a mask, which is the entry's parameter `parameter`.
  ScoreMask(KernelText& text, const FusedAttention& attention, int parameter, int tile_keys)
      : text_(text), attention_(attention), parameter_(parameter), tile_keys_(tile_keys) {}

  // What holds for all tiles, for so many rows of an instance.
  void Start(const MaskPlace& place, int rows);
  // `keys_left` says how many keys there are from the instance's first one of the tile on; it is empty where there are always enough.
  void Apply(const ScoreRows& scores, const std::string& keys_left);
  void GoOn();

 private:
  const AttentionMask& mask() const { return *attention_.mask; }
  int bytes() const { return mask().is_condition ? 1 : kElementBytes; }
  std::string Load(const std::string& address, int64_t offset, const std::string& is_there);
  void ApplyTo(const std::string& score, const std::string& element);

  KernelText& text_;
  const FusedAttention& attention_;
  const int parameter_;
  const int tile_keys_;
  std::vector<std::string> addresses_;  // By row, or one where it is the same for all queries.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCORE_MASK_H_
