#include "core/backends/gpu/vendor_steps.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "core/codegen/tensor_cores/matrix_product.h"
#include "core/codegen/tensor_cores/product_epilogue.h"
#include "core/operators/products.h"
#include "core/wire/precision_proto.h"

namespace slipway {
namespace {

using Proto = v1::ProgramNotes::VendorStep;

// The one stride of an index, 0 where all of them read the same. Nothing where there are several.
std::optional<int64_t> StrideOf(const Indexing& indexing, int64_t extent) {
  if (indexing.extents.empty()) return 0;
  if (indexing.extents.size() > 1 || indexing.extents[0] != extent) return std::nullopt;
  return indexing.strides[0];
}

// A factor of so many rows and columns. False where it has neither rows nor columns that are whole.
bool Describe(const ProductTensor& tensor, int64_t batch, int64_t rows, int64_t columns,
              Proto::Product::Matrix& matrix) {
  const std::optional<int64_t> of_batch = StrideOf(tensor.batch, batch);
  std::optional<int64_t> of_rows = StrideOf(tensor.rows, rows);
  int64_t of_columns = tensor.columns;
  if (!of_batch.has_value() || !of_rows.has_value()) return false;
  // What is there once has no stride: that of a matrix without gaps.
  if (columns == 1) of_columns = *of_rows == 1 ? rows : 1;
  if (rows == 1) of_rows = of_columns == 1 ? columns : 1;
  const bool is_whole =
      (of_columns == 1 && *of_rows >= columns) || (*of_rows == 1 && of_columns >= rows);
  if (!is_whole) return false;
  matrix.set_value(static_cast<uint32_t>(tensor.input));
  matrix.set_batch_stride(*of_batch);
  matrix.set_row_stride(*of_rows);
  matrix.set_column_stride(of_columns);
  return true;
}

Proto::Activation ToProto(ProductEpilogue::Activation activation) {
  switch (activation) {
    case ProductEpilogue::Activation::kNone:
      return Proto::ACTIVATION_UNSPECIFIED;
    case ProductEpilogue::Activation::kRelu:
      return Proto::ACTIVATION_RELU;
    case ProductEpilogue::Activation::kGeluTanh:
      return Proto::ACTIVATION_GELU_TANH;
  }
  return Proto::ACTIVATION_UNSPECIFIED;
}

std::optional<Proto> DescribeProduct(const MatrixProduct& product,
                                     const ProductEpilogue& epilogue) {
  Proto proto;
  Proto::Product& made = *proto.mutable_product();
  made.set_batch(product.batch);
  made.set_m(product.m);
  made.set_n(product.n);
  made.set_k(product.k);
  if (!Describe(product.a, product.batch, product.m, product.k, *made.mutable_left()) ||
      !Describe(product.b, product.batch, product.k, product.n, *made.mutable_right())) {
    return std::nullopt;
  }
  made.set_bias_is_of_rows(epilogue.bias_is_of_rows);
  return proto;
}

void Describe(const SlidingWindow::Dimension& dimension, Proto::Convolution::Dimension& made) {
  made.set_input(dimension.input);
  made.set_output(dimension.output);
  made.set_kernel(dimension.kernel);
  made.set_stride(dimension.stride);
  made.set_dilation(dimension.dilation);
  made.set_pad(dimension.pad);
}

Proto DescribeConvolution(const MatrixProduct& product) {
  const SlidingWindow& window = *product.window;
  const Indexing& groups = product.a.batch;
  Proto proto;
  Proto::Convolution& made = *proto.mutable_convolution();
  made.set_groups(groups.extents.empty() ? 1 : groups.extents.back());
  made.set_batch(product.batch / made.groups());
  made.set_input_channels(product.k / (window.height.kernel * window.width.kernel) * made.groups());
  made.set_output_channels(product.m * made.groups());
  Describe(window.height, *made.mutable_height());
  Describe(window.width, *made.mutable_width());
  made.set_planes(static_cast<uint32_t>(product.b.input));
  made.set_weights(static_cast<uint32_t>(product.a.input));
  made.set_weights_have_channels_inside(window.channels_are_inner);
  return proto;
}

// Nothing where that is no product, or what is behind it is not the library's.
std::optional<Proto> DescribeDecoded(const absl::StatusOr<MatrixProduct>& product) {
  if (!product.ok()) return std::nullopt;
  const std::optional<ProductEpilogue> epilogue = FindProductEpilogue(*product);
  if (!epilogue.has_value()) return std::nullopt;
  std::optional<Proto> proto = product->window.has_value() ? DescribeConvolution(*product)
                                                           : DescribeProduct(*product, *epilogue);
  if (!proto.has_value()) return std::nullopt;
  if (epilogue->bias.has_value()) proto->set_bias(static_cast<uint32_t>(*epilogue->bias));
  if (epilogue->added.has_value()) proto->set_added(static_cast<uint32_t>(*epilogue->added));
  proto->set_activation(ToProto(epilogue->activation));
  return proto;
}

}  // namespace

std::optional<Proto> DescribeForLibrary(const Graph& body, const OperatorRegistry& registry,
                                        Precision precision) {
  const bool has_product =
      absl::c_any_of(body.nodes, [](const Node& node) { return MakesProducts(node.op); });
  if (!has_product) return std::nullopt;
  std::optional<Proto> proto = DescribeDecoded(DecodeProduct(body, registry));
  if (!proto.has_value()) proto = DescribeDecoded(DecodeConvolution(body, registry));
  if (!proto.has_value()) return std::nullopt;
  proto->set_result(static_cast<uint32_t>(body.inputs.size()));
  proto->set_precision(ToProto(precision));
  return proto;
}

}  // namespace slipway
