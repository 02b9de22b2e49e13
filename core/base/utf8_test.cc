#include "core/base/utf8.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Utf8, TakesWhatIsWellFormed) {
  for (const absl::string_view text :
       {"", "res2a/conv_1:0", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x9a\xa2", "\xed\x9f\xbf"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
    EXPECT_EQ(ToUtf8(text), text);
  }
}

TEST(Utf8, RefusesTheRest) {
  // Stray, overlong, surrogate, beyond the last code point, cut short.
  for (const absl::string_view text : {"\xff", "\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                                       "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(IsUtf8(text));
    EXPECT_TRUE(IsUtf8(ToUtf8(text)));
  }
  EXPECT_EQ(ToUtf8("a\xff\xc3\xa9\xc3"), "a?\xc3\xa9?");
}

TEST(Utf8, PrefixSplitsNothing) {
  EXPECT_EQ(Utf8Prefix("abc", 3), "abc");
  EXPECT_EQ(Utf8Prefix("abc", 2), "ab");
  EXPECT_EQ(Utf8Prefix("a\xe2\x82\xac", 3), "a");
  EXPECT_EQ(Utf8Prefix("a\xe2\x82\xac", 4), "a\xe2\x82\xac");
  EXPECT_EQ(Utf8Prefix("\xe2\x82\xac", 1), "");
}

}  // namespace
}  // namespace slipway
