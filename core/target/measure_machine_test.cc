#include "core/target/measure_machine.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/target/arithmetic_peaks.h"
#include "core/target/memory_reading.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr int64_t kKiB = 1024;

std::vector<std::pair<std::string, int64_t>> Levels(const CacheSizes& caches, int threads) {
  std::vector<std::pair<std::string, int64_t>> levels;
  for (const MeasuredLevel& level : LevelsFor(caches, threads)) {
    EXPECT_GT(level.read_bytes, levels.empty() ? 0 : levels.back().second)
        << "fits into the level below " << level.level.level;
    levels.emplace_back(level.level.level, level.level.bytes);
  }
  return levels;
}

TEST(MeasureMachineTest, CoresBringTheirOwnCachesAndShareTheThird) {
  const CacheSizes caches = {{32 * kKiB}, {512 * kKiB}, {32768 * kKiB, 8}};
  EXPECT_THAT(Levels(caches, 1), ElementsAre(Pair("L1", 32 * kKiB), Pair("L2", 512 * kKiB),
                                             Pair("L3", 32768 * kKiB), Pair("memory", 0)));
  EXPECT_THAT(Levels(caches, 4), ElementsAre(Pair("L1", 128 * kKiB), Pair("L2", 2048 * kKiB),
                                             Pair("L3", 32768 * kKiB), Pair("memory", 0)));
  // Two groups of cores, each with a third cache.
  EXPECT_THAT(Levels(caches, 9), ElementsAre(Pair("L1", 9 * 32 * kKiB), Pair("L2", 9 * 512 * kKiB),
                                             Pair("L3", 65536 * kKiB), Pair("memory", 0)));
}

TEST(MeasureMachineTest, ACacheWithoutRoomBesideThoseBelowIsNoLevel) {
  // Second-level caches of 16 cores hold more than half of the third one.
  EXPECT_THAT(Levels({{32 * kKiB}, {1024 * kKiB}, {22528 * kKiB, 16}}, 16),
              ElementsAre(Pair("L1", 512 * kKiB), Pair("L2", 16384 * kKiB), Pair("memory", 0)));
  EXPECT_THAT(Levels({{32 * kKiB}, {512 * kKiB}, {}}, 1),
              ElementsAre(Pair("L1", 32 * kKiB), Pair("L2", 512 * kKiB), Pair("memory", 0)));
}

TEST(MeasureMachineTest, MemoryIsMeasuredBeyondTheCachesWithinReason) {
  const auto read_of = [](int64_t l3_bytes) {
    return LevelsFor({{32 * kKiB}, {256 * kKiB}, {l3_bytes, 8}}, 1).back().read_bytes;
  };
  EXPECT_EQ(read_of(0), 32 << 20);
  EXPECT_EQ(read_of(32 << 20), 128 << 20);
  EXPECT_EQ(read_of(48 << 20), 128 << 20);
  EXPECT_EQ(read_of(256 << 20), 512 << 20);
}

TEST(MeasureMachineTest, CachesAreReadAsTheSystemTellsThem) {
  const testing::TempTree folder;
  const auto add = [&](int index, const char* level, const char* type, const char* size,
                       const char* processors) {
    const std::string at = absl::StrCat("index", index, "/");
    folder.Write(at + "level", absl::StrCat(level, "\n"));
    folder.Write(at + "type", absl::StrCat(type, "\n"));
    folder.Write(at + "size", absl::StrCat(size, "\n"));
    folder.Write(at + "shared_cpu_list", absl::StrCat(processors, "\n"));
  };
  add(0, "1", "Data", "48K", "0");
  add(1, "1", "Instruction", "96K", "0");
  add(2, "2", "Unified", "2048K", "0-2,8");
  add(3, "3", "Unified", "huge", "0-15");
  const CacheSizes caches = CachesOf(HostTarget().host(), folder.path());
  EXPECT_EQ(caches.l1.bytes, 48 * kKiB);
  EXPECT_EQ(caches.l1.processors, 1);
  EXPECT_EQ(caches.l2.bytes, 2048 * kKiB);
  EXPECT_EQ(caches.l2.processors, 4);
  EXPECT_EQ(caches.l3.bytes, 0);
}

TEST(MeasureMachineTest, CachesThatNobodyTellsAreThoseOfTheTarget) {
  const CacheSizes caches = CachesOf(HostTarget().host(), "/nowhere");
  EXPECT_GE(caches.l1.bytes, 16 * kKiB);
  EXPECT_GT(caches.l2.bytes, caches.l1.bytes);
  EXPECT_EQ(caches.l3.bytes, 0);
}

TEST(MeasureMachineTest, EveryTypeOfThisMachineIsMeasured) {
  const SystemClock clock;
  EXPECT_THAT(MeasuredTypes(), Contains("f32"));
  for (const std::string& type : MeasuredTypes()) {
    // Any machine that runs this does more, and none so far does 100 TFLOP/s on a core.
    EXPECT_GT(MeasureArithmetic(type, 1, clock, absl::ZeroDuration()), 1e6) << type;
    EXPECT_LT(MeasureArithmetic(type, 1, clock, absl::ZeroDuration()), 1e14) << type;
  }
}

TEST(MeasureMachineTest, ThisMachineHasPeaks) {
  const SystemClock clock;
  const MachinePeaks peaks = MeasureMachine(2, clock);
  EXPECT_EQ(peaks.threads, 2);
  ASSERT_FALSE(peaks.arithmetic.empty());
  EXPECT_EQ(peaks.arithmetic[0].type, "f32");
  ASSERT_GE(peaks.reading.size(), 2u);
  EXPECT_EQ(peaks.reading.back().level, "memory");
  for (const ReadingPeak& level : peaks.reading) {
    EXPECT_GT(level.bytes_per_second, 1e6) << level.level;
    EXPECT_LT(level.bytes_per_second, 1e14) << level.level;
  }
}

TEST(MeasureMachineTest, ReadingEndsWithoutBytesAndWithMoreThreadsThanBytes) {
  const SystemClock clock;
  EXPECT_LT(MeasureReading(0, 1, clock, absl::ZeroDuration()), absl::Seconds(10));
  EXPECT_LT(MeasureReading(1, 3, clock, absl::ZeroDuration()), absl::Seconds(10));
}

}  // namespace
}  // namespace slipway
