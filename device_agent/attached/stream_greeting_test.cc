#include "device_agent/attached/stream_greeting.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "device_agent/runner/stream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Code = absl::StatusCode;

class StreamGreeting : public ::testing::Test {
 protected:
  void SetUp() override {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    device_.reset(fds[0]);
    host_.reset(fds[1]);
  }
  static absl::Duration Soon() { return SystemClock().Monotonic() + absl::Seconds(30); }
  void Say(absl::string_view bytes) { ASSERT_OK(SendAll(device_.get(), bytes, Soon())); }
  absl::Status Await() { return AwaitGreeting(host_.get(), Soon()); }
  static std::string Greeting() {
    return std::string(kStreamGreeting, sizeof(kStreamGreeting) - 1);
  }
  UniqueFd device_;
  UniqueFd host_;
};

TEST_F(StreamGreeting, ComesBehindWhateverAShellSays) {
  Say("Welcome to board!\r\nslipway-attached-\n");
  Say(Greeting());
  Say("what follows");
  EXPECT_OK(Await());
  char rest[64];
  EXPECT_EQ(read(host_.get(), rest, sizeof(rest)), 12);
  EXPECT_EQ(absl::string_view(rest, 12), "what follows");
}

TEST_F(StreamGreeting, ChangedBytesAreSeenAtOnce) {
  Say(absl::StrReplaceAll(Greeting(), {{"\r\n", "\n"}}));
  EXPECT_THAT(Await(), StatusIs(Code::kFailedPrecondition, HasSubstr("changes bytes")));
}

TEST_F(StreamGreeting, BytesThatATerminalSwallowsAreSeen) {
  for (const char* swallowed : {"\x03", "\x04", "\x11", "\x13", "\x7f", "\xff"}) {
    SetUp();
    Say(absl::StrReplaceAll(Greeting(), {{swallowed, ""}}));
    EXPECT_THAT(Await(), StatusIs(Code::kFailedPrecondition, HasSubstr("changes bytes")));
  }
}

TEST_F(StreamGreeting, WhoEndsWithoutOneIsQuoted) {
  Say("sh: no such \x1b[31mthing\n");
  device_.reset();
  EXPECT_THAT(Await(),
              StatusIs(Code::kUnavailable, AllOf(HasSubstr("ended: sh: no such"),
                                                 HasSubstr("thing"), Not(HasSubstr("\x1b")))));
}

TEST_F(StreamGreeting, WhoTalksOnIsNoAgent) {
  Say(std::string(64 << 10, 'x'));
  const absl::Status status = Await();
  EXPECT_THAT(status, StatusIs(Code::kFailedPrecondition, HasSubstr("xxx")));
  EXPECT_LT(status.message().size(), 500u);
}

TEST_F(StreamGreeting, WaitingEnds) {
  EXPECT_THAT(AwaitGreeting(host_.get(), SystemClock().Monotonic() + absl::Milliseconds(5)),
              StatusIs(Code::kDeadlineExceeded));
}

}  // namespace
}  // namespace slipway
