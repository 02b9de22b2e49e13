// What happens behind a product, where it is one of the few things that vendors' libraries do there, too.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_EPILOGUE_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_EPILOGUE_H_

#include <optional>

#include "core/codegen/tensor_cores/matrix_product.h"

namespace slipway {

// activation(product + bias + added).
struct ProductEpilogue {
  enum class Activation { kNone, kRelu, kGeluTanh };

  // Inputs of the group: an element for each column, or for each row, of all of the batch alike, or, of a convolution, for each channel of its result;
  std::optional<int> bias;
  bool bias_is_of_rows = false;
  // and one as large as the result, which lies as that does.
  std::optional<int> added;
  Activation activation = Activation::kNone;
};

// Nothing where the product's steps do anything else, be it in another order.
std::optional<ProductEpilogue> FindProductEpilogue(const MatrixProduct& product);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PRODUCT_EPILOGUE_H_
