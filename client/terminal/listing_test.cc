#include "client/terminal/listing.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::cli {
namespace {

TEST(ListingTest, WhatAllBeginWith) {
  EXPECT_EQ(CommonPrefix({"scores"}), "scores");
  EXPECT_EQ(CommonPrefix({"scores", "score", "scope"}), "sco");
  EXPECT_EQ(CommonPrefix({"a", "b"}), "");
  // U+00E9 and U+00E8 differ in their second byte.
  EXPECT_EQ(CommonPrefix({"caf\xc3\xa9", "caf\xc3\xa8"}), "caf");
}

TEST(ListingTest, ColumnsGoDownAndFitIntoTheWindow) {
  const std::vector<std::string> words = {"call", "copy", "diff", "facts", "free"};
  EXPECT_EQ(InColumns(words, 20), "call   diff   free\ncopy   facts\n");
  EXPECT_EQ(InColumns(words, 18),
            "call   facts\n"
            "copy   free\n"
            "diff\n");
  EXPECT_EQ(InColumns(words, 200), "call   copy   diff   facts  free\n");
  EXPECT_EQ(InColumns(words, 3), "call\ncopy\ndiff\nfacts\nfree\n");
  EXPECT_EQ(InColumns({}, 80), "");
}

TEST(ListingTest, OfFilesTheFolderIsLeftOut) {
  EXPECT_EQ(InColumns({"images/7.npy", "images/8.npy", "images/more/"}, 80),
            "7.npy  8.npy  more/\n");
  EXPECT_EQ(InColumns({"a/x", "b/y"}, 80), "a/x  b/y\n");
}

}  // namespace
}  // namespace slipway::cli
