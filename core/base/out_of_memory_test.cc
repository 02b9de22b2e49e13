#include "core/base/out_of_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "core/base/files.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

TEST(OutOfMemory, EndsTheProcessWithItsExitCode) {
  EXPECT_EXIT(
      {
        ExitWhenOutOfMemory();
        // More than any address space.
        std::vector<std::string> eaten;
        while (true) eaten.emplace_back(size_t{1} << 46, 'x');
      },
      ::testing::ExitedWithCode(kOutOfMemoryExitCode), "out of memory");
}

TEST(OutOfMemory, IsToldByTheEndOfAChild) {
  EXPECT_TRUE(EndedOutOfMemory({.exit_code = kOutOfMemoryExitCode}, ""));
  EXPECT_FALSE(EndedOutOfMemory({.exit_code = 1}, "out of memory"));
  EXPECT_TRUE(EndedOutOfMemory({.signal = SIGABRT}, "LLVM ERROR: out of memory"));
  EXPECT_TRUE(EndedOutOfMemory({.signal = SIGABRT}, "what():  std::bad_alloc"));
  EXPECT_FALSE(EndedOutOfMemory({.signal = SIGABRT}, "check failed"));
  EXPECT_FALSE(EndedOutOfMemory({.signal = SIGSEGV}, "out of memory"));
}

TEST(OutOfMemory, KillsAreCountedByTheSystem) {
  const TemporaryFolder folder = *TemporaryFolder::Create("out_of_memory_test");
  const std::string path = JoinPath(folder.path(), "vmstat");
  ASSERT_OK(WriteFileAtomically(path, "nr_free_pages 7\noom_kill 41\nswap_ra 0\n", false));
  EXPECT_EQ(OutOfMemoryKills(path), 41);
  ASSERT_OK(WriteFileAtomically(path, "oom_kill_other 3\noom_kill x\n", false));
  EXPECT_EQ(OutOfMemoryKills(path), 0);
  EXPECT_EQ(OutOfMemoryKills(JoinPath(folder.path(), "none")), 0);
  EXPECT_GE(OutOfMemoryKills(), 0);
}

}  // namespace
}  // namespace slipway
