#include "core/base/machine_memory.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>

namespace slipway {
namespace {

TEST(MachineMemoryTest, IsMoreThanThisProcessHas) {
  EXPECT_GT(OwnMemoryBytes(), 0);
  EXPECT_GT(MachineMemoryBytes(), OwnMemoryBytes());
}

TEST(MachineMemoryTest, OwnMemoryRisesAndFalls) {
  constexpr size_t kBytes = 64 << 20;
  const int64_t before = OwnMemoryBytes();
  void* const pages =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  memset(pages, 1, kBytes);
  const int64_t with = OwnMemoryBytes();
  munmap(pages, kBytes);
  const int64_t after = OwnMemoryBytes();
  constexpr int64_t kMost = kBytes / 4 * 3;
  EXPECT_GT(with - before, kMost);
  EXPECT_GT(with - after, kMost);
}

}  // namespace
}  // namespace slipway
