// MatrixProduct: a group that multiplies matrices, or convolves, and goes on with the result element by element, as numbers alone: what a template for tensor
// cores is filled in with.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_MATRIX_PRODUCT_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_MATRIX_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/codegen/tensor_cores/element_steps.h"
#include "core/codegen/tensor_cores/indexing.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/tensor/dtype.h"

namespace slipway {

// Element (batch, row, column) lies at batch(batch) + rows(row) + columns * column of the group's input.
struct ProductTensor {
  int input = 0;
  Indexing batch;
  Indexing rows;
  int64_t columns = 0;
  DataType dtype = DataType::kFloat32;  // Or what the group widens by a Cast at its beginning.
};

// Planes over which a window slides, two-dimensional. The right matrix of a convolution, which is in no memory: its columns are the window's places, row
// by row, its rows the elements of the window, channel by channel.
struct SlidingWindow {
  struct Dimension {
    int64_t input = 1;
    int64_t output = 1;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad = 0;  // Before the first element; what is beyond an edge is 0.
  };
  Dimension height;
  Dimension width;

  // Of planes of several rows, padding included.
  static constexpr int64_t kMostRows = 1 << 14;
  static constexpr int64_t kMostColumns = 1 << 16;
  // Whether planes have one row, and windows, too.
  bool is_flat() const { return height.input == 1 && height.output == 1 && height.kernel == 1; }

  // Rows go through all channels with one element of the window, and then with the next: as weights can be laid out.
  bool channels_are_inner = false;
};

// y[batch, m, n] = result, of the steps on the sum over k of a[batch, m, k] * b[batch, k, n]. Every extent is at least 1. Rows of a batch whose matrix b is the same are rows of one matrix.
struct MatrixProduct {
  int64_t batch = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  ProductTensor a;  // Its columns are the depth; its rows have one extent at most.
  ProductTensor
      b;  // Its rows are the depth, one extent at most; with `window` its planes' batch alone counts.
  std::optional<SlidingWindow> window;
  std::vector<ProductTensor> tensors;  // That steps read.
  std::vector<ElementStep> steps;
  ElementStep::Operand result;
};

// UNIMPLEMENTED says, for people, what of the group is none: "Softmax behind it". Before the product there may be what makes a factor of an input: a Cast
// from f16 or bf16, and a Transpose of a matrix, or of weights of windows whose channels are innermost. REQUIRES: the group's types are known.
absl::StatusOr<MatrixProduct> DecodeProduct(const Graph& body, const OperatorRegistry& registry);

// The same of a convolution of which each channel has a window of its own: a batch for each plane, of one row. UNIMPLEMENTED for any other.
absl::StatusOr<MatrixProduct> DecodeDepthwise(const Graph& body, const OperatorRegistry& registry);

// The same of any convolution, with a window, be it of one place, and however its channels are groups: the batch is that of the planes times the groups, the last
// index of the left matrix's. UNIMPLEMENTED for anything else.
absl::StatusOr<MatrixProduct> DecodeConvolution(const Graph& body,
                                                const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_MATRIX_PRODUCT_H_
