/* The loops of multiply-adds that find out what a processor does at most, in C or C++, and with nothing around them: this machine's own are called
 * (arithmetic_peaks.cc), those of an attached device are sent there as a program (device_agent/attached/peaks). Compile with
 * -ffp-contract=fast: products and sums in one instruction, as kernels have them.
 */
#ifndef SLIPWAY_CORE_TARGET_SUM_LOOPS_H_
#define SLIPWAY_CORE_TARGET_SUM_LOOPS_H_

#include <stdint.h>

#include "core/target/peak_rows.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* `function(rounds)`: steps of `count` sums, `rounds` times. A function for each, since a template would not take over the caller's
 * instruction set; sums and operands are vectors of the types that the step takes, which begin as zero, operands as `beginning` of that. */
#define SLIPWAY_SUMS(function, attributes, count, Sum, Operand, beginning, step)    \
  attributes static void function(int64_t rounds) {                                 \
    Sum sums[count];                                                                \
    Sum none = {0};                                                                 \
    Operand a = {0};                                                                \
    Operand b;                                                                      \
    int64_t round;                                                                  \
    int i;                                                                          \
    for (i = 0; i < (count); ++i) sums[i] = none;                                   \
    a = (beginning);                                                                \
    b = a;                                                                          \
    for (round = 0; round < rounds; ++round) {                                      \
      _Pragma("clang loop unroll(full)") for (i = 0; i < (count); ++i) {            \
        const Sum sum = sums[i];                                                    \
        sums[i] = (step);                                                           \
      }                                                                             \
      /* Nothing may be moved out of the loop. */                                   \
      __asm__ volatile("" : "+" SLIPWAY_VECTOR(a), "+" SLIPWAY_VECTOR(b));          \
    }                                                                               \
    for (i = 0; i < (count); ++i) __asm__ volatile("" : : SLIPWAY_VECTOR(sums[i])); \
  }

typedef float SlipwayF32x4 __attribute__((vector_size(16)));

#if defined(__x86_64__)
#define SLIPWAY_VECTOR "v"
#define SLIPWAY_OWN_LOOPS SLIPWAY_X86_64_LOOPS

typedef float SlipwayF32x8 __attribute__((vector_size(32)));
typedef float SlipwayF32x16 __attribute__((vector_size(64)));

SLIPWAY_SUMS(F32In512, __attribute__((target("avx512f"), noinline)), SLIPWAY_SUMS_IN_32,
             SlipwayF32x16, SlipwayF32x16, a + 0.5f, sum* a + b)
SLIPWAY_SUMS(F32In256, __attribute__((target("avx2,fma"), noinline)), SLIPWAY_SUMS_IN_16,
             SlipwayF32x8, SlipwayF32x8, a + 0.5f, sum* a + b)
SLIPWAY_SUMS(F32In128, __attribute__((noinline)), SLIPWAY_SUMS_IN_16, SlipwayF32x4, SlipwayF32x4,
             a + 0.5f, sum* a + b)
SLIPWAY_SUMS(Bf16In512, __attribute__((target("avx512bf16"), noinline)), SLIPWAY_SUMS_IN_32, __m512,
             __m512bh, a, _mm512_dpbf16_ps(sum, a, b))
SLIPWAY_SUMS(Int8In512, __attribute__((target("avx512vnni"), noinline)), SLIPWAY_SUMS_IN_32,
             __m512i, __m512i, a, _mm512_dpbusd_epi32(sum, a, b))
SLIPWAY_SUMS(Int8In256, __attribute__((target("avxvnni"), noinline)), SLIPWAY_SUMS_IN_16, __m256i,
             __m256i, a, _mm256_dpbusd_avx_epi32(sum, a, b))

/* Whole registers, all of one shape. */
typedef struct SlipwayTileShapes {
  uint8_t palette;
  uint8_t reserved[15];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} __attribute__((aligned(64))) SlipwayTileShapes;

/* With zeros: a sum takes as long. */
#define SLIPWAY_TILE_SUMS(function, feature, multiply)                                          \
  __attribute__((target("amx-tile," feature), noinline)) static void function(int64_t rounds) { \
    SlipwayTileShapes shapes = {1, {0}, {0}, {0}};                                              \
    int64_t round;                                                                              \
    int i;                                                                                      \
    for (i = 0; i < 8; ++i) {                                                                   \
      shapes.row_bytes[i] = 64;                                                                 \
      shapes.rows[i] = 16;                                                                      \
    }                                                                                           \
    _tile_loadconfig(&shapes);                                                                  \
    _tile_zero(6);                                                                              \
    _tile_zero(7);                                                                              \
    for (round = 0; round < rounds; ++round) {                                                  \
      multiply(0, 6, 7);                                                                        \
      multiply(1, 6, 7);                                                                        \
      multiply(2, 6, 7);                                                                        \
      multiply(3, 6, 7);                                                                        \
      multiply(4, 6, 7);                                                                        \
      multiply(5, 6, 7);                                                                        \
    }                                                                                           \
    _tile_release();                                                                            \
  }

SLIPWAY_TILE_SUMS(Bf16InTiles, "amx-bf16", _tile_dpbf16ps)
SLIPWAY_TILE_SUMS(Int8InTiles, "amx-int8", _tile_dpbusd)
#elif defined(__aarch64__)
/* 32 registers, and large cores have four units. */
#define SLIPWAY_VECTOR "w"
#define SLIPWAY_OWN_LOOPS SLIPWAY_ARM_64_LOOPS

SLIPWAY_SUMS(F32In128, __attribute__((noinline)), SLIPWAY_SUMS_IN_32, SlipwayF32x4, SlipwayF32x4,
             a + 0.5f, sum* a + b)
#elif defined(__arm__)
#define SLIPWAY_VECTOR "w"
#define SLIPWAY_OWN_LOOPS SLIPWAY_ARM_32_LOOPS

SLIPWAY_SUMS(F32Scalar, __attribute__((noinline)), SLIPWAY_SUMS_IN_16, float, float, a + 0.5f,
             sum* a + b)
/* NEON and all that comes with it, which clang does not add by itself. */
SLIPWAY_SUMS(F32In128, __attribute__((target("d32,neon,vfp3,vfp3sp"), noinline)),
             SLIPWAY_SUMS_IN_16, SlipwayF32x4, SlipwayF32x4, a + 0.5f, sum* a + b)
#elif defined(__riscv)
#define SLIPWAY_VECTOR "f"
#define SLIPWAY_OWN_LOOPS SLIPWAY_RISCV_64_LOOPS

SLIPWAY_SUMS(F32Scalar, __attribute__((noinline)), SLIPWAY_SUMS_IN_32, float, float, a + 0.5f,
             sum* a + b)
#else
#error "what this machine does at most is not measured: add its loops here"
#endif

#endif /* SLIPWAY_CORE_TARGET_SUM_LOOPS_H_ */
