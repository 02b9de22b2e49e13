// The kernel of attention on tensor cores, which never writes its scores: a text of PTX from a template.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_TEXT_H_

#include <string>
#include <vector>

#include "core/codegen/device_kernel.h"
#include "core/codegen/tensor_cores/attention_tile.h"
#include "core/codegen/tensor_cores/fused_attention.h"
#include "core/tensor/precision.h"

namespace slipway {

// A kernel of one launch. By operand (BlockOperand) `operands` has the group's input that it is, of so many; the group's one output is the result. Queries, keys, values
// and probabilities are rounded to what `precision` says, to the nearest; sums, the largest scores and the sums of probabilities are f32. `entry` is a C
// identifier; the text has no preamble. REQUIRES: the precision is one of tensor cores', and CanAttend.
//
// Each instance keeps queries and what has been mixed of values in registers while the group goes through the keys. Of each query it knows the largest score so
// far and the sum of probabilities relative to it; where a tile of keys has a larger one, what was mixed before is made smaller. Source: Dao, "FlashAttention-2: Faster
// Attention with Better Parallelism and Work Partitioning", 2023; the sums go back to Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.
DeviceKernel AttentionKernel(const FusedAttention& attention, const std::vector<int>& operands,
                             size_t inputs, Precision precision, const AttentionTile& tile,
                             const std::string& entry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ATTENTION_TEXT_H_
