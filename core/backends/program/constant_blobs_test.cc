#include "core/backends/program/constant_blobs.h"

#include <gtest/gtest.h>

#include <vector>

namespace slipway {
namespace {

Tensor Filled(int64_t count, float value) {
  Tensor tensor = Tensor::Zeros(DataType::kFloat32, {count});
  for (float& element : tensor.mutable_values<float>()) element = value;
  return tensor;
}

TEST(ConstantBlobs, SmallOnesShareABlobLargeOnesHaveTheirOwn) {
  const std::vector<Tensor> tensors = {Filled(3, 1), Filled(16384, 2), Filled(17, 3),
                                       Filled(16384, 2), Filled(16383, 4)};
  const ConstantBlobs placed = PlaceConstants(tensors);
  ASSERT_EQ(placed.constants.size(), 5u);
  EXPECT_EQ(placed.blobs.size(), 2u);
  EXPECT_EQ(placed.constants[1].blob, placed.constants[3].blob);
  EXPECT_EQ(placed.constants[0].blob, placed.constants[2].blob);
  EXPECT_EQ(placed.constants[0].offset, 0);
  EXPECT_EQ(placed.constants[2].offset, 64);
  EXPECT_EQ(placed.constants[4].offset, 192);
  EXPECT_EQ(placed.total_bytes, 65536 + 192 + 65536);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const PlacedConstant& constant = placed.constants[i];
    const Blob& blob = placed.blobs.at(constant.blob);
    EXPECT_EQ(Digest::Of(blob.bytes()), constant.blob);
    EXPECT_EQ(blob.bytes().substr(constant.offset, constant.size_bytes), tensors[i].bytes());
  }
}

TEST(ConstantBlobs, NoneIsNone) {
  const ConstantBlobs placed = PlaceConstants({});
  EXPECT_TRUE(placed.blobs.empty());
  EXPECT_EQ(placed.total_bytes, 0);
}

}  // namespace
}  // namespace slipway
