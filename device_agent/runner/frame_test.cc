#include "device_agent/runner/frame.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/files.h"
#include "device_agent/runner/runner.pb.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using Code = absl::StatusCode;

class FrameTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    a_.reset(fds[0]);
    b_.reset(fds[1]);
  }
  static absl::Duration Soon() { return SystemClock().Monotonic() + absl::Seconds(30); }
  UniqueFd a_;
  UniqueFd b_;
};

TEST_F(FrameTest, MessagesOfAllSizesArrive) {
  FrameReader reader(b_.get());
  for (const size_t size : {0, 1, 1000, 3 << 20, 70'000, 5}) {
    runner::Request sent;
    sent.mutable_load()->set_manifest(std::string(size, 'm'));
    std::thread writer([&] { EXPECT_OK(WriteFrame(a_.get(), sent, Soon())); });
    runner::Request received;
    EXPECT_OK(reader.Read(received, Soon()));
    writer.join();
    EXPECT_EQ(received.load().manifest().size(), size);
  }
}

TEST_F(FrameTest, MessagesGoThroughPipes) {
  signal(SIGPIPE, SIG_IGN);
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
  UniqueFd out(fds[0]);
  UniqueFd in(fds[1]);
  FrameReader reader(out.get());
  runner::Request received;
  EXPECT_THAT(reader.Read(received, SystemClock().Monotonic() + absl::Milliseconds(5)),
              StatusIs(Code::kDeadlineExceeded));
  for (const size_t size : {0, 1000, 3 << 20}) {
    runner::Request sent;
    sent.mutable_load()->set_manifest(std::string(size, 'm'));
    std::thread writer([&] { EXPECT_OK(WriteFrame(in.get(), sent, Soon())); });
    EXPECT_OK(reader.Read(received, Soon()));
    writer.join();
    EXPECT_EQ(received.load().manifest().size(), size);
  }
  in.reset();
  EXPECT_THAT(reader.Read(received, Soon()), StatusIs(Code::kUnavailable));
  ASSERT_EQ(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
  close(fds[0]);
  in.reset(fds[1]);
  EXPECT_THAT(WriteFrame(in.get(), received, Soon()), StatusIs(Code::kUnavailable));
}

TEST_F(FrameTest, AClosedPeerIsTold) {
  a_.reset();
  runner::Request message;
  EXPECT_THAT(FrameReader(b_.get()).Read(message, Soon()), StatusIs(Code::kUnavailable));
  EXPECT_THAT(WriteFrame(b_.get(), message, Soon()), StatusIs(Code::kUnavailable));
}

TEST_F(FrameTest, WaitingEnds) {
  runner::Request message;
  EXPECT_THAT(
      FrameReader(b_.get()).Read(message, SystemClock().Monotonic() + absl::Milliseconds(5)),
      StatusIs(Code::kDeadlineExceeded));
  message.mutable_load()->set_manifest(std::string(8 << 20, 'm'));
  EXPECT_THAT(WriteFrame(b_.get(), message, SystemClock().Monotonic() + absl::Milliseconds(5)),
              StatusIs(Code::kDeadlineExceeded));
}

TEST_F(FrameTest, ManyAtATime) {
  runner::Request sent;
  for (uint64_t handle = 1; handle <= 3; ++handle) {
    sent.mutable_put()->set_handle(handle);
    ASSERT_OK(WriteFrame(a_.get(), sent, Soon()));
  }
  FrameReader reader(b_.get());
  EXPECT_FALSE(reader.HasFrame());
  for (uint64_t handle = 1; handle <= 3; ++handle) {
    runner::Request received;
    ASSERT_OK(reader.Read(received, Soon()));
    EXPECT_EQ(received.put().handle(), handle);
    EXPECT_EQ(reader.HasFrame(), handle < 3);
  }
}

TEST_F(FrameTest, ReadingGoesOnAfterADeadline) {
  FrameReader reader(b_.get());
  runner::Request received;
  ASSERT_EQ(send(a_.get(), "\x02\0", 2, 0), 2);
  EXPECT_THAT(reader.Read(received, SystemClock().Monotonic() + absl::Milliseconds(5)),
              StatusIs(Code::kDeadlineExceeded));
  ASSERT_EQ(send(a_.get(), "\0\0\x12", 3, 0), 3);
  EXPECT_THAT(reader.Read(received, SystemClock().Monotonic() + absl::Milliseconds(5)),
              StatusIs(Code::kDeadlineExceeded));
  ASSERT_EQ(send(a_.get(), "\0", 1, 0), 1);
  EXPECT_OK(reader.Read(received, Soon()));
  EXPECT_TRUE(received.has_put());
}

TEST_F(FrameTest, HugeLengthsAreRefused) {
  ASSERT_EQ(send(a_.get(), "\xff\xff\xff\xff", 4, 0), 4);
  runner::Request message;
  EXPECT_THAT(FrameReader(b_.get()).Read(message, Soon()), StatusIs(Code::kInvalidArgument));
}

TEST_F(FrameTest, GarbageIsRefused) {
  ASSERT_EQ(send(a_.get(), "\x02\0\0\0\xff\xff", 6, 0), 6);
  runner::Request message;
  EXPECT_THAT(FrameReader(b_.get()).Read(message, Soon()), StatusIs(Code::kInvalidArgument));
}

}  // namespace
}  // namespace slipway
