/* What compilers call where arm-32 has no instruction: division of integers, and numbers of 64 bits from and to floats. Linked into
 * programs for that machine, as far as they use it.
 *
 * Source: Run-time ABI for the Arm Architecture (IHI 0043), sections 4.1 to 4.3. Those functions take and return floats in core
 * registers, also where others have them in those of floating point. They may not be written with what is compiled into calls of
 * themselves: the machine has integers of 32 bits, multiplies them to 64, and converts 32 bits from and to double.
 *
 * Where C has no result, it is that of arm-64: a quotient by 0 is 0; what is too large for an integer becomes its largest or least, NaN 0.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __arm__
#define SLIPWAY_BASE_CALL __attribute__((pcs("aapcs")))
#else /* For the test of what needs no register of the machine's. */
#define SLIPWAY_BASE_CALL
#endif

#define SLIPWAY_2_32 4294967296.0

/* Conversions. */

SLIPWAY_BASE_CALL double __aeabi_ul2d(uint64_t x) {
  /* The sum alone is rounded. */
  return (double)(uint32_t)(x >> 32) * SLIPWAY_2_32 + (double)(uint32_t)x;
}

SLIPWAY_BASE_CALL double __aeabi_l2d(int64_t x) {
  return (double)(int32_t)(x >> 32) * SLIPWAY_2_32 + (double)(uint32_t)x;
}

/* By way of a double that is exact, or else rounded to odd: then the second rounding is that of the number itself (S. Boldo,
 * G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). */
static uint64_t within_double(uint64_t x) { return (x >> 11 | ((x & 0x7ff) != 0)) << 11; }

SLIPWAY_BASE_CALL float __aeabi_ul2f(uint64_t x) {
  return (float)__aeabi_ul2d(x >> 53 == 0 ? x : within_double(x));
}

SLIPWAY_BASE_CALL float __aeabi_l2f(int64_t x) {
  const uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
  const float converted = __aeabi_ul2f(magnitude);
  return x < 0 ? -converted : converted;
}

SLIPWAY_BASE_CALL uint64_t __aeabi_d2ulz(double x) {
  if (!(x >= 1)) return 0; /* NaN too. */
  if (x >= SLIPWAY_2_32 * SLIPWAY_2_32) return UINT64_MAX;
  const uint32_t high = (uint32_t)(x / SLIPWAY_2_32);
  return (uint64_t)high << 32 | (uint32_t)(x - (double)high * SLIPWAY_2_32);
}

SLIPWAY_BASE_CALL int64_t __aeabi_d2lz(double x) {
  const double limit = SLIPWAY_2_32 * SLIPWAY_2_32 / 2;
  if (x >= limit) return INT64_MAX;
  if (x <= -limit) return INT64_MIN;
  return x < 0 ? -(int64_t)__aeabi_d2ulz(-x) : (int64_t)__aeabi_d2ulz(x);
}

SLIPWAY_BASE_CALL uint64_t __aeabi_f2ulz(float x) { return __aeabi_d2ulz(x); }
SLIPWAY_BASE_CALL int64_t __aeabi_f2lz(float x) { return __aeabi_d2lz(x); }

/* Division. */

__attribute__((visibility("hidden"))) uint64_t slipway_divide_unsigned(uint64_t dividend,
                                                                       uint64_t divisor,
                                                                       uint64_t* rest) {
  uint64_t quotient = 0;
  if (divisor != 0) {
    const double by = __aeabi_ul2d(divisor);
    while (dividend >= divisor) {
      /* Four roundings of 2^-53 each: with 2^-50 less never too large, and three steps are enough. */
      uint64_t step = __aeabi_d2ulz(__aeabi_ul2d(dividend) / by * (1 - 0x1p-50));
      if (step == 0) step = 1;
      quotient += step;
      dividend -= step * divisor;
    }
  }
  *rest = dividend;
  return quotient;
}

__attribute__((visibility("hidden"))) int64_t slipway_divide_signed(int64_t dividend,
                                                                    int64_t divisor,
                                                                    int64_t* rest) {
  const uint64_t sign_of_dividend = dividend < 0 ? UINT64_MAX : 0;
  const uint64_t sign = (dividend < 0) != (divisor < 0) ? UINT64_MAX : 0;
  const uint64_t sign_of_divisor = divisor < 0 ? UINT64_MAX : 0;
  uint64_t positive_rest;
  const uint64_t quotient = slipway_divide_unsigned(
      ((uint64_t)dividend ^ sign_of_dividend) - sign_of_dividend,
      ((uint64_t)divisor ^ sign_of_divisor) - sign_of_divisor, &positive_rest);
  *rest = (int64_t)((positive_rest ^ sign_of_dividend) - sign_of_dividend);
  return (int64_t)((quotient ^ sign) - sign);
}

/* A quotient of 32 bits in double, rounded, has the same whole part: the next integer is further away than that. */
uint32_t __aeabi_uidiv(uint32_t dividend, uint32_t divisor) {
  return divisor == 0 ? 0 : (uint32_t)((double)dividend / (double)divisor);
}

int32_t __aeabi_idiv(int32_t dividend, int32_t divisor) {
  if (divisor == 0) return 0;
  const double quotient = (double)dividend / (double)divisor;
  return quotient > INT32_MAX ? INT32_MIN : (int32_t)quotient; /* Of INT32_MIN by -1. */
}

/* Returns the quotient in the first register, the rest in the second. */
uint64_t __aeabi_uidivmod(uint32_t dividend, uint32_t divisor) {
  const uint32_t quotient = __aeabi_uidiv(dividend, divisor);
  return (uint64_t)(dividend - quotient * divisor) << 32 | quotient;
}

uint64_t __aeabi_idivmod(int32_t dividend, int32_t divisor) {
  const uint32_t quotient = (uint32_t)__aeabi_idiv(dividend, divisor);
  return (uint64_t)((uint32_t)dividend - quotient * (uint32_t)divisor) << 32 | quotient;
}

#ifdef __arm__

/* The quotient in the first two registers, the rest in the two behind them, which no function of C returns. */
#define SLIPWAY_DIVISION(name, divide)               \
  __attribute__((naked)) void name(void) {           \
    __asm__(                                         \
        "push {r4, lr}\n\t"                          \
        "sub sp, sp, #16\n\t"                        \
        "add r4, sp, #8\n\t"                         \
        "str r4, [sp]\n\t" /* The third argument. */ \
        "bl " #divide                                \
        "\n\t"                                       \
        "ldr r2, [sp, #8]\n\t"                       \
        "ldr r3, [sp, #12]\n\t"                      \
        "add sp, sp, #16\n\t"                        \
        "pop {r4, pc}");                             \
  }

SLIPWAY_DIVISION(__aeabi_uldivmod, slipway_divide_unsigned)
SLIPWAY_DIVISION(__aeabi_ldivmod, slipway_divide_signed)

#endif

/* Memory: names for what every program has (program_support.c). */

void* memcpy(void* to, const void* from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);

#define SLIPWAY_MEMORY(aligned)                                                                 \
  void __aeabi_memcpy##aligned(void* to, const void* from, size_t bytes) {                      \
    memcpy(to, from, bytes);                                                                    \
  }                                                                                             \
  void __aeabi_memmove##aligned(void* to, const void* from, size_t bytes) {                     \
    memmove(to, from, bytes);                                                                   \
  }                                                                                             \
  void __aeabi_memset##aligned(void* to, size_t bytes, int value) { memset(to, value, bytes); } \
  void __aeabi_memclr##aligned(void* to, size_t bytes) { memset(to, 0, bytes); }

SLIPWAY_MEMORY()
SLIPWAY_MEMORY(4)
SLIPWAY_MEMORY(8)
