// What the parts of a product's text have in common: who an instance is, and how the product is divided.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_KERNEL_FRAME_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_KERNEL_FRAME_H_

#include <cstdint>
#include <string>

#include "core/codegen/tensor_cores/kernel_text.h"
#include "core/codegen/tensor_cores/matrix_product.h"
#include "core/codegen/tensor_cores/tensor_tile.h"

namespace slipway {

// Registers that hold for all of the text, once FindPlace has written them.
struct KernelFrame : KernelText {
  const MatrixProduct& product;
  const TensorTile tile;
  const int parts;  // Of the depth, each of which other groups go through.

  std::string instance = {}, lane = {}, batch = {};
  std::string first_row = {}, first_column = {};  // Of the group,
  std::string warp_row = {}, warp_column = {};    // and of the warp within.
  std::string part = {}, first_step = {};         // Of the depth; empty where there is one part.

  // Places of the depth in a step.
  int depth() const { return tile.depth_bytes / form.bytes; }
  int64_t steps() const { return Parts(product.k, depth()); }
  int64_t steps_of_part() const { return Parts(steps(), parts); }
  // Whether no step goes beyond the depth's end.
  bool depth_is_whole() const { return product.k % depth() == 0; }

  // Where the group's part of the depth begins, added to a register.
  std::string PlusFirstDepth(const std::string& depth);

  // Tiles of one column of tiles follow each other, since they read the same of b.
  void FindPlace(int64_t row_tiles, int64_t column_tiles);
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_KERNEL_FRAME_H_
