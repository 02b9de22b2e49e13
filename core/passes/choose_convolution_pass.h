// ChooseConvolution: convolutions by transformed tiles, where that is faster.
#ifndef SLIPWAY_CORE_PASSES_CHOOSE_CONVOLUTION_PASS_H_
#define SLIPWAY_CORE_PASSES_CHOOSE_CONVOLUTION_PASS_H_

#include <cstdint>
#include <functional>

#include "core/operators/convolution.h"
#include "core/passes/pass.h"

namespace slipway {

// Outputs along either dimension of the tiles that a convolution is best made of, 2, 4 or 6; 0: it is computed as it is.
using ChooseTileOutputs = std::function<int64_t(const ConvView&)>;

// slipway.ConvNCHWc by constant f32 weights of 3 x 3, in one group, of blocked channels, with strides and dilations of 1 and all extents
// known, becomes slipway.WinogradConvNCHWc where `choose` says so, with its weights transformed. Expects AlterLayout.
absl::StatusOr<Graph> ChooseConvolution(Graph graph, const PassContext& context,
                                        const ChooseTileOutputs& choose);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_CHOOSE_CONVOLUTION_PASS_H_
