// How matrices lie in the memory that a group shares, so that tensor cores have them without waiting for a bank.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SHARED_LAYOUT_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SHARED_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/codegen/tensor_cores/kernel_text.h"

namespace slipway {

// A matrix: rows along the depth, or, of narrow numbers, across it. Either way 8 neighbouring rows have the same 16 bytes of theirs at different banks: their
// pieces of 16 bytes are in an order that hangs on the row, where rows are of 64 or 128 bytes, or lie in columns of 128 bytes, one behind the other, as warp groups
// want them; or rows are 16 bytes apart, whatever multiple of 32 they have. The order of rows of 128 bytes is what NVIDIA calls the swizzle of 128 bytes, as long
// as a slot begins at a multiple of 1024.
struct SharedLayout {
  bool depth_is_inner = true;
  bool is_padded = false;
  bool is_in_columns = false;
  int rows = 0;
  int row_bytes = 0;
  int slots = 1;   // Matrices that are there at a time.
  int offset = 0;  // Of its first slot.
  const char* memory = kSharedName;

  static constexpr int kColumnBytes = 128;
  // From a row to the next.
  int pitch() const {
    if (is_in_columns) return kColumnBytes;
    return is_padded ? row_bytes + kVectorBytes : row_bytes;
  }
  int columns() const { return is_in_columns ? row_bytes / kColumnBytes : 1; }
  int column_bytes() const { return rows * pitch(); }
  int slot_bytes() const { return (columns() * column_bytes() + 127) / 128 * 128; }
  int bytes() const { return slots * slot_bytes(); }

  // Of a byte of a row, in its first column, in the first slot: all are registers. Where rows are not padded the next pieces of 16 bytes lie at the exclusive or of it with 16,
  // 32, ..., as long as that changes no bit that `byte` has; rows that are multiples of 8 apart lie as many pitches apart.
  std::string Address(const std::string& row, std::string byte, PtxWriter& w) const;

  // Where an instance has ldmatrix read the first 32 bytes of the depth of 16 places across it, from the register `across` on: of a left factor, or of a right
  // one for two neighbours of 8 columns.
  std::string FragmentAddress(const std::string& lane, const std::string& across, bool is_left,
                              const NumberForm& form, PtxWriter& w) const;
  // From there to others across the depth,
  int64_t AcrossBytes(int across, const NumberForm& form) const {
    return int64_t{across} * (depth_is_inner ? pitch() : form.bytes);
  }
  // and, of padded rows, along it.
  int64_t DepthBytes(int bytes, const NumberForm& form) const {
    return depth_is_inner ? bytes : int64_t{bytes} / form.bytes * pitch();
  }
  // Reads them: four words.
  std::vector<std::string> Fragment(const std::string& at, int64_t from, PtxWriter& w) const;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SHARED_LAYOUT_H_
