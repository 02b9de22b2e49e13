#include "server/compile_worker/abandoned_folders.h"

#include <unistd.h>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway::worker {
namespace {

using ::slipway::testing::TempTree;

TEST(AbandonedFolders, GoUnlessTheyAreHeldYoungOrOfAnotherKind) {
  TempTree tree;
  tree.Write("slipway-compile.left/deep/file", "x");
  tree.Write("slipway-compile.held/file", "x");
  tree.Write("other.left/file", "x");
  tree.Write("slipway-compile.file", "x");
  tree.Write("kept/file", "x");
  ASSERT_EQ(symlink(tree.Path("kept").c_str(), tree.Path("slipway-compile.link").c_str()), 0);
  const absl::Time made = absl::Now() + absl::Seconds(1);
  // As young as what the worker beside this one has just made.
  EXPECT_EQ(RemoveAbandonedFolders(tree.Path(""), "slipway-compile.", made - absl::Hours(1)), 0);
  {
    ASSERT_OK_AND_ASSIGN(const UniqueFd held, HoldFolder(tree.Path("slipway-compile.held")));
    EXPECT_EQ(RemoveAbandonedFolders(tree.Path(""), "slipway-compile.", made), 1);
  }
  EXPECT_FALSE(tree.Exists("slipway-compile.left"));
  EXPECT_TRUE(tree.Exists("slipway-compile.held/file"));
  EXPECT_TRUE(tree.Exists("other.left/file"));
  EXPECT_TRUE(tree.Exists("slipway-compile.file"));
  EXPECT_TRUE(tree.Exists("kept/file"));
  // Its worker has ended.
  EXPECT_EQ(RemoveAbandonedFolders(tree.Path(""), "slipway-compile.", made), 1);
  EXPECT_FALSE(tree.Exists("slipway-compile.held"));
  EXPECT_EQ(RemoveAbandonedFolders(tree.Path("nowhere"), "", made), 0);
}

}  // namespace
}  // namespace slipway::worker
