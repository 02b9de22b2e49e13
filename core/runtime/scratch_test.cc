#include "core/runtime/scratch.h"

#include <cstring>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(Scratch, BlocksAreAlignedAndSeparate) {
  Scratch scratch(1 << 30);
  std::vector<void*> blocks;
  std::vector<uint64_t> sizes;
  for (uint64_t bytes = 0; bytes < 5000; bytes += 37) {
    void* block = scratch.Allocate(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
    std::memset(block, static_cast<int>(blocks.size()), bytes);
    blocks.push_back(block);
    sizes.push_back(bytes);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (uint64_t b = 0; b < sizes[i]; ++b) {
      ASSERT_EQ(static_cast<uint8_t*>(blocks[i])[b], static_cast<uint8_t>(i));
    }
  }
}

TEST(Scratch, TakesNothingMoreOnceItHasEnough) {
  Scratch scratch(1 << 30);
  int64_t after_first_round = 0;
  for (int round = 0; round < 10; ++round) {
    void* a = scratch.Allocate(100000);
    void* b = scratch.Allocate(99000);
    void* c = scratch.Allocate(1);
    scratch.Release(a);
    scratch.Release(b);
    scratch.Release(c);
    scratch.Release(nullptr);
    if (round == 0) after_first_round = scratch.size_bytes();
    EXPECT_EQ(scratch.size_bytes(), after_first_round);
  }
  EXPECT_LT(after_first_round, 300000);
}

TEST(Scratch, HoldsItsLimit) {
  Scratch scratch(1 << 20);
  EXPECT_EQ(scratch.Allocate(2 << 20), nullptr);
  EXPECT_EQ(scratch.Allocate(~uint64_t{0}), nullptr);
  void* block = scratch.Allocate(700 << 10);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(scratch.Allocate(700 << 10), nullptr);
  scratch.Release(block);
  EXPECT_NE(scratch.Allocate(700 << 10), nullptr);
}

TEST(Scratch, ThreadsShareIt) {
  Scratch scratch(1 << 30);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&scratch, t] {
      for (int i = 0; i < 2000; ++i) {
        auto* block = static_cast<uint8_t*>(scratch.Allocate(300));
        std::memset(block, t, 300);
        ASSERT_EQ(block[299], t);
        scratch.Release(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(scratch.size_bytes(), 4 * 512);
}

}  // namespace
}  // namespace slipway
