#include "core/backends/program/constant_blobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;

Tensor Filled(int64_t count, float value) {
  Tensor tensor = Tensor::Zeros(DataType::kFloat32, {count});
  for (float& element : tensor.mutable_values<float>()) element = value;
  return tensor;
}

TEST(ConstantBlobs, SmallOnesShareABlobLargeOnesHaveTheirOwn) {
  const std::vector<Tensor> tensors = {Filled(3, 1), Filled(16384, 2), Filled(17, 3),
                                       Filled(16384, 2), Filled(16383, 4)};
  ASSERT_OK_AND_ASSIGN(const ConstantBlobs placed, PlaceConstants(tensors, KeepInMemory));
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

TEST(ConstantBlobs, LargeOnesAreMadeAndLetGoOneAfterTheOther) {
  // So large that two of them are never there at one time.
  constexpr int64_t kCount = 36 << 20;
  std::atomic<int> alive = 0;
  std::atomic<int> most = 0;
  std::vector<Tensor> tensors;
  for (int i = 0; i < 3; ++i) {
    tensors.push_back(Tensor::Deferred({DataType::kFloat32, {kCount}}, [&alive, &most] {
      most = std::max<int>(most, ++alive);
      auto made = std::make_shared<Tensor>(Tensor::Zeros(DataType::kFloat32, {kCount}));
      const absl::string_view bytes = made->bytes();
      return Tensor::Borrow(
          made->type(), bytes,
          std::shared_ptr<const void>(bytes.data(), [made, &alive](const void*) { --alive; }));
    }));
  }
  const KeepBlob keep = [](const Digest&, const Blob&) { return Blob(); };
  ASSERT_OK_AND_ASSIGN(const ConstantBlobs placed, PlaceConstants(tensors, keep));
  EXPECT_EQ(placed.blobs.size(), 1u);  // All are zeros.
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(most, 1);
}

TEST(ConstantBlobs, TellsWhyABlobWasNotKept) {
  const std::vector<Tensor> tensors = {Filled(16384, 2), Filled(16384, 3), Filled(3, 1)};
  const KeepBlob full = [](const Digest&, const Blob&) -> absl::StatusOr<Blob> {
    return absl::ResourceExhaustedError("the disk is full");
  };
  EXPECT_THAT(PlaceConstants(tensors, full),
              StatusIs(absl::StatusCode::kResourceExhausted, "the disk is full"));
  EXPECT_THAT(PlaceConstants({Filled(3, 1)}, full),
              StatusIs(absl::StatusCode::kResourceExhausted, "the disk is full"));
}

TEST(ConstantBlobs, RunningOutOfMemoryIsResourceExhausted) {
  const TensorType type{DataType::kUint8, {1 << 30, 1 << 30, 2}};
  const Tensor tensor = Tensor::Deferred(type, [type] { return Tensor::Create(type); });
  EXPECT_THAT(
      PlaceConstants({tensor}, KeepInMemory),
      StatusIs(absl::StatusCode::kResourceExhausted, ::testing::HasSubstr("u8[1073741824")));
}

TEST(ConstantBlobs, NoneIsNone) {
  ASSERT_OK_AND_ASSIGN(const ConstantBlobs placed, PlaceConstants({}, KeepInMemory));
  EXPECT_TRUE(placed.blobs.empty());
  EXPECT_EQ(placed.total_bytes, 0);
}

}  // namespace
}  // namespace slipway
