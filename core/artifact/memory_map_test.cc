#include "core/artifact/memory_map.h"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "core/artifact/limits.h"
#include "core/artifact/step_order.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

// Steps 0 to n - 1 in one queue.
StepOrder InOrder(int steps) {
  v1::Manifest manifest;
  manifest.add_devices();
  v1::Function function;
  for (int i = 0; i < steps; ++i) function.add_steps();
  return *StepOrder::Of(manifest, function, ReaderLimits());
}

// Whether all bytes of [begin, end) were last written through `buffer`.
bool Holds(MemoryMap& map, int memory, int64_t begin, int64_t end, uint32_t buffer, int step) {
  return map.Read({memory, begin, end, buffer}, step) == MemoryConflict::kNone;
}

TEST(MemoryMap, HoldsNothingAtFirstButEmptyRanges) {
  const StepOrder order = InOrder(1);
  MemoryMap map(order);
  EXPECT_FALSE(Holds(map, 0, 0, 1, 0, 0));
  EXPECT_TRUE(Holds(map, 0, 5, 5, 0, 0));
}

TEST(MemoryMap, PiecesOfOneBufferJoin) {
  const StepOrder order = InOrder(3);
  MemoryMap map(order);
  map.Write({0, 0, 64, 7}, MemoryMap::kCaller);
  map.Write({0, 64, 128, 7}, 0);
  EXPECT_TRUE(Holds(map, 0, 0, 128, 7, 1));
  EXPECT_TRUE(Holds(map, 0, 32, 96, 7, 1));
  EXPECT_FALSE(Holds(map, 0, 0, 129, 7, 1));
  EXPECT_FALSE(Holds(map, 0, 0, 64, 8, 1));
  EXPECT_FALSE(Holds(map, 1, 0, 64, 7, 1));
  EXPECT_TRUE(Holds(map, 0, 0, 128, 7, MemoryMap::kEnd));
}

TEST(MemoryMap, AnotherBufferTakesBytesAway) {
  const StepOrder order = InOrder(4);
  MemoryMap map(order);
  map.Write({0, 0, 192, 1}, 0);
  map.Write({0, 64, 128, 2}, 1);
  EXPECT_TRUE(Holds(map, 0, 0, 64, 1, 2));
  EXPECT_FALSE(Holds(map, 0, 0, 65, 1, 2));
  EXPECT_TRUE(Holds(map, 0, 64, 128, 2, 2));
  EXPECT_TRUE(Holds(map, 0, 128, 192, 1, 2));
  map.Clobber(0, 32, 160, 3);
  EXPECT_TRUE(Holds(map, 0, 0, 32, 1, MemoryMap::kEnd));
  EXPECT_FALSE(Holds(map, 0, 0, 33, 1, MemoryMap::kEnd));
  EXPECT_FALSE(Holds(map, 0, 64, 128, 2, MemoryMap::kEnd));
  EXPECT_TRUE(Holds(map, 0, 160, 192, 1, MemoryMap::kEnd));
}

// Against one owner per byte.
TEST(MemoryMap, AgreesWithAnArrayOfBytes) {
  constexpr int kBytes = 48, kSteps = 20;
  const StepOrder order = InOrder(kSteps);
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    MemoryMap map(order);
    std::vector<int> owner(kBytes, -1);
    for (int i = 0; i < kSteps; ++i) {
      int begin = static_cast<int>(random() % (kBytes + 1));
      int end = static_cast<int>(random() % (kBytes + 1));
      if (begin > end) std::swap(begin, end);
      const uint32_t buffer = random() % 3;
      map.Write({0, begin, end, buffer}, i);
      for (int b = begin; b < end; ++b) owner[b] = static_cast<int>(buffer);
      begin = static_cast<int>(random() % (kBytes + 1));
      end = static_cast<int>(random() % (kBytes + 1));
      if (begin > end) std::swap(begin, end);
      bool expected = true;
      for (int b = begin; b < end; ++b) {
        expected = expected && owner[b] == static_cast<int>(buffer);
      }
      EXPECT_EQ(Holds(map, 0, begin, end, buffer, i), expected) << begin << " " << end;
    }
  }
}

// Steps 0 and 1 in queues of their own, step 2 in the first and after both.
StepOrder TwoQueues() {
  v1::Manifest manifest;
  manifest.add_devices();
  v1::Function function;
  function.add_steps();
  function.add_steps()->set_queue(1);
  function.add_steps()->add_after(1);
  return *StepOrder::Of(manifest, function, ReaderLimits());
}

TEST(MemoryMap, WhatMayRunAtTheSameTimeIsFound) {
  const StepOrder order = TwoQueues();
  {
    MemoryMap map(order);
    EXPECT_EQ(map.Write({0, 0, 64, 1}, 0), MemoryConflict::kNone);
    EXPECT_EQ(map.Read({0, 0, 64, 1}, 1), MemoryConflict::kUnordered);
    EXPECT_EQ(map.Write({0, 32, 96, 1}, 1), MemoryConflict::kUnordered);
    EXPECT_EQ(map.Write({0, 64, 96, 1}, 1), MemoryConflict::kNone);
    EXPECT_EQ(map.Read({0, 0, 96, 1}, 2), MemoryConflict::kNone);
  }
  MemoryMap map(order);
  EXPECT_EQ(map.Write({0, 0, 64, 1}, MemoryMap::kCaller), MemoryConflict::kNone);
  EXPECT_EQ(map.Read({0, 0, 32, 1}, 0), MemoryConflict::kNone);
  EXPECT_EQ(map.Read({0, 0, 64, 1}, 1), MemoryConflict::kNone);
  // A piece that only it read, and one that another reads as well.
  EXPECT_EQ(map.Write({0, 32, 64, 2}, 1), MemoryConflict::kNone);
  EXPECT_EQ(map.Write({0, 0, 32, 2}, 1), MemoryConflict::kUnordered);
  EXPECT_EQ(map.Write({0, 0, 64, 2}, 2), MemoryConflict::kNone);
}

}  // namespace
}  // namespace slipway
