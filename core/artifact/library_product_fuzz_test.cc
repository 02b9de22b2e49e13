// Any bytes as a description of a product: an error, or matrices whose elements lie within their values.
#include <cstddef>
#include <cstdint>

#include "core/artifact/library_product.h"
#include "core/artifact/test_manifest.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

void CheckWithin(const CheckedManifest& manifest, const LibraryMatrix& matrix, int64_t batch,
                 int64_t rows, int64_t columns) {
  const int64_t elements = NumElements(manifest.TypeOf(matrix.value).shape);
  // The values of the test's manifest are small, so that what lies within them is.
  if (batch > elements && matrix.batch_stride > 0) __builtin_trap();
  if (rows > elements || columns > elements) __builtin_trap();
  const int64_t last = (matrix.batch_stride == 0 ? 0 : (batch - 1) * matrix.batch_stride) +
                       (rows == 1 ? 0 : (rows - 1) * matrix.row_stride) +
                       (columns == 1 ? 0 : (columns - 1) * matrix.column_stride);
  if (last < 0 || last >= elements) __builtin_trap();
}

}  // namespace
}  // namespace slipway

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto* const manifest = new slipway::CheckedManifest(
      *slipway::CheckedManifest::Check(slipway::TestProductManifest()));
  slipway::v1::ProgramNotes::LibraryProduct proto;
  if (!proto.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto product = slipway::CheckLibraryProduct(proto, *manifest);
  if (!product.ok()) return 0;
  slipway::CheckWithin(*manifest, product->left, product->batch, product->m, product->k);
  slipway::CheckWithin(*manifest, product->right, product->batch, product->k, product->n);
  slipway::CheckWithin(*manifest, product->result, product->batch, product->m, product->n);
  if (slipway::DescribeLibraryProduct(*product).empty()) __builtin_trap();
  return 0;
}
