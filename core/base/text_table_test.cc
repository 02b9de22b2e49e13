#include "core/base/text_table.h"

#include <cstdint>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(TextTableTest, ColumnsLineUp) {
  TextTable table({"NAME", ">TIME", "ON"});
  table.Row({"a", "1 ms", "x"});
  table.Row({"naïve", "100 ms", ""});
  EXPECT_EQ(table.Render("  "),
            "  NAME     TIME  ON\n"
            "  a        1 ms  x\n"
            "  naïve  100 ms\n");
  EXPECT_EQ(table.Render("", false), "a        1 ms  x\nnaïve  100 ms\n");
}

TEST(TextTableTest, ControlCharactersAreShown) {
  TextTable table({""});
  table.Row({"\x1b[2Jname\n"});
  EXPECT_EQ(table.Render("", false), "\\x1b[2Jname\\x0a\n");
}

TEST(PrintableTest, KeepsTextAndShowsTheRest) {
  EXPECT_EQ(Printable("naïve 数"), "naïve 数");
  EXPECT_EQ(Printable("a\x7f\x1b["), "a\\x7f\\x1b[");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");
  EXPECT_EQ(Printable("\x9b\xff"), "\\x9b\\xff");
  EXPECT_EQ(Printable("\xc3"), "\\xc3");
}

TEST(FormatTest, TimesHaveThreeDigits) {
  EXPECT_EQ(FormatTime(absl::ZeroDuration()), "0 ns");
  EXPECT_EQ(FormatTime(absl::Nanoseconds(999)), "999 ns");
  EXPECT_EQ(FormatTime(absl::Nanoseconds(1234)), "1.23 us");
  EXPECT_EQ(FormatTime(absl::Nanoseconds(999'600)), "1.00 ms");
  EXPECT_EQ(FormatTime(absl::Microseconds(45'678)), "45.7 ms");
  EXPECT_EQ(FormatTime(absl::Milliseconds(456.7)), "457 ms");
  EXPECT_EQ(FormatTime(absl::Seconds(61)), "61.0 s");
  EXPECT_EQ(FormatTime(absl::Seconds(150)), "3 min");
  EXPECT_EQ(FormatTime(absl::Minutes(125)), "2 h 5 min");
}

TEST(FormatTest, BytesAndWallTimes) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(102'481'904), "97.7 MiB");
  EXPECT_EQ(FormatBytes(int64_t{1} << 30), "1.0 GiB");
  EXPECT_EQ(FormatBytes((int64_t{1} << 30) - 1), "1.0 GiB");
  EXPECT_EQ(FormatBytes(INT64_MAX), "8388608 TiB");
  EXPECT_EQ(FormatWallTime(absl::FromUnixSeconds(1767225600)), "2026-01-01 00:00:00 UTC");
  EXPECT_EQ(FormatWallTime(absl::InfinitePast()), "-");
}

}  // namespace
}  // namespace slipway
