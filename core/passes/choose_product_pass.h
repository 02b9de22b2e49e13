// ChooseProduct: products by seven of half their extents, where that is faster.
#ifndef SLIPWAY_CORE_PASSES_CHOOSE_PRODUCT_PASS_H_
#define SLIPWAY_CORE_PASSES_CHOOSE_PRODUCT_PASS_H_

#include <cstdint>
#include <functional>

#include "core/passes/pass.h"

namespace slipway {

// Of a product of f32 by constant weights; of a convolution by single places these are its rows, of all images.
struct ProductExtents {
  int64_t rows = 0;
  int64_t depth = 0;
  int64_t columns = 0;
  bool is_of_images = false;
};

// Whether it is best made of seven products of its halves.
using ChooseHalves = std::function<bool(const ProductExtents&)>;

// slipway.GemmPacked, and slipway.ConvNCHWc of blocked channels by single places in one group, by constant f32 weights, become
// slipway.StrassenGemm and slipway.StrassenConvNCHWc where `choose` says so, with their weights' sums of quarters. All extents are known, and
// depth and blocks of columns even. Expects AlterLayout and PackGemm.
absl::StatusOr<Graph> ChooseProduct(Graph graph, const PassContext& context,
                                    const ChooseHalves& choose);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_CHOOSE_PRODUCT_PASS_H_
