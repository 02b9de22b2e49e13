#include "core/target/memory_reading.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "core/base/round_up.h"
#include "core/target/on_threads.h"
#include "core/target/target.h"

namespace slipway {
namespace {

// Bytes in flight at once: enough lines that none waits for the one before.
constexpr int kLines = 8;
constexpr int64_t kStep = kLines * int64_t{64};

using Kernel = uint64_t (*)(const char* data, int64_t bytes);

// A function for each width, since a template would not take over the caller's instruction set.
#define SLIPWAY_READ(name, width, attributes)                                 \
  attributes uint64_t name(const char* data, int64_t bytes) {                 \
    using Vector = uint64_t __attribute__((vector_size(width)));              \
    constexpr int kVectors = kStep / width;                                   \
    Vector sums[kVectors] = {};                                               \
    for (int64_t at = 0; at < bytes; at += kStep) {                           \
      const auto* vectors = reinterpret_cast<const Vector*>(data + at);       \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < kVectors; ++i) { \
        sums[i] ^= vectors[i];                                                \
      }                                                                       \
    }                                                                         \
    Vector total = {};                                                        \
    for (const Vector& sum : sums) total ^= sum;                              \
    return total[0];                                                          \
  }

SLIPWAY_READ(Read128, 16, __attribute__((noinline)))

#if defined(__x86_64__)
SLIPWAY_READ(Read512, 64, __attribute__((target("avx512f"), noinline)))
SLIPWAY_READ(Read256, 32, __attribute__((target("avx2"), noinline)))

Kernel WidestKernel() {
  const int level = HostTarget().host().level;
  if (level >= 4) return Read512;
  if (level >= 3) return Read256;
  return Read128;
}
#else
Kernel WidestKernel() { return Read128; }
#endif

struct Free {
  void operator()(char* data) const { std::free(data); }
};

absl::Duration MeasureOne(int64_t bytes, const Clock& clock, absl::Duration duration) {
  const Kernel kernel = WidestKernel();
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
