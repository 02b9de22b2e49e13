#include "tests/bench/fma_peak.h"

#include <algorithm>
#include <cstdint>

#include "core/target/target.h"

namespace slipway::bench {
namespace {

constexpr int64_t kRounds = 20'000;

// More independent sums than latency times units (8 to 10 on any core so far), each a vector.
constexpr int kSums = 12;

struct Kernel {
  float (*function)(int64_t rounds, float seed);
  int lanes;
};

// A function for each width, since a template would not take over the caller's instruction set.
#define SLIPWAY_SUM_OF_PRODUCTS(name, bytes, attributes)                                        \
  attributes float name(int64_t rounds, float seed) {                                           \
    using Vector = float __attribute__((vector_size(bytes)));                                   \
    Vector sums[kSums];                                                                         \
    for (int i = 0; i < kSums; ++i) sums[i] = Vector{} + seed * static_cast<float>(i);          \
    Vector factor = Vector{} + seed;                                                            \
    Vector addend = Vector{} + (1.0f - seed);                                                   \
    for (int64_t round = 0; round < rounds; ++round) {                                          \
      _Pragma("clang loop unroll(full)") for (Vector & sum : sums) sum = sum * factor + addend; \
      /* Nothing may be moved out of the loop. */                                               \
      asm volatile("" : "+v"(factor), "+v"(addend));                                            \
    }                                                                                           \
    float total = 0;                                                                            \
    for (const Vector& sum : sums) total += sum[0];                                             \
    return total;                                                                               \
  }

#if defined(__x86_64__)
SLIPWAY_SUM_OF_PRODUCTS(Run512, 64, __attribute__((target("avx512f"), noinline)))
SLIPWAY_SUM_OF_PRODUCTS(Run256, 32, __attribute__((target("avx2,fma"), noinline)))
SLIPWAY_SUM_OF_PRODUCTS(Run128, 16, __attribute__((noinline)))

Kernel WidestKernel() {
  const int level = HostTarget().host().level;
  if (level >= 4) return {Run512, 16};
  if (level >= 3) return {Run256, 8};
  return {Run128, 4};
}
#else
#error "no multiply-add kernel for this architecture yet"
#endif

}  // namespace

double MeasureFmaPeak(const Clock& clock, absl::Duration duration) {
  const Kernel kernel = WidestKernel();
  const absl::Duration end = clock.Monotonic() + duration;
  double best = 0;
  do {
    const absl::Duration start = clock.Monotonic();
    volatile float result = kernel.function(kRounds, 0.5f);
    (void)result;
    const double seconds = absl::ToDoubleSeconds(clock.Monotonic() - start);
    if (seconds > 0) best = std::max(best, 2.0 * kSums * kernel.lanes * kRounds / seconds);
  } while (clock.Monotonic() < end);
  return best;
}

}  // namespace slipway::bench
