// The steps behind a product, as instructions.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_TEXT_H_

#include <string>
#include <vector>

#include "core/codegen/tensor_cores/matrix_product.h"
#include "core/codegen/tensor_cores/ptx_writer.h"

namespace slipway {

// The register, or number, that holds the result of one element: `sum` holds its sum of products, `tensors` MatrixProduct::tensors at its place.
std::string WriteSteps(const MatrixProduct& product, const std::string& sum,
                       const std::vector<std::string>& tensors, PtxWriter& writer);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_TEXT_H_
