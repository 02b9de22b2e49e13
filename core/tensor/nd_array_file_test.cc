#include "core/tensor/nd_array_file.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

template <typename T>
void Put(T value, std::string& to) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A file of one array [2] of f32 {1, 2} called "arg:w", with the array's head as `head` says.
std::string FileWith(const std::string& head) {
  std::string bytes;
  Put<uint64_t>(0x112, bytes);
  Put<uint64_t>(0, bytes);
  Put<uint64_t>(1, bytes);
  bytes += head;
  Put<int32_t>(1, bytes);  // The device.
  Put<int32_t>(0, bytes);
  Put<int32_t>(0, bytes);  // f32
  Put<float>(1, bytes);
  Put<float>(2, bytes);
  Put<uint64_t>(1, bytes);
  Put<uint64_t>(5, bytes);
  return bytes + "arg:w";
}

std::string HeadV2() {
  std::string head;
  Put<uint32_t>(0xf993fac9, head);
  Put<int32_t>(0, head);
  Put<int32_t>(1, head);
  Put<int64_t>(2, head);
  return head;
}

TEST(NdArrayFileTest, ReadsEveryForm) {
  std::string v1;
  Put<uint32_t>(0xf993fac8, v1);
  Put<uint32_t>(1, v1);
  Put<int64_t>(2, v1);
  std::string oldest;
  Put<uint32_t>(1, oldest);
  Put<uint32_t>(2, oldest);
  std::string v3 = HeadV2();
  v3[0] = '\xca';
  for (const std::string& head : {HeadV2(), v1, oldest, v3}) {
    ASSERT_OK_AND_ASSIGN(const std::vector<NamedTensor> arrays, ParseNdArrayFile(FileWith(head)));
    ASSERT_EQ(arrays.size(), 1u);
    EXPECT_EQ(arrays[0].name, "arg:w");
    EXPECT_EQ(arrays[0].tensor.type(), (TensorType{DataType::kFloat32, {2}}));
    EXPECT_EQ(arrays[0].tensor.values<float>()[1], 2);
  }
}

TEST(NdArrayFileTest, WritesWhatItReads) {
  EXPECT_EQ(*FormatNdArrayFile({{"arg:w", Tensor::Of<float>({2}, {1, 2})}}), FileWith(HeadV2()));
  const std::vector<NamedTensor> arrays = {{"arg:a", Tensor::Of<int64_t>({1, 2}, {3, -4})},
                                           {"aux:b", Tensor::Of<uint8_t>({1}, {7})},
                                           {"c", Tensor::Zeros(DataType::kFloat16, {2, 0, 3})}};
  ASSERT_OK_AND_ASSIGN(const std::string bytes, FormatNdArrayFile(arrays));
  ASSERT_OK_AND_ASSIGN(const std::vector<NamedTensor> again, ParseNdArrayFile(bytes));
  ASSERT_EQ(again.size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ(again[i].name, arrays[i].name);
    EXPECT_EQ(again[i].tensor.type(), arrays[i].tensor.type());
    EXPECT_EQ(again[i].tensor.bytes(), arrays[i].tensor.bytes());
  }
  EXPECT_THAT(FormatNdArrayFile({{"x", Tensor::Of<float>({}, {1})}}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("\"x\" is a scalar")));
  EXPECT_THAT(FormatNdArrayFile({{"x", Tensor::Zeros(DataType::kInt4, {1})}}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("i4")));
}

TEST(NdArrayFileTest, EveryCutIsRefused) {
  const std::string bytes = FileWith(HeadV2());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(ParseNdArrayFile(bytes.substr(0, size)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << size;
  }
  EXPECT_THAT(ParseNdArrayFile(bytes + "x"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("behind the names")));
}

TEST(NdArrayFileTest, HostileNumbersAreRefused) {
  const auto changed = [](size_t at, uint64_t value, size_t width) {
    std::string bytes = FileWith(HeadV2());
    bytes.replace(at, width, reinterpret_cast<const char*>(&value), width);
    return ParseNdArrayFile(bytes).status();
  };
  EXPECT_THAT(changed(0, 7, 8), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("MXNet")));
  EXPECT_THAT(changed(16, uint64_t{1} << 60, 8), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(changed(28, 1, 4), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("sparse")));
  EXPECT_THAT(changed(32, 17, 4), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(changed(32, 0, 4), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(changed(36, uint64_t{1} << 31, 8), StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(changed(36, uint64_t{1} << 30, 8),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cut off")));
  EXPECT_THAT(changed(52, 99, 4), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("99")));
}

}  // namespace
}  // namespace slipway
