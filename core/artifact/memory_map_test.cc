#include "core/artifact/memory_map.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(MemoryMap, HoldsNothingAtFirstButEmptyRanges) {
  const MemoryMap map;
  EXPECT_FALSE(map.Holds(0, 0, 1, 0));
  EXPECT_TRUE(map.Holds(0, 5, 5, 0));
}

TEST(MemoryMap, PiecesOfOneBufferJoin) {
  MemoryMap map;
  map.Write(0, 0, 64, 7);
  map.Write(0, 64, 128, 7);
  EXPECT_TRUE(map.Holds(0, 0, 128, 7));
  EXPECT_TRUE(map.Holds(0, 32, 96, 7));
  EXPECT_FALSE(map.Holds(0, 0, 129, 7));
  EXPECT_FALSE(map.Holds(0, 0, 64, 8));
  EXPECT_FALSE(map.Holds(1, 0, 64, 7));
}

TEST(MemoryMap, AnotherBufferTakesBytesAway) {
  MemoryMap map;
  map.Write(0, 0, 192, 1);
  map.Write(0, 64, 128, 2);
  EXPECT_TRUE(map.Holds(0, 0, 64, 1));
  EXPECT_FALSE(map.Holds(0, 0, 65, 1));
  EXPECT_TRUE(map.Holds(0, 64, 128, 2));
  EXPECT_TRUE(map.Holds(0, 128, 192, 1));
}

// Against one owner per byte.
TEST(MemoryMap, AgreesWithAnArrayOfBytes) {
  constexpr int kBytes = 48;
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    MemoryMap map;
    std::vector<int> owner(kBytes, -1);
    for (int i = 0; i < 20; ++i) {
      int begin = static_cast<int>(random() % (kBytes + 1));
      int end = static_cast<int>(random() % (kBytes + 1));
      if (begin > end) std::swap(begin, end);
      const uint32_t buffer = random() % 3;
      map.Write(0, begin, end, buffer);
      for (int b = begin; b < end; ++b) owner[b] = static_cast<int>(buffer);
      begin = static_cast<int>(random() % (kBytes + 1));
      end = static_cast<int>(random() % (kBytes + 1));
      if (begin > end) std::swap(begin, end);
      bool expected = true;
      for (int b = begin; b < end; ++b) {
        expected = expected && owner[b] == static_cast<int>(buffer);
      }
      EXPECT_EQ(map.Holds(0, begin, end, buffer), expected) << begin << " " << end;
    }
  }
}

}  // namespace
}  // namespace slipway
