// What kernels share that make each element of their result from the elements at its place. Freestanding: see call.h.
//
// They compute with widened numbers (types.h), some hundred at a time: what knows element types is Load and Store alone,
// and a kernel is compiled three times at most, not once for every type.
#ifndef SLIPWAY_CORE_KERNELS_ELEMENTS_H_
#define SLIPWAY_CORE_KERNELS_ELEMENTS_H_

#include <stdint.h>

#include "core/kernels/call.h"
#include "core/kernels/places.h"

namespace slipway::kernels {

// Elements that are loaded at a time, at most.
inline constexpr int64_t kChunk = 256;

// `count` elements of x, widened: number `first`, and the others `step` apart. Wide is that of x's type; bool is as
// integers are.
template <typename Wide>
void Load(const Operand& x, int64_t first, int64_t step, int64_t count, Wide* to);
extern template void Load(const Operand&, int64_t, int64_t, int64_t, double*);
extern template void Load(const Operand&, int64_t, int64_t, int64_t, int64_t*);
extern template void Load(const Operand&, int64_t, int64_t, int64_t, uint64_t*);
// Narrows to `count` elements of y: number `first`, and the others `step` apart.
template <typename Wide>
void Store(const Wide* from, int64_t first, int64_t step, int64_t count, const Operand& y);
extern template void Store(const double*, int64_t, int64_t, int64_t, const Operand&);
extern template void Store(const int64_t*, int64_t, int64_t, int64_t, const Operand&);
extern template void Store(const uint64_t*, int64_t, int64_t, int64_t, const Operand&);

inline bool IsFloat(Type type) {
  return type == Type::kFloat32 || type == Type::kFloat64 || type == Type::kFloat16 ||
         type == Type::kBfloat16;
}

// function(Wide()) with what elements of `type` are widened to.
template <typename Function>
int32_t DispatchWide(Type type, Function function) {
  if (IsFloat(type)) return function(double());
  return type == Type::kUint64 ? function(uint64_t()) : function(int64_t());
}

// The highest and the lowest number of a type; infinities of floats. REQUIRES: Wide is what the type is widened to.
template <typename Wide>
Wide HighestOf(Type type) {
  if constexpr (__is_same(Wide, double)) {
    return __builtin_inf();
  } else {
    if (type == Type::kBool) return 1;
    const bool is_signed =
        type == Type::kInt8 || type == Type::kInt16 || type == Type::kInt32 || type == Type::kInt64;
    return static_cast<Wide>(~uint64_t{0} >> (64 - 8 * ByteSize(type) + is_signed));
  }
}
template <typename Wide>
Wide LowestOf(Type type) {
  if constexpr (__is_same(Wide, double)) {
    return -__builtin_inf();
  } else {
    const bool is_signed =
        type == Type::kInt8 || type == Type::kInt16 || type == Type::kInt32 || type == Type::kInt64;
    return is_signed ? static_cast<Wide>(-HighestOf<Wide>(type) - 1) : 0;
  }
}

// Integers wrap around.
template <typename Wide>
Wide Plus(Wide a, Wide b) {
  if constexpr (__is_same(Wide, double)) return a + b;
  return static_cast<Wide>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename Wide>
Wide Times(Wide a, Wide b) {
  if constexpr (__is_same(Wide, double)) return a * b;
  return static_cast<Wide>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <typename Wide>
Wide Minus(Wide a, Wide b) {
  if constexpr (__is_same(Wide, double)) return a - b;
  return static_cast<Wide>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <typename Wide>
Wide Magnitude(Wide x) {
  if constexpr (__is_same(Wide, double)) return __builtin_fabs(x);
  return x < 0 ? static_cast<Wide>(-static_cast<uint64_t>(x)) : x;
}

// The lower and the higher of two; NaN where one is NaN.
template <typename Wide>
Wide Lower(Wide a, Wide b) {
  return a < b || a != a ? a : b;
}
template <typename Wide>
Wide Higher(Wide a, Wide b) {
  return a > b || a != a ? a : b;
}

// The integer of the type that is next to `value` towards zero; 0 of NaN.
template <typename Wide>
Wide Saturated(double value, Type type) {
  const auto highest = HighestOf<Wide>(type);
  const auto lowest = LowestOf<Wide>(type);
  if (value != value) return 0;
  if (value <= static_cast<double>(lowest)) return lowest;
  return value >= static_cast<double>(highest) ? highest : static_cast<Wide>(value);
}

// Strides that read x as a tensor of y's shape, to which it broadcasts: 0 along what is repeated.
PerDimension StridesWithin(const Operand& x, const Operand& y);
// Strides that lead from an element of x to the one that it goes into when dimensions are reduced: those that are not 0.
PerDimension StridesOfReduced(const Operand& x, const PerDimension& reduced);

// A walk over the elements of y, and over those of what broadcasts to it, row by row: along a row, an input is read one by
// one or stands still. Rows are as long as they can be.
class BroadcastRows {
 public:
  static constexpr int kMostInputs = 3;

  // REQUIRES: count <= kMostInputs
  BroadcastRows(const Operand* inputs, int count, const Operand& y);
  // The same for inputs that are read by strides over y's dimensions: 0 along what is repeated.
  BroadcastRows(const PerDimension* strides, int count, const Operand& y);

  // Goes to the next row, at first to the first one. False when there is none left.
  bool Next();
  int64_t first() const { return number_ * length_; }  // The row's first element of y.
  int64_t length() const { return length_; }
  // The element of an input that belongs to the row's first, and how far it is to the next.
  int64_t at(int input) const { return at_[input]; }
  int64_t step(int input) const { return step_[input]; }

 private:
  int count_;
  int64_t length_ = 1;
  int64_t rows_ = 1;
  int64_t number_ = -1;
  // What is outside of rows, from the inside to the outside.
  int outer_ = 0;
  PerDimension extents_;
  PerDimension index_;
  PerDimension strides_[kMostInputs];
  int64_t at_[kMostInputs] = {};
  int64_t step_[kMostInputs] = {};
};

// Calls visit(first, at, count) for runs of elements of y of at most kChunk: the number of the first, an array of those of
// the elements of the inputs that broadcast there, and how many. `visit` reads inputs by `rows.step`.
template <typename Visit>
void ForEachRun(BroadcastRows& rows, int inputs, Visit visit) {
  while (rows.Next()) {
    for (int64_t done = 0; done < rows.length(); done += kChunk) {
      int64_t at[BroadcastRows::kMostInputs];
      for (int k = 0; k < inputs; ++k) at[k] = rows.at(k) + done * rows.step(k);
      const int64_t left = rows.length() - done;
      visit(rows.first() + done, at, left < kChunk ? left : kChunk);
    }
  }
}

namespace internal {
template <typename Result>
struct Stored {
  using Wide = Result;
};
template <>
struct Stored<bool> {
  using Wide = int64_t;
};
}  // namespace internal

// Kernels of an operator as a whole, from the function of its elements: of widened numbers, to such or to bool.

// y = function(x), where x's type is widened to Wide.
template <typename Wide, typename Function>
int32_t MapWide(const Call& call, Function function) {
  using Result = typename internal::Stored<decltype(function(Wide()))>::Wide;
  const Operand x = call.input(0);
  const int64_t elements = x.elements();
  for (int64_t first = 0; first < elements; first += kChunk) {
    const int64_t count = elements - first < kChunk ? elements - first : kChunk;
    Wide from[kChunk];
    Result to[kChunk];
    Load(x, first, 1, count, from);
    for (int64_t i = 0; i < count; ++i) to[i] = function(from[i]);
    Store(to, first, 1, count, call.output(0));
  }
  return 0;
}
// The same of floats; and of numbers of any type, where the function is generic.
template <typename Function>
int32_t MapFloats(const Call& call, Function function) {
  return MapWide<double>(call, function);
}
template <typename Function>
int32_t MapNumbers(const Call& call, Function function) {
  return DispatchWide(call.input(0).type(),
                      [&](auto zero) { return MapWide<decltype(zero)>(call, function); });
}

// y = function(a, b) after broadcasting, of numbers of one type; the function is generic.
template <typename Function>
int32_t MapPairs(const Call& call, Function function) {
  return DispatchWide(call.input(0).type(), [&](auto zero) {
    using Wide = decltype(zero);
    using Result = typename internal::Stored<decltype(function(zero, zero))>::Wide;
    const Operand inputs[] = {call.input(0), call.input(1)};
    BroadcastRows rows(inputs, 2, call.output(0));
    ForEachRun(rows, 2, [&](int64_t first, const int64_t* at, int64_t count) {
      Wide a[kChunk];
      Wide b[kChunk];
      Result y[kChunk];
      Load(inputs[0], at[0], rows.step(0), count, a);
      Load(inputs[1], at[1], rows.step(1), count, b);
      for (int64_t i = 0; i < count; ++i) y[i] = function(a[i], b[i]);
      Store(y, first, 1, count, call.output(0));
    });
    return 0;
  });
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_ELEMENTS_H_
