#include "core/target/machine_peaks.h"

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

TEST(MachinePeaksTest, CoresBringTheirOwnCachesAndShareTheThird) {
  const CacheSizes caches = {32 * kKiB, 512 * kKiB, 32768 * kKiB};
  EXPECT_THAT(Levels(caches, 1), ElementsAre(Pair("L1", 32 * kKiB), Pair("L2", 512 * kKiB),
                                             Pair("L3", 32768 * kKiB), Pair("memory", 0)));
  EXPECT_THAT(Levels(caches, 4), ElementsAre(Pair("L1", 128 * kKiB), Pair("L2", 2048 * kKiB),
                                             Pair("L3", 32768 * kKiB), Pair("memory", 0)));
}

TEST(MachinePeaksTest, ACacheWithoutRoomBesideThoseBelowIsNoLevel) {
  // Second-level caches of 16 cores hold more than half of the third one.
  EXPECT_THAT(Levels({32 * kKiB, 1024 * kKiB, 22528 * kKiB}, 16),
              ElementsAre(Pair("L1", 512 * kKiB), Pair("L2", 16384 * kKiB), Pair("memory", 0)));
  EXPECT_THAT(Levels({32 * kKiB, 512 * kKiB, 0}, 1),
              ElementsAre(Pair("L1", 32 * kKiB), Pair("L2", 512 * kKiB), Pair("memory", 0)));
}

TEST(MachinePeaksTest, MemoryIsMeasuredBeyondTheCachesWithinReason) {
  EXPECT_EQ(LevelsFor({32 * kKiB, 256 * kKiB, 0}, 1).back().read_bytes, 32 << 20);
  EXPECT_EQ(LevelsFor({32 * kKiB, 256 * kKiB, 32768 * kKiB}, 1).back().read_bytes, 128 << 20);
  EXPECT_EQ(LevelsFor({32 * kKiB, 256 * kKiB, 1048576 * kKiB}, 1).back().read_bytes, 128 << 20);
}

TEST(MachinePeaksTest, CachesAreReadAsTheSystemTellsThem) {
  const testing::TempTree folder;
  const auto add = [&](int index, const char* level, const char* type, const char* size) {
    const std::string at = absl::StrCat("index", index, "/");
    folder.Write(at + "level", absl::StrCat(level, "\n"));
    folder.Write(at + "type", absl::StrCat(type, "\n"));
    folder.Write(at + "size", absl::StrCat(size, "\n"));
  };
  add(0, "1", "Data", "48K");
  add(1, "1", "Instruction", "96K");
  add(2, "2", "Unified", "2048K");
  add(3, "3", "Unified", "huge");
  const CacheSizes caches = HostCaches(folder.path());
  EXPECT_EQ(caches.l1_bytes, 48 * kKiB);
  EXPECT_EQ(caches.l2_bytes, 2048 * kKiB);
  EXPECT_EQ(caches.l3_bytes, 0);
}

TEST(MachinePeaksTest, CachesThatNobodyTellsAreThoseOfTheTarget) {
  const CacheSizes caches = HostCaches("/nowhere");
  EXPECT_GE(caches.l1_bytes, 16 * kKiB);
  EXPECT_GT(caches.l2_bytes, caches.l1_bytes);
  EXPECT_EQ(caches.l3_bytes, 0);
}

TEST(MachinePeaksTest, EveryTypeOfThisMachineIsMeasured) {
  const SystemClock clock;
  EXPECT_THAT(MeasuredTypes(), Contains("f32"));
  for (const std::string& type : MeasuredTypes()) {
    // Any machine that runs this does more, and none so far does 100 TFLOP/s on a core.
    EXPECT_GT(MeasureArithmetic(type, 1, clock, absl::ZeroDuration()), 1e6) << type;
    EXPECT_LT(MeasureArithmetic(type, 1, clock, absl::ZeroDuration()), 1e14) << type;
  }
}

TEST(MachinePeaksTest, ThisMachineHasPeaks) {
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

TEST(MachinePeaksTest, ReadingEndsWithoutBytesAndWithMoreThreadsThanBytes) {
  const SystemClock clock;
  EXPECT_LT(MeasureReading(0, 1, clock, absl::ZeroDuration()), absl::Seconds(10));
  EXPECT_LT(MeasureReading(1, 3, clock, absl::ZeroDuration()), absl::Seconds(10));
}

}  // namespace
}  // namespace slipway
