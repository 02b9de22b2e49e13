// Any bytes as a description of a step: an error, or factors whose elements lie within their values.
#include <cstddef>
#include <cstdint>
#include <variant>

#include "core/artifact/test_manifest.h"
#include "core/artifact/vendor_step.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

void CheckWithin(const CheckedManifest& manifest, const VendorMatrix& matrix, int64_t batch,
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

void CheckWithin(const CheckedManifest& manifest, const VendorProduct& product) {
  CheckWithin(manifest, product.left, product.batch, product.m, product.k);
  CheckWithin(manifest, product.right, product.batch, product.k, product.n);
}

void CheckWithin(const CheckedManifest& manifest, const VendorConvolution& step) {
  const auto has = [&manifest](uint32_t value, int64_t elements) {
    return NumElements(manifest.TypeOf(value).shape) == elements;
  };
  const int64_t channels = step.input_channels / step.groups;
  if (!has(step.planes.value,
           step.batch * step.input_channels * step.height.input * step.width.input) ||
      !has(step.weights.value,
           step.output_channels * channels * step.height.kernel * step.width.kernel)) {
    __builtin_trap();
  }
  for (const VendorConvolution::Dimension& each : {step.height, step.width}) {
    // The last window begins within the plane.
    if ((each.output - 1) * each.stride - each.pad >= each.input) __builtin_trap();
  }
}

}  // namespace
}  // namespace slipway

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto* const manifest = new slipway::CheckedManifest(
      *slipway::CheckedManifest::Check(slipway::TestProductManifest()));
  slipway::v1::ProgramNotes::VendorStep proto;
  if (!proto.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto step = slipway::CheckVendorStep(proto, *manifest);
  if (!step.ok()) return 0;
  std::visit([](const auto& each) { slipway::CheckWithin(*manifest, each); }, step->computed);
  if (slipway::DescribeVendorStep(*step).empty()) __builtin_trap();
  return 0;
}
