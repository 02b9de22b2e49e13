// Operators that spread elements over an image and add up what meets: ConvTranspose, Col2Im.
#ifndef SLIPWAY_CORE_OPERATORS_DECONVOLUTION_H_
#define SLIPWAY_CORE_OPERATORS_DECONVOLUTION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"
#include "core/operators/window.h"

namespace slipway {

// ConvTranspose: x [N, C, ...], w [C, M / group, kernel...], bias [M], y [N, M, ...]. The window is that of the
// convolution whose transpose it is: it slides over y and makes x.
template <typename Extent>
struct BasicConvTransposeView {
  int64_t group = 1;
  BasicWindow<Extent> window;
};
using ConvTransposeView = BasicConvTransposeView<int64_t>;
// UNIMPLEMENTED where an extent is open.
absl::StatusOr<ConvTransposeView> DecodeConvTranspose(const NodeView& view);

// Col2Im: x [N, C * block, L], y [N, C, image...]. The window slides over the image and makes the L blocks;
// its kernel is kOpenExtent where the block's extents are not known.
absl::StatusOr<Window> DecodeCol2Im(const NodeView& view);

absl::Status RegisterDeconvolutionOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_DECONVOLUTION_H_
