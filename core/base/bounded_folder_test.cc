#include "core/base/bounded_folder.h"

#include <chrono>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

class BoundedFolderTest : public ::testing::Test {
 protected:
  // Used so many hours ago.
  void Write(const std::string& name, size_t bytes, int hours) {
    std::filesystem::last_write_time(
        tree_.Write(name, std::string(bytes, 'x')),
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  }

  testing::TempTree tree_;
};

TEST_F(BoundedFolderTest, LosesWhatWasLongestUnused) {
  for (int i = 0; i < 8; ++i) Write(absl::StrCat(i, ".bin"), 100, 10 - i);
  Write("other.txt", 1000, 100);
  RemoveLongestUnused(tree_.path(), ".bin", 800);
  EXPECT_TRUE(tree_.Exists("0.bin"));
  NoteUse(tree_.Path("0.bin"));
  RemoveLongestUnused(tree_.path(), ".bin", 700);
  // Down to three quarters: 525 bytes.
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(tree_.Exists(absl::StrCat(i, ".bin")), i == 0 || i > 3) << i;
  }
  EXPECT_TRUE(tree_.Exists("other.txt"));
}

TEST_F(BoundedFolderTest, IsNothingWhereThereIsNoFolder) {
  RemoveLongestUnused(tree_.Path("none"), ".bin", 0);
  NoteUse(tree_.Path("none"));
  EXPECT_FALSE(tree_.Exists("none"));
}

}  // namespace
}  // namespace slipway
