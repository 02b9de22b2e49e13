#include "core/target/memory_reading.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "core/base/round_up.h"
#include "core/target/on_threads.h"
#include "core/target/peak_tables.h"
#include "core/target/read_loops.h"
#include "core/target/target.h"

namespace slipway {
namespace {

constexpr int64_t kStep = SLIPWAY_READ_STEP;

#define SLIPWAY_FUNCTION(function, is_run_by) function,
constexpr uint64_t (*kFunctions[])(const char* data,
                                   int64_t bytes) = {SLIPWAY_OWN_READS(SLIPWAY_FUNCTION)};

struct Free {
  void operator()(char* data) const { std::free(data); }
};

absl::Duration MeasureOne(int64_t bytes, const Clock& clock, absl::Duration duration) {
  const auto kernel = kFunctions[ReadLoopFor(HostTarget().host())];
  const int64_t size = std::max(RoundUp(bytes, kStep), kStep);
  // Large pages where the system has them, as the constants of programs have.
  constexpr int64_t kHugePage = int64_t{2} << 20;
  const int64_t alignment = size < kHugePage ? kStep : kHugePage;
  const int64_t padded = RoundUp(size, alignment);
  const std::unique_ptr<char, Free> data(
      static_cast<char*>(std::aligned_alloc(static_cast<size_t>(alignment), padded)));
  if (data == nullptr) return absl::InfiniteDuration();
  if (alignment == kHugePage) madvise(data.get(), padded, MADV_HUGEPAGE);
  std::memset(data.get(), 1, padded);
  const absl::Duration end = clock.Monotonic() + duration;
  absl::Duration best = absl::InfiniteDuration();
  for (int passes = 0; passes < 2 || clock.Monotonic() < end; ++passes) {
    // Many times what takes less than the clock can tell.
    const int64_t times = std::max((int64_t{1} << 20) / size, int64_t{1});
    const absl::Duration start = clock.Monotonic();
    for (int64_t i = 0; i < times; ++i) {
      volatile uint64_t result = kernel(data.get(), size);
      (void)result;
    }
    best = std::min(best, (clock.Monotonic() - start) / times);
  }
  return best;
}

}  // namespace

absl::Duration MeasureReading(int64_t bytes, int threads, const Clock& clock,
                              absl::Duration duration) {
  std::vector<absl::Duration> each(static_cast<size_t>(threads));
  OnThreads(threads, [&](int i) { each[i] = MeasureOne(bytes / threads, clock, duration); });
  return *std::max_element(each.begin(), each.end());
}

}  // namespace slipway
