// What arm-32 has no instruction for, against this machine's instructions. That compilers' calls of it arrive is tested where kernels
// run by an emulator (tests/codegen).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

extern "C" {
double __aeabi_ul2d(uint64_t);
double __aeabi_l2d(int64_t);
float __aeabi_ul2f(uint64_t);
float __aeabi_l2f(int64_t);
uint64_t __aeabi_d2ulz(double);
int64_t __aeabi_d2lz(double);
uint64_t __aeabi_f2ulz(float);
int64_t __aeabi_f2lz(float);
uint64_t slipway_divide_unsigned(uint64_t, uint64_t, uint64_t*);
int64_t slipway_divide_signed(int64_t, int64_t, int64_t*);
uint32_t __aeabi_uidiv(uint32_t, uint32_t);
int32_t __aeabi_idiv(int32_t, int32_t);
uint64_t __aeabi_uidivmod(uint32_t, uint32_t);
uint64_t __aeabi_idivmod(int32_t, int32_t);
void __aeabi_memcpy8(void*, const void*, size_t);
void __aeabi_memmove(void*, const void*, size_t);
void __aeabi_memset4(void*, size_t, int);
void __aeabi_memclr(void*, size_t);
}

namespace {

// Around every power of two, and random ones of all lengths.
std::vector<uint64_t> Numbers() {
  std::vector<uint64_t> numbers;
  for (int shift = 0; shift < 64; ++shift) {
    for (const int64_t near : {-2, -1, 0, 1, 2}) {
      numbers.push_back((uint64_t{1} << shift) + static_cast<uint64_t>(near));
      // Halfway between floats and between doubles, and what decides.
      numbers.push_back((uint64_t{3} << shift) + static_cast<uint64_t>(near));
      numbers.push_back((uint64_t{0x1000001} << shift) + static_cast<uint64_t>(near));
      numbers.push_back((uint64_t{0x20000000000001} << shift) + static_cast<uint64_t>(near));
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) numbers.push_back(random() >> (random() % 64));
  return numbers;
}

TEST(ArmRunTimeTest, ConvertsIntegers) {
  for (const uint64_t x : Numbers()) {
    const auto n = static_cast<int64_t>(x);
    EXPECT_EQ(__aeabi_ul2d(x), static_cast<double>(x)) << x;
    EXPECT_EQ(__aeabi_ul2f(x), static_cast<float>(x)) << x;
    EXPECT_EQ(__aeabi_l2d(n), static_cast<double>(n)) << n;
    EXPECT_EQ(__aeabi_l2f(n), static_cast<float>(n)) << n;
  }
}

TEST(ArmRunTimeTest, ConvertsFloats) {
  for (const uint64_t x : Numbers()) {
    for (const double fraction : {0.0, 0.25, 0.5, 0.75}) {
      const double d = static_cast<double>(x) + fraction;
      if (d < 0x1p64) EXPECT_EQ(__aeabi_d2ulz(d), static_cast<uint64_t>(d)) << d;
      if (d < 0x1p63) EXPECT_EQ(__aeabi_d2lz(d), static_cast<int64_t>(d)) << d;
      if (d < 0x1p63) EXPECT_EQ(__aeabi_d2lz(-d), static_cast<int64_t>(-d)) << d;
      const auto f = static_cast<float>(d);
      if (f < 0x1p64f) EXPECT_EQ(__aeabi_f2ulz(f), static_cast<uint64_t>(f)) << f;
      if (f < 0x1p63f) EXPECT_EQ(__aeabi_f2lz(-f), static_cast<int64_t>(-f)) << f;
    }
  }
}

TEST(ArmRunTimeTest, ConvertsWhatIsTooLargeToTheNearest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double x : {0x1p64, 1e300, kInfinity}) {
    EXPECT_EQ(__aeabi_d2ulz(x), UINT64_MAX) << x;
    EXPECT_EQ(__aeabi_d2lz(x), INT64_MAX) << x;
    EXPECT_EQ(__aeabi_d2ulz(-x), 0u) << x;
    EXPECT_EQ(__aeabi_d2lz(-x), INT64_MIN) << x;
  }
  EXPECT_EQ(__aeabi_d2lz(0x1p63), INT64_MAX);
  EXPECT_EQ(__aeabi_d2lz(-0x1p63), INT64_MIN);
  EXPECT_EQ(__aeabi_d2lz(std::nan("")), 0);
  EXPECT_EQ(__aeabi_d2ulz(std::nan("")), 0u);
}

TEST(ArmRunTimeTest, Divides) {
  const std::vector<uint64_t> numbers = Numbers();
  for (const uint64_t a : numbers) {
    for (const uint64_t b : numbers) {
      if (b == 0) continue;
      uint64_t rest = 0;
      ASSERT_EQ(slipway_divide_unsigned(a, b, &rest), a / b) << a << " / " << b;
      ASSERT_EQ(rest, a % b) << a << " % " << b;
      const auto n = static_cast<int64_t>(a), m = static_cast<int64_t>(b);
      if (n == INT64_MIN && m == -1) continue;
      int64_t signed_rest = 0;
      ASSERT_EQ(slipway_divide_signed(n, m, &signed_rest), n / m) << n << " / " << m;
      ASSERT_EQ(signed_rest, n % m) << n << " % " << m;
    }
  }
}

TEST(ArmRunTimeTest, DividesNumbersOf32Bits) {
  const std::vector<uint64_t> numbers = Numbers();
  for (const uint64_t wide_a : numbers) {
    for (const uint64_t wide_b : numbers) {
      const auto a = static_cast<uint32_t>(wide_a), b = static_cast<uint32_t>(wide_b);
      if (b == 0) continue;
      ASSERT_EQ(__aeabi_uidiv(a, b), a / b) << a << " / " << b;
      ASSERT_EQ(__aeabi_uidivmod(a, b), uint64_t{a % b} << 32 | a / b) << a << " / " << b;
      const auto n = static_cast<int32_t>(a), m = static_cast<int32_t>(b);
      if (n == INT32_MIN && m == -1) continue;
      ASSERT_EQ(__aeabi_idiv(n, m), n / m) << n << " / " << m;
      ASSERT_EQ(__aeabi_idivmod(n, m),
                uint64_t{static_cast<uint32_t>(n % m)} << 32 | static_cast<uint32_t>(n / m))
          << n << " / " << m;
    }
  }
}

TEST(ArmRunTimeTest, DividesWhatHasNoQuotientAsArm64Does) {
  uint64_t rest = 0;
  EXPECT_EQ(slipway_divide_unsigned(7, 0, &rest), 0u);
  EXPECT_EQ(rest, 7u);
  int64_t signed_rest = 0;
  EXPECT_EQ(slipway_divide_signed(-7, 0, &signed_rest), 0);
  EXPECT_EQ(signed_rest, -7);
  EXPECT_EQ(slipway_divide_signed(INT64_MIN, -1, &signed_rest), INT64_MIN);
  EXPECT_EQ(signed_rest, 0);
  EXPECT_EQ(__aeabi_idiv(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(__aeabi_idiv(5, 0), 0);
  EXPECT_EQ(__aeabi_uidiv(5, 0), 0u);
}

TEST(ArmRunTimeTest, HandlesMemoryInItsOrderOfArguments) {
  char bytes[] = "abcdefgh";
  __aeabi_memmove(bytes + 1, bytes, 3);
  EXPECT_STREQ(bytes, "aabcefgh");
  __aeabi_memcpy8(bytes, "xyz", 2);
  EXPECT_STREQ(bytes, "xybcefgh");
  __aeabi_memset4(bytes + 4, 2, '-');
  EXPECT_STREQ(bytes, "xybc--gh");
  __aeabi_memclr(bytes + 6, 1);
  EXPECT_STREQ(bytes, "xybc--");
}

}  // namespace
