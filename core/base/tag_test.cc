#include "core/base/tag.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kBad = absl::StatusCode::kInvalidArgument;

TEST(TagTest, ReadsTagsSortedByKey) {
  const auto tags = ParseTags({"commit=1f0c9ad", "branch=feature/a b=c", "0=~"});
  ASSERT_OK(tags);
  EXPECT_THAT(*tags,
              ElementsAre(Tag{"0", "~"}, Tag{"branch", "feature/a b=c"}, Tag{"commit", "1f0c9ad"}));
  EXPECT_EQ(ToString((*tags)[1]), "branch=feature/a b=c");
  EXPECT_THAT(*ParseTags({}), IsEmpty());
}

TEST(TagTest, SaysWhatIsWrong) {
  struct Case {
    std::string text;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{
           {"commit", "tag \"commit\" has no value; KEY=VALUE wanted"},
           {"=x", "the key of tag \"\" has 0 bytes; 1 to 63 wanted"},
           {std::string(64, 'k') + "=x", "has 64 bytes; 1 to 63 wanted"},
           {"-a=x", "the key of tag \"-a\" has '-' at byte 1; a letter or digit wanted"},
           {"a b=x", "has ' ' at byte 2; letters, digits and any of \"._/-\" wanted"},
           {"a\xff=x", "the key of tag \"a\\xff\" has the byte 0xff at byte 2"},
           {"a=", "the value of tag \"a\" has 0 bytes; 1 to 255 wanted"},
           {"a=" + std::string(256, 'v'), "has 256 bytes; 1 to 255 wanted"},
           {"a=x\x07y", "the value of tag \"a\" has the byte 0x07 at byte 2; printable"},
           {"a=\xc3\xbc", "the value of tag \"a\" has the byte 0xc3 at byte 1; printable"},
           {std::string("a=\0", 3), "the value of tag \"a\" has the byte 0x00 at byte 1"},
       }) {
    EXPECT_THAT(ParseTags({c.text}), StatusIs(kBad, HasSubstr(c.says)));
  }
  EXPECT_THAT(ParseTags({"b=1", "a=1", "b=2"}), StatusIs(kBad, HasSubstr("\"b\" is given twice")));
}

TEST(TagTest, TakesNoMoreThanMany) {
  std::vector<Tag> tags;
  for (int i = 0; i < kMaxTags; ++i) tags.push_back({std::to_string(i), "v"});
  EXPECT_OK(CheckTags(tags));
  tags.push_back({"one more", "v"});
  EXPECT_THAT(CheckTags(tags), StatusIs(kBad, HasSubstr("17 tags are given; at most 16")));
}

}  // namespace
}  // namespace slipway
