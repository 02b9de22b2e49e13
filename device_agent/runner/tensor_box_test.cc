#include "device_agent/runner/tensor_box.h"

#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

Tensor Counted(const Shape& shape) {
  Tensor tensor = Tensor::Zeros(DataType::kInt32, shape);
  std::iota(tensor.mutable_values<int32_t>().begin(), tensor.mutable_values<int32_t>().end(), 0);
  return tensor;
}

// Every element by its index, one by one.
TEST(TensorBox, HoldsTheElementsOfTheBox) {
  const Tensor whole = Counted({3, 4, 5, 2});
  for (const std::vector<int64_t>& begin :
       std::vector<std::vector<int64_t>>{{0, 0, 0, 0}, {1, 2, 3, 1}, {2, 0, 1, 0}, {0, 1, 0, 0}}) {
    for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
             {1, 1, 1, 1}, {1, 2, 2, 1}, {1, 3, 2, 2}, {1, 1, 2, 1}, {1, 2, 0, 1}}) {
      bool fits = true;
      for (size_t i = 0; i < 4; ++i) fits = fits && begin[i] + shape[i] <= whole.shape()[i];
      const absl::StatusOr<Tensor> box = CopyBox(whole, begin, shape);
      ASSERT_EQ(box.ok(), fits);
      if (!fits) continue;
      size_t at = 0;
      for (int64_t a = 0; a < shape[0]; ++a) {
        for (int64_t b = 0; b < shape[1]; ++b) {
          for (int64_t c = 0; c < shape[2]; ++c) {
            for (int64_t d = 0; d < shape[3]; ++d) {
              const int64_t index =
                  (((a + begin[0]) * 4 + b + begin[1]) * 5 + c + begin[2]) * 2 + d + begin[3];
              EXPECT_EQ(box->values<int32_t>()[at++], index);
            }
          }
        }
      }
      EXPECT_EQ(at, static_cast<size_t>(box->num_elements()));
      Tensor back = Tensor::Zeros(DataType::kInt32, whole.shape());
      ASSERT_OK(AssignBox(*box, begin, back));
      ASSERT_OK_AND_ASSIGN(const Tensor again, CopyBox(back, begin, shape));
      EXPECT_EQ(again.bytes(), box->bytes());
      int64_t set = 0;
      for (const int32_t value : back.values<int32_t>()) set += value != 0 ? 1 : 0;
      EXPECT_LE(set, box->num_elements());
    }
  }
}

TEST(TensorBox, ScalarsAndWholeTensors) {
  const Tensor scalar = Tensor::Scalar<float>(3);
  ASSERT_OK_AND_ASSIGN(const Tensor copy, CopyBox(scalar, {}, {}));
  EXPECT_THAT(copy.values<float>(), ElementsAre(3));
  const Tensor whole = Counted({2, 3});
  ASSERT_OK_AND_ASSIGN(const Tensor all, CopyBox(whole, {0, 0}, {2, 3}));
  EXPECT_EQ(all.bytes(), whole.bytes());
}

TEST(TensorBox, WhatLeavesTheTensorIsRefused) {
  Tensor whole = Counted({2, 3});
  EXPECT_THAT(CopyBox(whole, {0}, {2}), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(CopyBox(whole, {0, 2}, {1, 2}), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(CopyBox(whole, {0, -1}, {1, 1}), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(CopyBox(whole, {0, INT64_MAX}, {1, 1}), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(CopyBox(whole, {0, 0}, {1, INT64_MAX}), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(std::string(CopyBox(whole, {1, 0}, {2, 3}).status().message()),
              HasSubstr("dimension 0 of the box, 1 and 2 from there"));
  EXPECT_THAT(AssignBox(Tensor::Zeros(DataType::kFloat32, {1, 1}), {0, 0}, whole),
              StatusIs(Code::kInvalidArgument));
}

}  // namespace
}  // namespace slipway
