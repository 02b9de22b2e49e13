#include "core/codegen/depthwise/depthwise_tile.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

MatrixProduct Depthwise(int64_t planes, int64_t size, int64_t kernel, int64_t stride) {
  const SlidingWindow::Dimension dimension = {size,           size / stride,   kernel, stride,
                                              /*dilation=*/1, (kernel - 1) / 2};
  MatrixProduct product;
  product.batch = planes;
  product.n = dimension.output * dimension.output;
  product.k = kernel * kernel;
  product.window = SlidingWindow{dimension, dimension};
  return product;
}

TEST(DepthwiseTile, LargeOnesWhereThereIsEnoughToDo) {
  // The first one of MobileNet v2 with a batch of eight images, and ConvNeXt's.
  EXPECT_EQ(ChooseDepthwiseTile(kA100, Depthwise(8 * 32, 112, 3, 1)), (DepthwiseTile{8, 4}));
  EXPECT_EQ(ChooseDepthwiseTile(kA100, Depthwise(96, 56, 7, 1)).columns, 4);
}

TEST(DepthwiseTile, SmallOnesWhereMultiprocessorsWouldWait) {
  const DepthwiseTile tile = ChooseDepthwiseTile(kA100, Depthwise(32, 14, 3, 1));
  EXPECT_LT(tile.rows * tile.columns, 8);
}

}  // namespace
}  // namespace slipway
