#include "client/pack/described_tensor.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(DescribedTensor, IsNameTypeAndExtents) {
  ASSERT_OK_AND_ASSIGN(DescribedTensor tensor, ParseDescribedTensor("a=b=f32[batch, 64,0]"));
  EXPECT_EQ(tensor.name, "a=b");
  EXPECT_EQ(tensor.dtype, DataType::kFloat32);
  ASSERT_EQ(tensor.extents.size(), 3u);
  EXPECT_EQ(tensor.extents[0].symbol, "batch");
  EXPECT_EQ(tensor.extents[1].value, 64);
  EXPECT_EQ(tensor.extents[1].symbol, "");
  EXPECT_EQ(tensor.extents[2].value, 0);
  ASSERT_OK_AND_ASSIGN(tensor, ParseDescribedTensor("n=i64[]"));
  EXPECT_EQ(tensor.dtype, DataType::kInt64);
  EXPECT_TRUE(tensor.extents.empty());
}

TEST(DescribedTensor, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", "is no tensor; write NAME=TYPE[EXTENT,...]"},
      {"x", "is no tensor"},
      {"=f32[1]", "is no tensor"},
      {"x=f32", "is no tensor"},
      {"x=f32[1", "is no tensor"},
      {"x[1]=f32", "is no tensor"},
      {"x=f31[1]", "f31"},
      {"x=[1]", "known"},
      {"x=string[1]", "tensors of numbers only"},
      {"x=f32[-1]", "extent \"-1\" is no number"},
      {"x=f32[2147483648]", "extent \"2147483648\""},
      {"x=f32[1,]", "extent \"\""},
      {"x=f32[1n]", "extent \"1n\""},
      {"x=f32[a b]", "extent \"a b\""},
      {"x=f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "17 extents; at most 16"},
  };
  for (const auto& [text, says] : bad) {
    EXPECT_THAT(ParseDescribedTensor(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(says)))
        << text;
  }
}

}  // namespace
}  // namespace slipway
