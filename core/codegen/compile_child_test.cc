#include "core/codegen/compile_child.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<std::string> RunInChild(const ChildBody& body, int64_t memory_limit_bytes = 0) {
  absl::StatusOr<CompileChild> child = CompileChild::Start(body, memory_limit_bytes);
  if (!child.ok()) return child.status();
  struct pollfd fd = {child->done_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&fd, 1, 30'000), 1);
  return child->Finish();
}

TEST(CompileChildTest, ReturnsWhatTheBodyWrote) {
  EXPECT_THAT(RunInChild([](const std::string& path) {
                std::ofstream(path) << "an object";
                return absl::OkStatus();
              }),
              testing::IsOkAndHolds("an object"));
}

TEST(CompileChildTest, PassesTheBodysErrorOn) {
  EXPECT_THAT(
      RunInChild([](const std::string&) { return absl::UnimplementedError("no such thing"); }),
      StatusIs(absl::StatusCode::kUnimplemented, "no such thing"));
}

TEST(CompileChildTest, TurnsExceptionsIntoErrors) {
  EXPECT_THAT(RunInChild([](const std::string&) -> absl::Status {
                throw std::runtime_error("bad schedule");
              }),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("bad schedule")));
}

TEST(CompileChildTest, ACrashNamesTheSignalAndKeepsTheLog) {
  EXPECT_THAT(
      RunInChild([](const std::string&) -> absl::Status {
        std::fprintf(stderr, "last words\n");
        signal(SIGABRT, SIG_DFL);
        abort();
      }),
      StatusIs(absl::StatusCode::kInternal, AllOf(HasSubstr("signal 6"), HasSubstr("last words"))));
}

TEST(CompileChildTest, EndsWithItsOwner) {
  pid_t pid = 0;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    auto child = CompileChild::Start(
        [&](const std::string&) {
          const pid_t own = getpid();
          EXPECT_EQ(write(ends[1], &own, sizeof(own)), static_cast<ssize_t>(sizeof(own)));
          while (true) pause();
          return absl::OkStatus();
        },
        0);
    ASSERT_OK(child.status());
    ASSERT_EQ(read(ends[0], &pid, sizeof(pid)), static_cast<ssize_t>(sizeof(pid)));
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_NE(kill(pid, 0), 0);
  close(ends[0]);
  close(ends[1]);
}

#if !defined(__has_feature) || !__has_feature(address_sanitizer)
TEST(CompileChildTest, RunningOutOfMemoryIsTold) {
  EXPECT_THAT(RunInChild(
                  [](const std::string&) {
                    std::vector<std::vector<char>> hoard;
                    while (true) hoard.emplace_back(1 << 20, 'x');
                    return absl::OkStatus();
                  },
                  64 << 20),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("out of memory")));
}
#endif

}  // namespace
}  // namespace slipway
