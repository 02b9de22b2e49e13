// Keys or values on their way from the device's memory to what a group shares, a tile of keys at a time.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_LOADER_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_LOADER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/codegen/tensor_cores/attention_tile.h"
#include "core/codegen/tensor_cores/fused_attention.h"
#include "core/codegen/tensor_cores/kernel_text.h"
#include "core/codegen/tensor_cores/shared_layout.h"

namespace slipway {

// Which of the two.
struct AttentionFactor {
  const AttentionTensor& tensor;
  int parameter = 0;  // Of the entry.
  int64_t keys = 0;   // All of them,
  int64_t size = 0;   // and numbers of each.
  // Keys are the depth of the product that it is multiplied by, as of values.
  bool keys_are_depth = false;
};

// Writes the parts of the text that move a factor: Start, then Load and Store for the first tile and GoOn, Load and Store for the tiles behind. What is beyond
// the last key is zero.
class AttentionLoader {
 public:
  virtual ~AttentionLoader() = default;

  SharedLayout layout;

  // What holds for all tiles; registers.
  virtual void Start(const std::string& instance, const std::string& batch,
                     const std::string& head) = 0;
  // To the next tile.
  virtual void GoOn() = 0;
  // The tile comes to registers,
  virtual void Load() = 0;
  // and from there, rounded, to what the group shares.
  virtual void Store() = 0;
};

// Values of 4 bytes are turned on their way, since ldmatrix turns none of these; and of each eight keys the even ones stand before the odd ones, as an
// instance has scores of them (attention_text.cc).
std::unique_ptr<AttentionLoader> MakeAttentionLoader(KernelText& text, const AttentionTile& tile,
                                                     const AttentionFactor& factor);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_LOADER_H_
