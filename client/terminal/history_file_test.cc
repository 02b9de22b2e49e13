#include "client/terminal/history_file.h"

#include <sys/stat.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

class HistoryFileTest : public ::testing::Test {
 protected:
  testing::TempTree tree_;
  const std::string path_ = tree_.Path("state/slipway/history");
  const HistoryFile file_{path_};
};

TEST_F(HistoryFileTest, KeepsLinesForTheOwnerAlone) {
  ASSERT_OK_AND_ASSIGN(std::vector<std::string> lines, file_.Read());
  EXPECT_THAT(lines, IsEmpty());
  ASSERT_OK(file_.Append("net = load digits.slip"));
  ASSERT_OK(HistoryFile(path_).Append("list"));
  ASSERT_OK_AND_ASSIGN(lines, file_.Read());
  EXPECT_THAT(lines, ElementsAre("net = load digits.slip", "list"));
  EXPECT_EQ(ModeOf(path_), 0600);
  EXPECT_EQ(ModeOf(tree_.Path("state/slipway")), 0700);
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  ASSERT_OK(file_.Append("facts"));
  EXPECT_EQ(ModeOf(path_), 0600);
}

TEST_F(HistoryFileTest, IsShortenedToTheLastLines) {
  ASSERT_OK(MakeFolders(tree_.Path("state/slipway")));
  std::string all;
  for (size_t i = 0; i < 2 * HistoryFile::kMaxLines + 1; ++i)
    absl::StrAppend(&all, 10'000 + i, "\n");
  ASSERT_OK(WriteFileAtomically(path_, all, false));
  ASSERT_OK_AND_ASSIGN(std::vector<std::string> lines, file_.Read());
  ASSERT_EQ(lines.size(), HistoryFile::kMaxLines);
  EXPECT_EQ(lines.back(), absl::StrCat(10'000 + 2 * HistoryFile::kMaxLines));
  ASSERT_OK_AND_ASSIGN(const std::string kept, ReadFile(path_, 1 << 20));
  EXPECT_LT(kept.size(), all.size() / 2 + 100);
  EXPECT_EQ(ModeOf(path_), 0600);
}

TEST_F(HistoryFileTest, WhatCouldSteerATerminalIsLeftOut) {
  ASSERT_OK(MakeFolders(tree_.Path("state/slipway")));
  ASSERT_OK(WriteFileAtomically(path_, "list\n\n\x1b[2J\n\xff\nfacts", false));
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> lines, file_.Read());
  EXPECT_THAT(lines, ElementsAre("list", "facts"));
}

TEST_F(HistoryFileTest, AFolderInItsPlaceIsAnError) {
  ASSERT_OK(MakeFolders(path_));
  EXPECT_FALSE(file_.Read().ok());
  EXPECT_FALSE(file_.Append("list").ok());
}

}  // namespace
}  // namespace slipway::cli
