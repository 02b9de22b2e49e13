// What the parts of a product's text have in common: who an instance is, where tensors lie, and which numbers tensor cores multiply.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_KERNEL_FRAME_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_KERNEL_FRAME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/codegen/tensor_cores/matrix_product.h"
#include "core/codegen/tensor_cores/ptx_writer.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "core/tensor/precision.h"

namespace slipway {

inline constexpr int kElementBytes =
    4;  // In the device's memory, but for constants that are narrow.
// What an instance moves at once at most, and what a row of ldmatrix has.
inline constexpr int kVectorBytes = 16;
inline constexpr int kVector = kVectorBytes / kElementBytes;

// Numbers as tensor cores have them, in shared memory and in registers. Whatever they are, one mma takes 32 bytes of the depth, and ldmatrix brings
// it these where rows go along the depth.
struct NumberForm {
  Precision precision;
  DataType dtype;  // Of constants that are such numbers already.
  int bytes;
  const char* rounded;   // Words of two, or of one: "cvt.rn.f16x2.f32".
  const char* multiply;  // 16 rows by 8 columns.
  const char* type;      // Of both factors where warp groups multiply.

  bool is_narrow() const { return bytes < kElementBytes; }
};
inline constexpr int kMmaRows = 16;
inline constexpr int kMmaColumns = 8;
inline constexpr int kMmaDepthBytes = 32;

// The memory that a group shares: what an entry declares, and what a launch gives.
inline constexpr char kSharedName[] = "steps";
inline constexpr char kGivenName[] = "given_steps";

// Null for what is no precision of tensor cores'.
const NumberForm* FindNumberForm(Precision precision);

inline std::string Number(int64_t number) { return absl::StrCat(number); }
inline int64_t Parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

// Registers that hold for all of the text, once FindPlace has written them.
struct KernelFrame {
  const MatrixProduct& product;
  const NumberForm& form;
  const TensorTile tile;
  const int parts;  // Of the depth, each of which other groups go through.
  const std::string entry;
  PtxWriter& w;

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

  // Adds what the index says of `number`, a register, to `offset`, in elements: never more than 2^29, as tensors are smaller than 2^31 bytes.
  std::string Plus(std::string offset, const Indexing& index, std::string number);

  // Of an element of a parameter of the entry, a register or a number.
  std::string Address(int parameter, const std::string& element, int bytes = kElementBytes);

  // Numbers of f32 as tensor cores want them, in words.
  std::vector<std::string> Rounded(const std::vector<std::string>& values);

  // Neighbours in shared memory from an address on.
  void StoreShared(const std::string& address, int64_t offset,
                   const std::vector<std::string>& words);
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_KERNEL_FRAME_H_
