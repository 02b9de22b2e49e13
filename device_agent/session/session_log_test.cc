#include "device_agent/session/session_log.h"

#include <string>

#include "absl/strings/match.h"
#include "core/wire/session_messages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

std::string TextOf(const absl::Cord& message) {
  const absl::StatusOr<SessionResponseParts> parts = ParseSessionResponses(message);
  EXPECT_OK(parts);
  if (!parts.ok() || parts->message.responses_size() != 1) return "no response";
  return parts->message.responses(0).log().text();
}

TEST(SessionLog, OneMessageIsOnItsWayAtATime) {
  int news = 0;
  SessionLog log([&news] { ++news; });
  EXPECT_TRUE(log.Next(absl::Seconds(5)).empty());
  EXPECT_EQ(log.due(), absl::InfiniteDuration());
  log.Add("one\n");
  log.Add("two\nthr");
  EXPECT_EQ(news, 1);
  EXPECT_LE(log.due(), absl::Seconds(5));
  absl::Cord message = log.Next(absl::Seconds(5));
  EXPECT_EQ(TextOf(message), "one\ntwo\n");
  log.Add("ee\n");
  EXPECT_TRUE(log.Next(absl::Seconds(5)).empty());
  EXPECT_EQ(log.due(), absl::InfiniteDuration());
  // A copy holds it as well.
  absl::Cord copy = message;
  message.Clear();
  EXPECT_TRUE(log.Next(absl::Seconds(6)).empty());
  news = 0;
  copy.Clear();
  EXPECT_EQ(news, 1);
  log.Add("last");
  log.EndLine();
  EXPECT_EQ(TextOf(log.Next(absl::Seconds(6))), "three\nlast\n");
}

TEST(SessionLog, KeepsItsPace) {
  SessionLog log([] {});
  const std::string line = std::string(1023, 'x') + "\n";
  int64_t sent = 0;
  absl::Duration now = absl::Hours(1);
  const absl::Duration begin = now;
  // A program that writes 16 MiB in each of 10 seconds.
  for (; now < begin + absl::Seconds(10); now += absl::Milliseconds(1)) {
    for (int i = 0; i < 16; ++i) log.Add(line);
    if (log.due() > now) continue;
    sent += static_cast<int64_t>(log.Next(now).size());
  }
  const int64_t allowed = SessionLog::kBurstBytes + 10 * SessionLog::kBytesPerSecond;
  EXPECT_LE(sent, allowed + SessionLog::kMaxWaitingBytes);
  EXPECT_GE(sent, allowed - allowed / 5);
  // And is there at once for one that is quiet.
  now += absl::Seconds(1);
  log.Next(now);
  log.Add("quiet\n");
  EXPECT_EQ(TextOf(log.Next(now)), "quiet\n");
}

}  // namespace
}  // namespace slipway
