#include "core/kernels/arithmetic.h"

#include "core/kernels/elements.h"
#include "core/kernels/math.h"

namespace slipway::kernels {
namespace {

template <typename Wide>
constexpr bool kIsReal = __is_same(Wide, double);

template <typename Wide>
Wide Over(Wide a, Wide b) {
  if constexpr (__is_same(Wide, int64_t)) {
    // The lowest number divided by -1 does not fit and wraps.
    if (b == -1) return Minus(int64_t{0}, a);
  }
  return a / b;
}

template <typename Wide>
Wide Remainder(Wide a, Wide b, bool sign_of_a) {
  if constexpr (kIsReal<Wide>) {
    const double rest = Fmod(a, b);
    if (sign_of_a) return rest;
    if (rest == 0) return CopySign(0, b);
    return (rest < 0) == (b < 0) ? rest : rest + b;
  } else {
    if (__is_same(Wide, int64_t) && b == static_cast<Wide>(-1)) return 0;
    const Wide rest = a % b;
    if (sign_of_a || rest == 0 || (rest < 0) == (b < 0)) return rest;
    return rest + b;
  }
}

// Whether an integer that is to divide is 0.
bool HasZero(const Operand& x) {
  if (IsFloat(x.type())) return false;
  return DispatchWide(x.type(), [&](auto zero) {
           for (int64_t i = 0; i < x.elements(); ++i) {
             Load(x, i, 1, 1, &zero);
             if (zero == 0) return 1;
           }
           return 0;
         }) != 0;
}
constexpr char kDividesByZero[] = "divides an integer by 0";

// base^exponent, wrapped around. By repeated squaring.
uint64_t WholePower(uint64_t base, uint64_t exponent) {
  uint64_t power = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power *= base;
    base *= base;
  }
  return power;
}
template <typename Base, typename Exponent>
Base WholePower(Base base, Exponent exponent) {
  uint64_t magnitude = static_cast<uint64_t>(exponent);
  if (exponent < 0) {
    if (base != 1 && (base > 0 || base != static_cast<Base>(-1))) return 0;
    magnitude = -magnitude;
  }
  return static_cast<Base>(WholePower(static_cast<uint64_t>(base), magnitude));
}

// finish(op(op(x0, x1), x2) ...), rounded once.
template <typename Op, typename Finish>
int32_t Fold(void** arguments, Op op, Finish finish) {
  const Call call(arguments);
  const Operand y = call.output(0);
  return DispatchWide(y.type(), [&](auto zero) {
    using Wide = decltype(zero);
    const Scratch<Wide> result(call, y.elements());
    if (!result) return call.Fail(kOutOfScratch);
    for (int n = 0; n < call.num_inputs(); ++n) {
      const Operand x = call.input(n);
      BroadcastRows rows(&x, 1, y);
      ForEachRun(rows, 1, [&](int64_t first, const int64_t* at, int64_t count) {
        Wide next[kChunk];
        Load(x, at[0], rows.step(0), count, next);
        for (int64_t i = 0; i < count; ++i) {
          result[first + i] = n == 0 ? next[i] : op(result[first + i], next[i]);
        }
      });
    }
    for (int64_t i = 0; i < y.elements(); ++i) result[i] = finish(result[i], call.num_inputs());
    Store(result.get(), 0, 1, y.elements(), y);
    return 0;
  });
}
constexpr auto kAsItIs = [](auto x, int) { return x; };

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Add(void** arguments) {
  return MapPairs(Call(arguments), [](auto a, auto b) { return Plus(a, b); });
}
int32_t slipway_Sub(void** arguments) {
  return MapPairs(Call(arguments), [](auto a, auto b) { return Minus(a, b); });
}
int32_t slipway_Mul(void** arguments) {
  return MapPairs(Call(arguments), [](auto a, auto b) { return Times(a, b); });
}
int32_t slipway_Div(void** arguments) {
  const Call call(arguments);
  if (HasZero(call.input(1))) return call.Fail(kDividesByZero);
  return MapPairs(call, [](auto a, auto b) { return Over(a, b); });
}
int32_t slipway_Mod(void** arguments) {
  const Call call(arguments);
  if (HasZero(call.input(1))) return call.Fail(kDividesByZero);
  const bool sign_of_a = call.Integer(0) != 0;
  return MapPairs(call, [&](auto a, auto b) { return Remainder(a, b, sign_of_a); });
}

int32_t slipway_Pow(void** arguments) {
  const Call call(arguments);
  const Operand inputs[] = {call.input(0), call.input(1)};
  const Type type = inputs[0].type();
  BroadcastRows rows(inputs, 2, call.output(0));
  return DispatchWide(type, [&](auto base) {
    using Base = decltype(base);
    return DispatchWide(inputs[1].type(), [&](auto exponent) {
      using Exponent = decltype(exponent);
      ForEachRun(rows, 2, [&](int64_t first, const int64_t* at, int64_t count) {
        Base a[kChunk];
        Exponent b[kChunk];
        Load(inputs[0], at[0], rows.step(0), count, a);
        Load(inputs[1], at[1], rows.step(1), count, b);
        for (int64_t i = 0; i < count; ++i) {
          if constexpr (kIsReal<Base>) {
            a[i] = Pow(a[i], static_cast<double>(b[i]));
          } else if constexpr (kIsReal<Exponent>) {
            a[i] = Saturated<Base>(Pow(static_cast<double>(a[i]), b[i]), type);
          } else {
            a[i] = WholePower(a[i], b[i]);
          }
        }
        Store(a, first, 1, count, call.output(0));
      });
      return 0;
    });
  });
}

int32_t slipway_Sum(void** arguments) {
  return Fold(
      arguments, [](auto a, auto b) { return Plus(a, b); }, kAsItIs);
}
int32_t slipway_Mean(void** arguments) {
  return Fold(
      arguments, [](auto a, auto b) { return Plus(a, b); },
      [](auto sum, int count) { return Over(sum, static_cast<decltype(sum)>(count)); });
}
int32_t slipway_Min(void** arguments) {
  return Fold(
      arguments, [](auto a, auto b) { return Lower(a, b); }, kAsItIs);
}
int32_t slipway_Max(void** arguments) {
  return Fold(
      arguments, [](auto a, auto b) { return Higher(a, b); }, kAsItIs);
}
