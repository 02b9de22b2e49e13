#include "core/runtime/memory_pool.h"

#include <cstdint>

#include "absl/status/status.h"
#include "core/runtime/drivers/null/null_device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Block = MemoryPool::Block;

TEST(MemoryPool, BlocksComeBackWhenNobodyHoldsThem) {
  NullDevice device;
  MemoryPool pool(device, MemoryKind::kLocal, 1 << 20);
  ASSERT_OK_AND_ASSIGN(Block* const first, pool.Take(1000));
  EXPECT_GE(first->memory.bytes, 1000);
  ASSERT_OK_AND_ASSIGN(Block* const second, pool.Take(1000));
  EXPECT_NE(first, second);
  MemoryPool::Share(*first);
  MemoryPool::Return(*first);
  EXPECT_EQ(pool.blocks_held(), 2);
  MemoryPool::Return(*first);
  EXPECT_EQ(pool.blocks_held(), 1);
  const int64_t bytes = pool.size_bytes();
  ASSERT_OK_AND_ASSIGN(Block* const third, pool.Take(990));
  EXPECT_EQ(third, first);
  EXPECT_EQ(third->holders, 1);
  EXPECT_EQ(pool.size_bytes(), bytes);
  ASSERT_OK_AND_ASSIGN(Block* const empty, pool.Take(0));
  EXPECT_NE(empty->memory.address, 0u);
}

TEST(MemoryPool, GivesFreeBlocksBackBeforeItSaysNo) {
  NullDevice device;
  MemoryPool pool(device, MemoryKind::kLocal, 4096);
  ASSERT_OK_AND_ASSIGN(Block* const small, pool.Take(1024));
  ASSERT_OK_AND_ASSIGN(Block* const large, pool.Take(2048));
  EXPECT_THAT(pool.Take(3000), StatusIs(absl::StatusCode::kResourceExhausted,
                                        HasSubstr("3072 of the 4096 allowed")));
  MemoryPool::Return(*large);
  ASSERT_OK(pool.Take(3000).status());
  EXPECT_EQ(small->holders, 1);
  EXPECT_LE(pool.size_bytes(), 4096);
}

TEST(MemoryPool, GivesFreeBlocksBackWhenTheDeviceHasNoMore) {
  NullDevice device({.memory_bytes = 4096});
  MemoryPool pool(device, MemoryKind::kLocal, 1 << 20);
  ASSERT_OK_AND_ASSIGN(Block* const block, pool.Take(2048));
  EXPECT_THAT(pool.Take(4096), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("null 0")));
  MemoryPool::Return(*block);
  EXPECT_OK(pool.Take(4096).status());
}

TEST(MemoryPool, RefusesSizesNobodyHas) {
  NullDevice device;
  MemoryPool pool(device, MemoryKind::kLocal, INT64_MAX);
  EXPECT_THAT(pool.Take(INT64_MAX), StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace slipway
