// The kernel of rows that are normalized: a text of PTX from a template, in f32.
#ifndef SLIPWAY_CORE_CODEGEN_ROWS_ROW_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_ROWS_ROW_TEXT_H_

#include <cstddef>
#include <string>

#include "core/codegen/device_kernel.h"
#include "core/codegen/rows/normalized_rows.h"

namespace slipway {

// A kernel of one launch, of a group of so many inputs and one output. Each element is read and written once, in vectors of 4 where rows are whole ones and tensors begin at such addresses, which running finds out;
// sums and the largest number are combined over a warp by shuffles, over several through what the group shares. Variances are those of centered numbers. `entry` is a C identifier; the text
// has no preamble. REQUIRES: CanShareRow(warps, rows.size).
DeviceKernel RowKernel(const NormalizedRows& rows, size_t inputs, int warps,
                       const std::string& entry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_ROWS_ROW_TEXT_H_
