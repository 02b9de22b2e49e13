// The kernel of a product of matrices, or of a convolution, on tensor cores: a text of PTX from a template.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_TEXT_H_

#include <string>

#include "absl/status/status.h"
#include "core/codegen/device_kernel.h"
#include "core/codegen/tensor_cores/matrix_product.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "core/tensor/precision.h"

namespace slipway {

// Whether constants that the product reads are laid out for that. UNIMPLEMENTED says what is not.
absl::Status CheckFactors(const MatrixProduct& product, Precision precision);

// A kernel of one launch, or of two where the depth has several parts, whose inputs are the group's and whose output is the group's one. Elements of a and b are rounded to what `precision` says, to the nearest,
// even where two are; sums and what is behind them are f32. `entry` is a C identifier; the text has no preamble.
// REQUIRES: CheckHasProductsOf and CheckFactors, and the division is one of CanDivide, with a tile that the device has.
//
// A group of instances makes one tile of the result. It goes through the depth in steps (main_loop.h): while tensor cores multiply what lies in shared memory, the next step is
// on its way from the device's memory to registers, from where it goes, rounded, to another part of shared memory; what needs no rounding is copied there by
// itself, two steps ahead. What is beyond the depth's end is zero, what is beyond other edges reaches no element that there is.
DeviceKernel ProductKernel(const MatrixProduct& product, size_t inputs, Precision precision,
                           const ProductDivision& division, const std::string& entry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_TEXT_H_
