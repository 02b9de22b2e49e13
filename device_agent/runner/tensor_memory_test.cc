#include "device_agent/runner/tensor_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using Contents = TensorMemory::Contents;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr int64_t kElements = 2 << 20;

bool IsZero(const Tensor& tensor) {
  const absl::string_view bytes = tensor.bytes();
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

class TensorMemoryTest : public ::testing::Test {
 protected:
  Tensor Make(TensorType type, Contents contents = Contents::kAny) {
    absl::StatusOr<Tensor> tensor = memory_.Make(std::move(type), contents);
    EXPECT_OK(tensor.status());
    return tensor.ok() ? *std::move(tensor) : Tensor();
  }
  TensorMemory memory_;
};

TEST_F(TensorMemoryTest, GivesWhatWasFreedToTheNextOfAboutTheSize) {
  Tensor first = Make({DataType::kFloat32, {kElements}});
  EXPECT_TRUE(IsZero(first));
  const char* const place = first.bytes().data();
  first = Tensor();
  EXPECT_EQ(memory_.kept_bytes(), 4 * kElements);
  const Tensor larger = Make({DataType::kFloat32, {kElements + 1}});
  EXPECT_NE(larger.bytes().data(), place);
  const Tensor much_smaller = Make({DataType::kFloat32, {kElements / 2}});
  EXPECT_NE(much_smaller.bytes().data(), place);
  const Tensor smaller = Make({DataType::kInt32, {kElements - 1}});
  EXPECT_EQ(smaller.bytes().data(), place);
  EXPECT_EQ(smaller.byte_size(), 4 * (kElements - 1));
  EXPECT_EQ(memory_.kept_bytes(), 0);
}

TEST_F(TensorMemoryTest, MakesZerosOfWhatWasWritten) {
  for (const Contents contents : {Contents::kZero, Contents::kAny}) {
    Tensor written = Make({DataType::kUint8, {4 * kElements}});
    memset(written.mutable_bytes(), 0x5a, static_cast<size_t>(written.byte_size()));
    written = Tensor();
    // Most bytes are no elements of bool.
    const DataType dtype = contents == Contents::kZero ? DataType::kFloat32 : DataType::kBool;
    const int64_t count = contents == Contents::kZero ? kElements : 4 * kElements;
    EXPECT_TRUE(IsZero(Make({dtype, {count}}, contents)));
  }
}

TEST_F(TensorMemoryTest, KeepsWhatOthersShareUntilTheyLetGo) {
  Tensor tensor = Make({DataType::kFloat32, {kElements}});
  Tensor other = tensor;
  tensor = Tensor();
  EXPECT_EQ(memory_.kept_bytes(), 0);
  other = Tensor();
  EXPECT_EQ(memory_.kept_bytes(), 4 * kElements);
  memory_.Release();
  EXPECT_EQ(memory_.kept_bytes(), 0);
}

TEST_F(TensorMemoryTest, GivesBackWhatIsKeptWhereTheAddressSpaceIsShort) {
  Tensor tensor = Make({DataType::kFloat32, {kElements}});
  tensor = Tensor();
  memory_.MakeRoom();
  EXPECT_EQ(memory_.kept_bytes(), 4 * kElements);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  // Less than what this process has already.
  const rlimit tight = {.rlim_cur = 16 << 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  memory_.MakeRoom();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(memory_.kept_bytes(), 0);
}

TEST_F(TensorMemoryTest, KeepsNothingSmall) {
  Tensor tensor = Make({DataType::kFloat32, {1024}});
  tensor = Tensor();
  EXPECT_EQ(memory_.kept_bytes(), 0);
}

TEST_F(TensorMemoryTest, HasTensorsOfMoreBytesThanAnExtentMayHave) {
  EXPECT_EQ(Make({DataType::kFloat32, {1 << 15, 1 << 15}}).byte_size(), int64_t{1} << 32);
}

TEST_F(TensorMemoryTest, RefusesWhatNoMemoryHolds) {
  using Code = absl::StatusCode;
  EXPECT_THAT(memory_.Make({DataType::kFloat32, {1 << 30, 1 << 29}}, Contents::kAny),
              StatusIs(Code::kResourceExhausted, HasSubstr("[1073741824, 536870912]")));
  EXPECT_THAT(memory_.Make({DataType::kFloat32, {-1}}, Contents::kAny),
              StatusIs(Code::kInvalidArgument, HasSubstr("negative")));
}

TEST(TensorsOfMemoryThatIsGoneTest, Live) {
  Tensor tensor;
  {
    TensorMemory memory;
    absl::StatusOr<Tensor> made = memory.Make({DataType::kUint8, {4 * kElements}}, Contents::kZero);
    ASSERT_OK(made.status());
    tensor = *std::move(made);
  }
  EXPECT_TRUE(IsZero(tensor));
}

}  // namespace
}  // namespace slipway
