#include "core/tensor/strings.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StringsTest, HoldStringsOfAnyLength) {
  const std::string zero("\0x", 2);
  const Tensor tensor = Strings({2, 2}, {"one", "", zero, "three"});
  EXPECT_EQ(ToString(tensor.type()), "string[2, 2]");
  EXPECT_THAT(StringsIn(tensor), ElementsAre("one", "", zero, "three"));
  EXPECT_EQ(tensor.byte_size(), 4 * kPlaceBytes + 10);
  EXPECT_EQ(tensor.bytes(), Strings({2, 2}, {"one", "", zero, "three"}).bytes());
  ASSERT_OK_AND_ASSIGN(const Tensor flat, tensor.Reshaped({4}));
  EXPECT_THAT(StringsIn(flat), ElementsAre("one", "", zero, "three"));
  EXPECT_THAT(StringsIn(Tensor::Zeros(DataType::kString, {2})), ElementsAre("", ""));
  EXPECT_THAT(StringTensor({2}, {"one"}), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(StringsTest, AreReadFromBytesWithoutTrust) {
  const Tensor tensor = Strings({2}, {"ab", "cd"});
  const TensorType type = tensor.type();
  ASSERT_OK(Tensor::FromBytes(type, tensor.bytes()));
  EXPECT_OK(Tensor::FromBytes({DataType::kString, {0}}, ""));
  const std::string good(tensor.bytes());
  for (size_t i = 0; i < 2 * kPlaceBytes; ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x81);
    EXPECT_THAT(Tensor::FromBytes(type, bad), StatusIs(absl::StatusCode::kInvalidArgument)) << i;
  }
  EXPECT_THAT(Tensor::FromBytes(type, good + "x"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("belong to no string")));
  EXPECT_THAT(Tensor::FromBytes(type, good.substr(0, good.size() - 1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("string 1")));
  // Nothing is allocated for a shape that is a lie.
  EXPECT_THAT(Tensor::FromBytes({DataType::kString, {1 << 28}}, good),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("strings take 8 bytes")));
}

TEST(StringsTest, ComeApartAndTogether) {
  ASSERT_OK_AND_ASSIGN(StringParts parts, SplitStrings(Strings({3}, {"a", "bc", ""})));
  EXPECT_EQ(ToString(parts.places.type()), "i64[3]");
  EXPECT_EQ(parts.contents.bytes(), "abc");
  ASSERT_OK_AND_ASSIGN(const Tensor same, JoinStrings(parts));
  EXPECT_THAT(StringsIn(same), ElementsAre("a", "bc", ""));
  // Places may overlap and leave bytes out.
  parts.places = Tensor::Of<int64_t>({2}, {StringPlace(1, 2), StringPlace(1, 1)});
  ASSERT_OK_AND_ASSIGN(const Tensor moved, JoinStrings(parts));
  EXPECT_THAT(StringsIn(moved), ElementsAre("bc", "b"));
  for (const int64_t place :
       {StringPlace(2, 2), StringPlace(4, 0), int64_t{-1}, StringPlace(0, 4)}) {
    parts.places = Tensor::Of<int64_t>({1}, {place});
    EXPECT_THAT(JoinStrings(parts),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("outside of contents")));
  }
  parts.contents = parts.places;
  EXPECT_THAT(JoinStrings(parts), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(StringsTest, JoinedStringsAreBounded) {
  StringParts parts;
  parts.contents = Tensor::Zeros(DataType::kUint8, {1 << 20});
  parts.places = Tensor::Of<int64_t>({4096}, std::vector<int64_t>(4096, StringPlace(0, 1 << 20)));
  EXPECT_THAT(JoinStrings(parts), StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace slipway
