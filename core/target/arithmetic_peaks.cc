#include "core/target/arithmetic_peaks.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"
#include "core/base/check.h"
#include "core/target/on_threads.h"
#include "core/target/target.h"

namespace slipway {
namespace {

constexpr int64_t kRounds = 20'000;

// More independent sums than latency times units, each a vector: 8 to 10 for multiply-adds on any core so far, more for sums of
// pairs; as many as the registers hold beside two operands.
[[maybe_unused]] constexpr int kSumsIn16 = 12;
[[maybe_unused]] constexpr int kSumsIn32 = 24;

struct Kernel {
  const char* type;
  bool (*is_run_by)(const DeviceTarget& machine);
  void (*function)(int64_t rounds);
  int sums;
  int operations;  // Of one step of one sum.
};

// Steps of `count` sums, `rounds` times. A function for each, since a template would not take over the caller's instruction
// set; sums, operands and how they begin are vectors of the types that the step takes.
#define SLIPWAY_SUMS(name, attributes, count, Sum, Operand, beginning, step)  \
  attributes void name(int64_t rounds) {                                      \
    Sum sums[count];                                                          \
    for (Sum & sum : sums) sum = Sum{};                                       \
    Operand a = beginning;                                                    \
    Operand b = beginning;                                                    \
    for (int64_t round = 0; round < rounds; ++round) {                        \
      _Pragma("clang loop unroll(full)") for (Sum & sum : sums) sum = (step); \
      /* Nothing may be moved out of the loop. */                             \
      asm volatile("" : "+" SLIPWAY_VECTOR(a), "+" SLIPWAY_VECTOR(b));        \
    }                                                                         \
    for (Sum & sum : sums) asm volatile("" : : SLIPWAY_VECTOR(sum));          \
  }

using F32x4 = float __attribute__((vector_size(16)));

#if defined(__x86_64__)
#define SLIPWAY_VECTOR "v"

using F32x8 = float __attribute__((vector_size(32)));
using F32x16 = float __attribute__((vector_size(64)));

SLIPWAY_SUMS(F32In512, __attribute__((target("avx512f"), noinline)), kSumsIn32, F32x16, F32x16,
             F32x16{} + 0.5f, sum* a + b)
SLIPWAY_SUMS(F32In256, __attribute__((target("avx2,fma"), noinline)), kSumsIn16, F32x8, F32x8,
             F32x8{} + 0.5f, sum* a + b)
SLIPWAY_SUMS(Bf16In512, __attribute__((target("avx512bf16"), noinline)), kSumsIn32, __m512,
             __m512bh, __m512bh{}, _mm512_dpbf16_ps(sum, a, b))
SLIPWAY_SUMS(Int8In512, __attribute__((target("avx512vnni"), noinline)), kSumsIn32, __m512i,
             __m512i, __m512i{}, _mm512_dpbusd_epi32(sum, a, b))
SLIPWAY_SUMS(Int8In256, __attribute__((target("avxvnni"), noinline)), kSumsIn16, __m256i, __m256i,
             __m256i{}, _mm256_dpbusd_avx_epi32(sum, a, b))
constexpr int kSumsIn128 = kSumsIn16;
#define SLIPWAY_VECTORS_OF_128

// Of eight registers two are multiplied.
constexpr int kSumsInTiles = 6;

// Whole registers, all of one shape.
struct alignas(64) TileShapes {
  TileShapes() {
    for (int i = 0; i < 8; ++i) {
      row_bytes[i] = 64;
      rows[i] = 16;
    }
  }
  uint8_t palette = 1;
  uint8_t reserved[15] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// With zeros: a sum takes as long.
#define SLIPWAY_SUMS_IN_TILES(name, feature, multiply)                               \
  __attribute__((target("amx-tile," feature), noinline)) void name(int64_t rounds) { \
    const TileShapes shapes;                                                         \
    _tile_loadconfig(&shapes);                                                       \
    _tile_zero(6);                                                                   \
    _tile_zero(7);                                                                   \
    for (int64_t round = 0; round < rounds; ++round) {                               \
      multiply(0, 6, 7);                                                             \
      multiply(1, 6, 7);                                                             \
      multiply(2, 6, 7);                                                             \
      multiply(3, 6, 7);                                                             \
      multiply(4, 6, 7);                                                             \
      multiply(5, 6, 7);                                                             \
    }                                                                                \
    _tile_release();                                                                 \
  }

SLIPWAY_SUMS_IN_TILES(Bf16InTiles, "amx-bf16", _tile_dpbf16ps)
SLIPWAY_SUMS_IN_TILES(Int8InTiles, "amx-int8", _tile_dpbusd)
#elif defined(__arm__)
#define SLIPWAY_VECTOR "w"
constexpr int kSumsIn128 = kSumsIn16;
// NEON and all that comes with it, which clang does not add by itself.
#define SLIPWAY_VECTORS_OF_128 target("d32,neon,vfp3,vfp3sp"),

SLIPWAY_SUMS(F32Scalar, __attribute__((noinline)), kSumsIn16, float, float, 0.5f, sum* a + b)
#else
#define SLIPWAY_VECTORS_OF_128
// arm-64 has 32 registers, and large cores four units.
#define SLIPWAY_VECTOR "w"
constexpr int kSumsIn128 = kSumsIn32;
#endif

SLIPWAY_SUMS(F32In128, __attribute__((SLIPWAY_VECTORS_OF_128 noinline)), kSumsIn128, F32x4, F32x4,
             F32x4{} + 0.5f, sum* a + b)

// Of several that a machine runs for a type, the first.
constexpr Kernel kKernels[] = {
#if defined(__x86_64__)
    {"f32", [](const DeviceTarget& machine) { return machine.level >= 4; }, F32In512, kSumsIn32,
     32},
    {"f32", [](const DeviceTarget& machine) { return machine.level >= 3; }, F32In256, kSumsIn16,
     16},
#endif
#if defined(__arm__)
    {"f32", [](const DeviceTarget& machine) { return !machine.Has("neon"); }, F32Scalar, kSumsIn16,
     2},
#endif
    {"f32", [](const DeviceTarget&) { return true; }, F32In128, kSumsIn128, 8},
#if defined(__x86_64__)
    {"bf16", [](const DeviceTarget& machine) { return machine.Has("amxbf16"); }, Bf16InTiles,
     kSumsInTiles, 2 * 16 * 16 * 32},
    {"bf16", [](const DeviceTarget& machine) { return machine.Has("bf16"); }, Bf16In512, kSumsIn32,
     64},
    {"int8", [](const DeviceTarget& machine) { return machine.Has("amxint8"); }, Int8InTiles,
     kSumsInTiles, 2 * 16 * 16 * 64},
    {"int8", [](const DeviceTarget& machine) { return machine.Has("vnni"); }, Int8In512, kSumsIn32,
     128},
    {"int8", [](const DeviceTarget& machine) { return machine.Has("avxvnni"); }, Int8In256,
     kSumsIn16, 64},
#endif
};

const Kernel* FindKernel(absl::string_view type, const DeviceTarget& machine) {
  for (const Kernel& kernel : kKernels) {
    if (kernel.type == type && kernel.is_run_by(machine)) return &kernel;
  }
  return nullptr;
}

double MeasureOne(const Kernel& kernel, const Clock& clock, absl::Duration duration) {
  const absl::Duration end = clock.Monotonic() + duration;
  double best = 0;
  do {
    const absl::Duration start = clock.Monotonic();
    kernel.function(kRounds);
    const double seconds = absl::ToDoubleSeconds(clock.Monotonic() - start);
    if (seconds > 0)
      best = std::max(best, 1.0 * kernel.operations * kernel.sums * kRounds / seconds);
  } while (clock.Monotonic() < end);
  return best;
}

}  // namespace

std::vector<std::string> MeasuredTypes() {
  const Target host = HostTarget();
  std::vector<std::string> types;
  for (const char* type : {"f32", "bf16", "int8"}) {
    if (FindKernel(type, host.host()) != nullptr) types.emplace_back(type);
  }
  return types;
}

double MeasureArithmetic(absl::string_view type, int threads, const Clock& clock,
                         absl::Duration duration) {
  const Kernel* kernel = FindKernel(type, HostTarget().host());
  SLIPWAY_CHECK(kernel != nullptr, "a type that this machine has no instructions for");
  std::vector<double> rates(static_cast<size_t>(threads));
  OnThreads(threads, [&](int i) { rates[i] = MeasureOne(*kernel, clock, duration); });
  double together = 0;
  for (const double rate : rates) together += rate;
  return together;
}

}  // namespace slipway
