#include "tests/common/temp_tree.h"

#include <unistd.h>

#include <optional>
#include <string>

#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TempTreeTest, WritesReadsAndLists) {
  const TempTree tree;
  EXPECT_THAT(tree.List(), IsEmpty());
  EXPECT_EQ(tree.Write("a/b.txt", "text"), tree.Path("a/b.txt"));
  tree.Write("c", "");
  ASSERT_OK(MakeFolders(tree.Path("empty")));
  ASSERT_EQ(symlink("nowhere", tree.Path("link").c_str()), 0);
  EXPECT_EQ(tree.Read("a/b.txt"), "text");
  EXPECT_THAT(tree.List(), ElementsAre("a/b.txt", "c", "empty/", "link"));
  EXPECT_TRUE(tree.Exists("link"));
  EXPECT_FALSE(tree.Exists("nowhere"));
}

TEST(TempTreeTest, Damages) {
  const TempTree tree;
  tree.Write("f", "abc");
  tree.FlipBit("f", 1);
  EXPECT_EQ(tree.Read("f"), "acc");
  tree.Truncate("f", 1);
  EXPECT_EQ(tree.Read("f"), "a");
}

TEST(TempTreeTest, GoesAway) {
  std::string path;
  {
    const TempTree tree;
    tree.Write("a/b", "x");
    path = tree.path();
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace slipway::testing
