// Softmax of rows that come a part at a time.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ONLINE_SOFTMAX_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ONLINE_SOFTMAX_H_

#include <string>
#include <vector>

#include "core/codegen/tensor_cores/kernel_text.h"
#include "core/codegen/tensor_cores/score_rows.h"

namespace slipway {

// Writes what an instance does with the rows that it has a part of. A row that has had nothing above minus infinity has a sum of 0; one with something that is no
// number a sum that is none. Source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; sums are added up over lanes once, at the
// end, as by Dao, "FlashAttention-2", 2023.
class OnlineSoftmax {
 public:
  // Scores are logarithms, to the base 2 or, where `is_natural`, e.
  OnlineSoftmax(int rows, bool is_natural, PtxWriter& w);

  // Puts e, or 2, to the power of each score, relative to the largest one so far, in its place, and makes `mixed` relative to that, too.
  void Take(const ScoreRows& scores, const ScoreRows& mixed);
  // Behind the last part: adds up the sums of lanes. By row: the sum.
  const std::vector<std::string>& Finish();

 private:
  std::string Power(const std::string& score, const std::string& largest);
  // Of four neighbouring lanes, which have a row together.
  void Combine(const std::string& value, const char* combine);

  const bool is_natural_;
  PtxWriter& w_;
  std::vector<std::string> largest_, sums_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ONLINE_SOFTMAX_H_
