// From sums of products to the result: what is behind them, and where it goes.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_RESULT_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_RESULT_TEXT_H_

#include <string>
#include <vector>

#include "core/codegen/tensor_cores/kernel_frame.h"

namespace slipway {

// `sums` are an instance's registers, by row, column and place of the mma; the result is the entry's parameter `result`.
void WriteResult(KernelFrame& frame, int result, const std::vector<std::string>& sums);

// A whole entry, for groups of so many instances, each with an element: the entry's parameter behind the inputs holds the sums of so many parts of the depth, one
// part behind the other; the result is the parameter behind that.
void WriteSummation(KernelFrame& frame, int inputs, int parts, int instances);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_RESULT_TEXT_H_
