#include "client/library/c_text.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway {
namespace {

std::string AllBytes() {
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  return all;
}

TEST(CText, LiteralsHoldTheirBytes) {
  EXPECT_EQ(CLiteral("Conv+Relu stem [1]"), "\"Conv+Relu stem [1]\"");
  EXPECT_EQ(CLiteral("a\"b\\c\n%s?\?/"), "\"a\\042b\\134c\\012\\045s\\077\\077/\"");
  EXPECT_EQ(CLiteral(std::string("\0"
                                 "1",
                                 2)),
            "\"\\0001\"");
  // Nothing in a literal can end it, or be a second escape.
  const std::string literal = CLiteral(AllBytes());
  for (size_t i = 1; i + 1 < literal.size(); ++i) {
    ASSERT_NE(literal[i], '"');
    ASSERT_NE(literal[i], '\n');
    ASSERT_NE(literal[i], '?');
    if (literal[i] == '\\') i += 3;
  }
}

TEST(CText, CommentsCannotBeLeft) {
  EXPECT_EQ(CommentText("image"), "image");
  EXPECT_EQ(CommentText("*/ int x; /*"), "%2a/ int x; /%2a");
  EXPECT_EQ(CommentText("a\\\nb?\?/"), "a%5c%0ab%3f%3f/");
  const std::string comment = CommentText(AllBytes());
  for (const char* end : {"*/", "/*", "\n", "\\", "?", "$", "`", "\""}) {
    EXPECT_EQ(comment.find(end), std::string::npos) << end;
  }
  EXPECT_EQ(CommentText(std::string(1000, 'a')), std::string(200, 'a') + "...");
}

}  // namespace
}  // namespace slipway
