// The kernel of rows that are normalized: a text of PTX from a template, in f32.
#ifndef SLIPWAY_CORE_CODEGEN_ROWS_ROW_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_ROWS_ROW_TEXT_H_

#include <cstddef>
#include <string>

#include "core/codegen/device_kernel.h"
#include "core/codegen/rows/normalized_rows.h"
#include "core/codegen/rows/row_division.h"

namespace slipway {

// A kernel of a group of so many inputs and one output. Each element is read and written once, in vectors of 4 where rows are whole ones and tensors begin at such addresses, which running finds out;
// sums and the largest number are combined over a warp by shuffles, over several through what the group shares. Variances are those of centered numbers. What is behind is done to an element
// before it is written. `entry` is a C identifier; the text has no preamble.
//
// Rows that lie side by side are read as they lie, eight neighbours a group; sums go over the four lanes of a warp that have a row, and over warps.
//
// One launch, or two where rows have parts: the first one writes two numbers of each part to scratch memory, its largest number and the sum of powers relative to that, or its mean and
// the sum of squares of what differs from it; the second one combines them and reads each element again. Source of how means and squares of parts make those of all: Chan, Golub and LeVeque,
// "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979. REQUIRES: the division is one of RowDivisions(rows.size), by the layout of rows.
DeviceKernel RowKernel(const NormalizedRows& rows, size_t inputs, const RowDivision& division,
                       const std::string& entry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_ROWS_ROW_TEXT_H_
