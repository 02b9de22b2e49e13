// What an instance has of a warp's rows of scores, or of what is mixed of values, as mma.sync spreads them over a warp.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCORE_ROWS_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCORE_ROWS_H_

#include <string>
#include <vector>

#include "core/codegen/tensor_cores/kernel_text.h"

namespace slipway {

// Of a lane's rows number 2b and 2b + 1 are rows lane / 4 and lane / 4 + 8 of the warp's 16 from 16b on; of each 8 columns it has the two from 2 * (lane % 4) on.
class ScoreRows {
 public:
  static constexpr int kPair = 2;

  ScoreRows(int warp_rows, int columns, PtxWriter& w)
      : blocks_(columns / kMmaColumns),
        registers_(w.Registers(PtxWriter::Kind::kFloat, warp_rows / kMmaRows * 4 * blocks_)),
        rows_(warp_rows / (kMmaRows / kPair)) {}

  int rows() const { return rows_; }
  int blocks() const { return blocks_; }  // Of 8 columns.
  const std::vector<std::string>& registers() const { return registers_; }
  // The first or second of a row's two numbers in a block.
  const std::string& at(int row, int block, int i) const {
    return registers_[static_cast<size_t>((row / 2 * blocks_ + block) * 4 + row % 2 * 2 + i)];
  }
  // The four that an mma makes of rows 2 * pair and 2 * pair + 1.
  std::vector<std::string> Sums(int pair, int block) const {
    const auto first = registers_.begin() + (pair * blocks_ + block) * 4;
    return {first, first + 4};
  }

 private:
  int blocks_;
  std::vector<std::string> registers_;
  int rows_;
};

// Of the warp's first one, in rows.
inline int FirstOfRow(int row) { return row / 2 * kMmaRows + row % 2 * (kMmaRows / 2); }

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_SCORE_ROWS_H_
