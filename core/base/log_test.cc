#include "core/base/log.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

TEST(LogTest, WritesOneLineWithTimeLevelProcessAndFields) {
  InitLog("slipwayd", LogLevel::kInfo);
  CaptureStderr();
  Log(LogLevel::kInfo, "job accepted", {{"job", "c-17"}, {"bytes", 42}, {"ms", 1.5}});
  EXPECT_THAT(GetCapturedStderr(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z "
                           "INFO slipwayd job accepted job=c-17 bytes=42 ms=1.5\n"));
}

TEST(LogTest, LeavesTheNameOutWhenThereIsNone) {
  InitLog("", LogLevel::kInfo);
  CaptureStderr();
  Log(LogLevel::kWarning, "disk is nearly full");
  EXPECT_THAT(GetCapturedStderr(), EndsWith("Z WARNING disk is nearly full\n"));
}

TEST(LogTest, DropsWhatIsBelowTheLowestLevel) {
  InitLog("agent", LogLevel::kWarning);
  CaptureStderr();
  Log(LogLevel::kDebug, "a");
  Log(LogLevel::kInfo, "b");
  Log(LogLevel::kError, "c");
  const std::string text = GetCapturedStderr();
  EXPECT_THAT(text, EndsWith("Z ERROR agent c\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(LogTest, QuotesAndEscapesValuesSoThatALineStaysALine) {
  InitLog("", LogLevel::kInfo);
  CaptureStderr();
  Log(LogLevel::kInfo, "evil\n\x1b[2Jmessage {}",
      {{"blank", "a b"}, {"empty", ""}, {"line", "x\ny=\"z\""}, {"utf8", "größe"}});
  EXPECT_THAT(GetCapturedStderr(),
              EndsWith(" INFO evil\\n\\033[2Jmessage {} blank=\"a b\" empty=\"\" "
                       "line=\"x\\ny=\\\"z\\\"\" utf8=größe\n"));
}

TEST(LogTest, LinesOfThreadsDoNotInterleave) {
  InitLog("", LogLevel::kInfo);
  const std::string message(200, 'm');
  CaptureStderr();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&message] {
      for (int i = 0; i < 100; ++i) Log(LogLevel::kInfo, message);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = absl::StrSplit(GetCapturedStderr(), '\n');
  ASSERT_EQ(lines.size(), 401u);
  for (int i = 0; i < 400; ++i) EXPECT_THAT(lines[i], EndsWith("Z INFO " + message));
}

TEST(LogTest, LinesOfARequestNameIt) {
  InitLog("", LogLevel::kInfo);
  CaptureStderr();
  {
    const LogRequest outer("r 1");
    Log(LogLevel::kInfo, "a", {{"n", 1}});
    {
      const LogRequest inner("r2");
      Log(LogLevel::kInfo, "b");
      Log(LogLevel::kInfo, "c", {{"request", "own"}});
      std::thread([] { Log(LogLevel::kInfo, "d"); }).join();
      const LogRequest none("");
      Log(LogLevel::kInfo, "e");
    }
    Log(LogLevel::kInfo, "f");
  }
  Log(LogLevel::kInfo, "g");
  std::vector<std::string> lines;
  for (const absl::string_view line :
       absl::StrSplit(GetCapturedStderr(), '\n', absl::SkipEmpty())) {
    lines.emplace_back(line.substr(line.find("INFO")));
  }
  EXPECT_THAT(lines,
              ElementsAre("INFO a n=1 request=\"r 1\"", "INFO b request=r2", "INFO c request=own",
                          "INFO d", "INFO e", "INFO f request=\"r 1\"", "INFO g"));
}

TEST(LogTest, ShowsAnotherLevelFromNowOn) {
  InitLog("", LogLevel::kWarning);
  CaptureStderr();
  Log(LogLevel::kDebug, "a");
  SetLogLevel(LogLevel::kDebug);
  EXPECT_EQ(CurrentLogLevel(), LogLevel::kDebug);
  Log(LogLevel::kDebug, "b");
  SetLogLevel(LogLevel::kError);
  EXPECT_EQ(CurrentLogLevel(), LogLevel::kError);
  Log(LogLevel::kWarning, "c");
  const std::string text = GetCapturedStderr();
  EXPECT_THAT(text, EndsWith("Z DEBUG b\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(LogTest, NamesLevelsAsItParsesThem) {
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    EXPECT_THAT(ParseLogLevel(LogLevelName(level)), IsOkAndHolds(level));
    SetLogLevel(level);
    EXPECT_EQ(CurrentLogLevel(), level);
  }
}

TEST(LogTest, ParsesLevels) {
  EXPECT_THAT(ParseLogLevel("debug"), IsOkAndHolds(LogLevel::kDebug));
  EXPECT_THAT(ParseLogLevel("error"), IsOkAndHolds(LogLevel::kError));
  EXPECT_THAT(ParseLogLevel("loud"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'loud'")));
}

}  // namespace
}  // namespace slipway
