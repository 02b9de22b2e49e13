#include "core/base/log_lines.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

constexpr size_t kMaxBytes = 64 << 10;

using ::testing::EndsWith;
using ::testing::StartsWith;

TEST(LogLines, GivesWholeLines) {
  LogLines log(kMaxBytes);
  EXPECT_FALSE(log.Add("a li"));
  EXPECT_TRUE(log.is_empty());
  EXPECT_TRUE(log.Add("ne\nan"));
  EXPECT_FALSE(log.Add("other\n\nrest"));
  EXPECT_EQ(log.Take(), "a line\nanother\n\n");
  EXPECT_EQ(log.Take(), "");
  EXPECT_TRUE(log.EndLine());
  EXPECT_FALSE(log.EndLine());
  EXPECT_EQ(log.Take(), "rest\n");
}

TEST(LogLines, CutsALongLine) {
  LogLines log(kMaxBytes);
  const std::string part(LogLines::kMaxLineBytes, 'x');
  log.Add(absl::StrCat(part, part, "y\n"));
  EXPECT_EQ(log.Take(), absl::StrCat(part, "\n", part, "\ny\n"));
  log.Add(part);
  EXPECT_EQ(log.Take(), absl::StrCat(part, "\n"));
  log.Add("\n");
  EXPECT_EQ(log.Take(), "\n");
}

TEST(LogLines, DropsWhatIsTooMuchAndSaysHowMuch) {
  LogLines log(kMaxBytes);
  const std::string line = std::string(1023, 'x') + "\n";
  for (size_t i = 0; i < kMaxBytes / line.size(); ++i) log.Add(line);
  log.Add(line);
  // One that would have room comes after the others, and is dropped with them.
  log.Add("short\n");
  const std::string taken = log.Take();
  EXPECT_THAT(taken, StartsWith(line));
  EXPECT_THAT(taken, EndsWith("x\n[1030 bytes of the log were dropped: they came faster than they "
                              "were taken]\n"));
  log.Add("short\n");
  EXPECT_EQ(log.Take(), "short\n");
}

TEST(LogLines, IsUtf8) {
  LogLines log(kMaxBytes);
  log.Add("a\xff gr\xc3\xb6\xc3\x9f\x65\n");
  EXPECT_EQ(log.Take(), "a? gr\xc3\xb6\xc3\x9f\x65\n");
}

}  // namespace
}  // namespace slipway
