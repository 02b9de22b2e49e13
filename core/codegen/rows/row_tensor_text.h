// Elements of the tensors that steps read behind rows that are normalized, as instructions.
#ifndef SLIPWAY_CORE_CODEGEN_ROWS_ROW_TENSOR_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_ROWS_ROW_TENSOR_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/codegen/rows/normalized_rows.h"
#include "core/codegen/tensor_cores/kernel_text.h"
#include "core/codegen/tensor_cores/ptx_writer.h"
#include "core/tensor/dtype.h"

namespace slipway {

// So many neighbours, 1 or 4, of f32, i8 or u8, in a register of f32 each: loaded where the predicate holds, and `otherwise` where it does not. An empty predicate always holds.
std::vector<std::string> LoadNeighbours(PtxWriter& w, DataType dtype, const std::string& address,
                                        int64_t offset, int count, const std::string& predicate,
                                        float otherwise);
// The same from registers, whose numbers are in the type's range.
void StoreNeighbours(PtxWriter& w, DataType dtype, const std::vector<std::string>& values,
                     const std::string& address, int64_t offset, const std::string& predicate);

// Reads one tensor, an instance's places of a row.
class RowTensorReader {
 public:
  // `row` is the row's number, `place` the instance's first one in it.
  RowTensorReader(EntryText& text, const RowTensor& tensor, int64_t row_size,
                  const std::string& row, const std::string& place);

  // Whether so many neighbours of a row whose places begin at multiples of that are neighbours in the tensor, and begin at a multiple of that, too.
  static bool HasVectors(const RowTensor& tensor, int64_t row_size, int count);

  // The elements at `count` neighbours from `place` + begin on, where the predicate holds. `aligned` says that vectors may be loaded where HasVectors.
  std::vector<std::string> Load(int64_t begin, int count, bool aligned,
                                const std::string& predicate);

 private:
  int bytes() const;

  EntryText& text_;
  const RowTensor& tensor_;
  const int64_t row_size_;
  const std::string place_;
  std::string of_row_;  // The element that the row begins with.
  std::string first_;  // The address of the element at `place`, where places of a row lie together;
  std::string only_;   // and the row's only element, where it has one.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_ROWS_ROW_TENSOR_TEXT_H_
