#include "core/tensor/tensor.h"

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool IsAligned(const Tensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.bytes().data()) % 64 == 0;
}

TEST(TensorTest, DefaultIsUnset) {
  const Tensor tensor;
  EXPECT_FALSE(tensor.is_set());
  EXPECT_EQ(tensor.byte_size(), 0);
}

TEST(TensorTest, IsZeroedAndAlignedAtEverySize) {
  for (const int64_t extent : {0, 1, 2, 7, 17, 1000, 300000}) {  // The last is over 1 MiB.
    const Tensor tensor = Tensor::Zeros(DataType::kFloat32, {extent});
    EXPECT_TRUE(IsAligned(tensor)) << extent;
    EXPECT_EQ(tensor.byte_size(), extent * 4);
    EXPECT_THAT(tensor.values<float>(), Each(0.0f));
  }
}

TEST(TensorTest, ScalarsHaveRankZero) {
  const Tensor tensor = Tensor::Scalar<int64_t>(-7);
  EXPECT_EQ(ToString(tensor.type()), "i64[]");
  EXPECT_THAT(tensor.values<int64_t>(), ElementsAre(-7));
}

TEST(TensorTest, RefusesTypesThatCannotBe) {
  EXPECT_THAT(Tensor::Create({DataType::kInvalid, {1}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Tensor::Create({DataType::kFloat32, {-1}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(TensorTest, SaysSoWhenThereIsNoMemory) {
  // 2^61 bytes: more than any address space.
  EXPECT_THAT(Tensor::Create({DataType::kUint8, {1 << 30, 1 << 30, 2}}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("u8[1073741824, ")));
}

TEST(TensorTest, CopiesBytesOfTheRightNumber) {
  ASSERT_OK_AND_ASSIGN(const Tensor tensor, Tensor::FromBytes({DataType::kInt16, {2}},
                                                              absl::string_view("\1\0\2\0", 4)));
  EXPECT_THAT(tensor.values<int16_t>(), ElementsAre(1, 2));
  EXPECT_THAT(Tensor::FromBytes({DataType::kInt16, {2}}, "abc"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 4 bytes, not 3")));
  // A type that claims more than there is must not be believed before it is checked.
  EXPECT_THAT(Tensor::FromBytes({DataType::kUint8, {1 << 30, 1 << 30}}, "abc"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_OK(Tensor::FromBytes({DataType::kFloat32, {0}}, ""));
}

TEST(TensorTest, RefusesBoolsThatAreNeitherZeroNorOne) {
  EXPECT_THAT(Tensor::FromBytes({DataType::kBool, {2}}, absl::string_view("\1\2", 2)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("element 1")));
  EXPECT_OK(Tensor::FromBytes({DataType::kBool, {2}}, absl::string_view("\1\0", 2)));
}

TEST(TensorTest, BorrowsAlignedBytesAndCopiesOthers) {
  struct alignas(64) Block {
    char bytes[128] = {1};
  };
  auto block = std::make_shared<Block>();
  const std::weak_ptr<Block> watch = block;
  {
    ASSERT_OK_AND_ASSIGN(
        const Tensor borrowed,
        Tensor::Borrow({DataType::kInt8, {2}}, absl::string_view(block->bytes, 2), block));
    ASSERT_OK_AND_ASSIGN(
        const Tensor copied,
        Tensor::Borrow({DataType::kInt8, {2}}, absl::string_view(block->bytes + 1, 2), block));
    EXPECT_EQ(borrowed.bytes().data(), block->bytes);
    EXPECT_TRUE(IsAligned(copied));
    block.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_THAT(borrowed.values<int8_t>(), ElementsAre(1, 0));
    EXPECT_THAT(copied.values<int8_t>(), ElementsAre(0, 0));
  }
  EXPECT_TRUE(watch.expired());
  EXPECT_THAT(Tensor::Borrow({DataType::kInt8, {2}}, "", nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(TensorTest, ReshapesWithoutCopying) {
  const Tensor tensor = Tensor::Of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_OK_AND_ASSIGN(const Tensor reshaped, tensor.Reshaped({3, 2}));
  EXPECT_EQ(reshaped.bytes().data(), tensor.bytes().data());
  EXPECT_THAT(reshaped.shape(), ElementsAre(3, 2));
  EXPECT_THAT(tensor.Reshaped({4}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("i32[2, 3]")));
  EXPECT_THAT(tensor.Reshaped({-2, -3}), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(TensorTest, DeferredBytesAreMadeWhenTheyAreAskedFor) {
  int made = 0;
  const Tensor tensor = Tensor::Deferred({DataType::kInt32, {4}}, [&made] {
    ++made;
    return Tensor::Of<int32_t>({4}, {1, 2, 3, made});
  });
  ASSERT_OK_AND_ASSIGN(const Tensor reshaped, tensor.Reshaped({2, 2}));
  EXPECT_TRUE(tensor.is_deferred());
  EXPECT_EQ(reshaped.byte_size(), 16);
  EXPECT_EQ(made, 0);
  {
    const Tensor loaded = reshaped.Loaded();
    EXPECT_FALSE(loaded.is_deferred());
    EXPECT_THAT(loaded.shape(), ElementsAre(2, 2));
    EXPECT_THAT(loaded.values<int32_t>(), ElementsAre(1, 2, 3, 1));
  }
  EXPECT_THAT(tensor.Loaded().values<int32_t>(), ElementsAre(1, 2, 3, 2));
  // From here on they are kept, for all handles.
  EXPECT_THAT(tensor.values<int32_t>(), ElementsAre(1, 2, 3, 3));
  EXPECT_EQ(reshaped.bytes().data(), tensor.bytes().data());
  EXPECT_EQ(reshaped.Loaded().bytes().data(), tensor.bytes().data());
  EXPECT_EQ(made, 3);
}

TEST(TensorTest, OutOfMemoryIsToldAsByOperatorNew) {
  const Shape too_large = {1 << 30, 1 << 30, 2};
  EXPECT_THROW(Tensor::Zeros(DataType::kUint8, too_large), std::bad_alloc);
  const Tensor tensor = Tensor::Deferred({DataType::kUint8, too_large}, [&] {
    return Tensor::Create({DataType::kUint8, too_large});
  });
  EXPECT_THROW(tensor.Loaded(), std::bad_alloc);
  EXPECT_THROW(tensor.bytes(), std::bad_alloc);
}

TEST(TensorTest, MovedFromIsUnset) {
  Tensor tensor = Tensor::Scalar(1.0f);
  const Tensor moved = std::move(tensor);
  EXPECT_TRUE(moved.is_set());
  EXPECT_FALSE(tensor.is_set());  // NOLINT(bugprone-use-after-move): this is what is tested.
  EXPECT_EQ(tensor.byte_size(), 0);
}

TEST(TensorDeathTest, ChecksItsOwnUse) {
  const Tensor tensor = Tensor::Scalar(1.0f);
  EXPECT_DEATH(tensor.values<int32_t>(), "f32\\[\\]");
  EXPECT_DEATH(Tensor::Of<float>({2}, {1.0f}), "as many values");
  const Tensor deferred = Tensor::Deferred({DataType::kFloat32, {1}}, [&] { return tensor; });
  EXPECT_DEATH(deferred.bytes(), "another type");
}

}  // namespace
}  // namespace slipway
