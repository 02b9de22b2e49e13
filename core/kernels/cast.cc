#include "core/kernels/cast.h"

#include "core/kernels/call.h"
#include "core/kernels/small_types.h"

namespace slipway::kernels {
namespace {

struct Options {
  bool saturate;
  Float8E8M0::Rounding rounding;
};

// Truncates; what does not fit becomes the nearest that does, NaN 0.
template <typename T>
T Truncated(double x) {
  constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);
  constexpr int kBits = 8 * static_cast<int>(sizeof(T)) - kSigned;
  constexpr double kEnd = 2.0 * static_cast<double>(uint64_t{1} << (kBits - 1));
  constexpr T kHighest = static_cast<T>(~uint64_t{0} >> (64 - kBits));
  if (x != x) return T{0};
  if (x >= kEnd) return kHighest;
  if (kSigned && x <= -kEnd) return static_cast<T>(-kHighest - 1);
  if (!kSigned && x <= 0) return T{0};
  return static_cast<T>(x);
}

// A double on the same side of every number of up to 50 bits as the integer: rounding it to so many bits rounds the
// integer once.
double AsDouble(uint64_t magnitude) {
  if (magnitude >> 53 != 0) {
    const uint64_t sticky = (magnitude & 0x7ff) != 0 ? 0x800 : 0;
    magnitude = (magnitude & ~uint64_t{0x7ff}) | sticky;
  }
  return static_cast<double>(magnitude);
}
double AsDouble(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return value < 0 ? -AsDouble(0 - bits) : AsDouble(bits);
}

// From what a type is widened to, to another type.
template <typename To>
struct Into {
  static To From(double x, const Options&) {
    if constexpr (kIsFloat<To>) {
      return Narrow<To>(x);
    } else {
      return Truncated<To>(x);
    }
  }
  template <typename Integer>
  static To From(Integer x, const Options&) {
    if constexpr (__is_same(To, Float16) || __is_same(To, Bfloat16)) {
      return Narrow<To>(AsDouble(x));
    } else {
      return static_cast<To>(x);
    }
  }
};
template <>
struct Into<bool> {
  template <typename Wide>
  static bool From(Wide x, const Options&) {
    return x != 0;
  }
};
template <int exponent_bits, int fraction_bits, int bias, Special special>
struct Into<SmallFloat<exponent_bits, fraction_bits, bias, special>> {
  using To = SmallFloat<exponent_bits, fraction_bits, bias, special>;
  static To From(double x, const Options& options) { return To::Rounded(x, options.saturate); }
  template <typename Integer>
  static To From(Integer x, const Options& options) {
    return To::Rounded(AsDouble(x), options.saturate);
  }
};
template <>
struct Into<Float8E8M0> {
  static Float8E8M0 From(double x, const Options& options) {
    return Float8E8M0::Rounded(x, options.rounding, options.saturate);
  }
  template <typename Integer>
  static Float8E8M0 From(Integer x, const Options& options) {
    return From(AsDouble(x), options);
  }
};
template <int bits, bool is_signed>
struct Into<SmallInteger<bits, is_signed>> {
  using To = SmallInteger<bits, is_signed>;
  static To From(double x, const Options&) { return To(Truncated<int64_t>(x)); }
  template <typename Integer>
  static To From(Integer x, const Options&) {
    return To(static_cast<int64_t>(x));
  }
};

constexpr int64_t kChunk = 256;

// Some elements, as what their type is widened to.
class Chunk {
 public:
  template <typename From>
  void Load(const From* x, int64_t count) {
    using Wide = WideOf<From>;
    kind_ = __is_same(Wide, double) ? kDouble : __is_same(Wide, uint64_t) ? kUnsigned : kSigned;
    for (int64_t i = 0; i < count; ++i) bits_[i] = __builtin_bit_cast(uint64_t, Widen(x[i]));
  }
  template <typename To>
  void Store(To* y, int64_t count, const Options& options) const {
    switch (kind_) {
      case kDouble:
        return StoreAs<double>(y, count, options);
      case kSigned:
        return StoreAs<int64_t>(y, count, options);
      case kUnsigned:
        return StoreAs<uint64_t>(y, count, options);
    }
  }

 private:
  enum Kind { kDouble, kSigned, kUnsigned };

  template <typename Wide, typename To>
  void StoreAs(To* y, int64_t count, const Options& options) const {
    for (int64_t i = 0; i < count; ++i) {
      y[i] = Into<To>::From(__builtin_bit_cast(Wide, bits_[i]), options);
    }
  }

  Kind kind_ = kDouble;
  uint64_t bits_[kChunk];
};

int32_t Cast(const Call& call) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const Options options = {call.Integer(0) != 0,
                           static_cast<Float8E8M0::Rounding>(call.Integer(1))};
  const int64_t elements = y.elements();
  Chunk chunk;
  for (int64_t start = 0; start < elements; start += kChunk) {
    const int64_t count = elements - start < kChunk ? elements - start : kChunk;
    // Two switches a chunk, not one for every pair of types.
    int32_t result = DispatchReal(call, x.type(), [&](auto zero) {
      chunk.Load(x.data<const decltype(zero)>() + start, count);
      return 0;
    });
    if (result == 0) {
      result = DispatchReal(call, y.type(), [&](auto zero) {
        chunk.Store(y.data<decltype(zero)>() + start, count, options);
        return 0;
      });
    }
    if (result != 0) return result;
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_Cast(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Cast(Call(arguments));
}
