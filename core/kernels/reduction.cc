#include "core/kernels/reduction.h"

#include "core/kernels/elements.h"
#include "core/kernels/extents.h"
#include "core/kernels/math.h"

namespace slipway::kernels {
namespace {

// The dimensions of x that are reduced. Returns what is wrong with the axes, null where nothing is.
const char* ReducedDimensions(const Call& call, PerDimension& reduced) {
  const int rank = call.input(0).rank();
  const Operand axes = call.input(1);
  if (axes.present() && axes.elements() > 0) return NamedAxes(axes, rank, reduced);
  for (int d = 0; d < rank; ++d) reduced[d] = call.Integer(1) == 0;
  return nullptr;
}

const char* ReduceExtents(const Call& call, Extents& extents) {
  PerDimension reduced;
  const char* wrong = ReducedDimensions(call, reduced);
  for (int d = 0; d < call.input(0).rank() && wrong == nullptr; ++d) {
    if (reduced[d] == 0) {
      extents.Add(0, call.input(0).extent(d));
    } else if (call.Integer(0) != 0) {
      extents.Add(0, 1);
    }
  }
  return wrong;
}

// Strides that lead from an element of x to its result. REQUIRES: the axes are right.
PerDimension StridesOfResult(const Call& call) {
  PerDimension reduced;
  ReducedDimensions(call, reduced);
  return StridesOfReduced(call.input(0), reduced);
}

// result = op(result, x) for every element x that goes into it.
template <typename Wide, typename Op>
void Accumulate(const Call& call, Wide* results, Op op) {
  const Operand x = call.input(0);
  const PerDimension strides = StridesOfResult(call);
  BroadcastRows rows(&strides, 1, x);
  ForEachRun(rows, 1, [&](int64_t first, const int64_t* at, int64_t count) {
    Wide values[kChunk];
    Load(x, first, 1, count, values);
    Wide* result = results + at[0];
    if (rows.step(0) == 0) {
      Wide total = *result;
      for (int64_t i = 0; i < count; ++i) total = op(total, values[i]);
      *result = total;
    } else {
      for (int64_t i = 0; i < count; ++i) {
        result[i * rows.step(0)] = op(result[i * rows.step(0)], values[i]);
      }
    }
  });
}

// The reduction as a whole. identity(Wide()) is what results begin with, finish(result, number of elements) what they end
// with.
template <typename Identity, typename Op, typename Finish>
int32_t Reduce(void** arguments, Identity identity, Op op, Finish finish) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, ReduceExtents)) return call.Fail(wrong);
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  return DispatchWide(x.type(), [&](auto zero) {
    using Wide = decltype(zero);
    const int64_t results = y.elements();
    const Scratch<Wide> result(call, results);
    if (!result) return call.Fail(kOutOfScratch);
    for (int64_t i = 0; i < results; ++i) result[i] = identity(x.type(), zero);
    Accumulate(call, result.get(), op);
    const int64_t count = results == 0 ? 0 : x.elements() / results;
    for (int64_t i = 0; i < results; ++i) result[i] = finish(result[i], count);
    Store(result.get(), 0, 1, results, y);
    return 0;
  });
}

constexpr auto kZero = [](Type, auto zero) { return zero; };
constexpr auto kOne = [](Type, auto zero) { return static_cast<decltype(zero)>(1); };
constexpr auto kAsItIs = [](auto result, int64_t) { return result; };

template <typename Better>
int32_t ArgBest(void** arguments, Better better) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const int axis = static_cast<int>(call.Integer(0));
  const bool last = call.Integer(1) != 0;
  const int64_t extent = x.extent(axis);
  const int64_t inner = x.Product(axis + 1, x.rank());
  int64_t* y = call.output(0).data<int64_t>();
  if (extent == 0 && call.output(0).elements() != 0) {
    return call.Fail("no elements have no best one");
  }
  return DispatchWide(x.type(), [&](auto best) {
    for (int64_t row = 0; row < x.Product(0, axis) * inner; ++row) {
      const int64_t first = row / inner * extent * inner + row % inner;
      decltype(best) values[kChunk];
      for (int64_t e = 0; e < extent; ++e) {
        if (e % kChunk == 0) {
          const int64_t left = extent - e;
          Load(x, first + e * inner, inner, left < kChunk ? left : kChunk, values);
        }
        const auto value = values[e % kChunk];
        const bool nan = value != value;
        const bool equal = nan ? best != best : value == best;
        if (e == 0 || (equal ? last : best == best && (nan || better(value, best)))) {
          best = value;
          y[row] = e;
        }
      }
    }
    return 0;
  });
}

template <typename Identity, typename Op>
int32_t Cumulate(void** arguments, Identity identity, Op op) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const bool exclusive = call.Integer(0) != 0;
  const bool reverse = call.Integer(1) != 0;
  if (call.input(1).elements() != 1) return call.Fail("the axis (input 1) is not one number");
  const int along = AxisAt(call.input(1), 0, x.rank());
  if (along < 0) return call.Fail("the axis (input 1) is none of x");
  const int64_t extent = x.extent(along);
  const int64_t inner = x.Product(along + 1, x.rank());
  return DispatchWide(x.type(), [&](auto zero) {
    using Wide = decltype(zero);
    for (int64_t row = 0; row < x.Product(0, along) * inner; ++row) {
      const int64_t first = row / inner * extent * inner + row % inner;
      Wide total = identity(x.type(), zero);
      for (int64_t e = 0; e < extent; ++e) {
        const int64_t at = first + (reverse ? extent - 1 - e : e) * inner;
        Wide value;
        Load(x, at, 1, 1, &value);
        const Wide next = op(total, value);
        Store(exclusive ? &total : &next, at, 1, 1, call.output(0));
        total = next;
      }
    }
    return 0;
  });
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Reduce_extents(void** arguments) {
  return WriteExtents(Call(arguments), ReduceExtents);
}
int32_t slipway_ReduceL1(void** arguments) {
  return Reduce(
      arguments, kZero, [](auto a, auto b) { return Plus(a, Magnitude(b)); }, kAsItIs);
}
int32_t slipway_ReduceL2(void** arguments) {
  return Reduce(
      arguments, kZero, [](auto a, auto b) { return Plus(a, Times(b, b)); },
      [](auto result, int64_t) {
        if constexpr (__is_same(decltype(result), double)) return Sqrt(result);
        // Squares that wrapped around are no negative number either.
        const auto squares = static_cast<double>(static_cast<uint64_t>(result));
        return static_cast<decltype(result)>(Sqrt(squares));
      });
}
int32_t slipway_ReduceLogSum(void** arguments) {
  return Reduce(
      arguments, kZero, [](auto a, auto b) { return Plus(a, b); },
      [](auto result, int64_t) {
        return static_cast<decltype(result)>(Log(static_cast<double>(result)));
      });
}
int32_t slipway_ReduceMax(void** arguments) {
  return Reduce(
      arguments, [](Type type, auto zero) { return LowestOf<decltype(zero)>(type); },
      [](auto a, auto b) { return Higher(a, b); }, kAsItIs);
}
int32_t slipway_ReduceMin(void** arguments) {
  return Reduce(
      arguments, [](Type type, auto zero) { return HighestOf<decltype(zero)>(type); },
      [](auto a, auto b) { return Lower(a, b); }, kAsItIs);
}
int32_t slipway_ReduceProd(void** arguments) {
  return Reduce(
      arguments, kOne, [](auto a, auto b) { return Times(a, b); }, kAsItIs);
}
int32_t slipway_ReduceSum(void** arguments) {
  return Reduce(
      arguments, kZero, [](auto a, auto b) { return Plus(a, b); }, kAsItIs);
}
int32_t slipway_ReduceSumSquare(void** arguments) {
  return Reduce(
      arguments, kZero, [](auto a, auto b) { return Plus(a, Times(b, b)); }, kAsItIs);
}

int32_t slipway_ReduceMean(void** arguments) {
  const Call call(arguments);
  if (!IsFloat(call.input(0).type()) && call.input(0).elements() == 0 &&
      call.output(0).elements() != 0) {
    return call.Fail("no integers have no mean");
  }
  return Reduce(
      arguments, kZero, [](auto a, auto b) { return Plus(a, b); },
      [](auto result, int64_t count) { return result / static_cast<decltype(result)>(count); });
}

int32_t slipway_ReduceLogSumExp(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, ReduceExtents)) return call.Fail(wrong);
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const int64_t results = y.elements();
  const Scratch<double> highest(call, results);
  const Scratch<double> sum(call, results);
  if (!highest || !sum) return call.Fail(kOutOfScratch);
  for (int64_t i = 0; i < results; ++i) highest[i] = -kInfinity;
  Accumulate(call, highest.get(), [](double a, double b) { return Higher(a, b); });
  for (int64_t i = 0; i < results; ++i) {
    // What is infinite takes nothing away: the difference to itself would be NaN.
    if (IsInfinite(highest[i])) highest[i] = 0;
    sum[i] = 0;
  }
  const PerDimension strides = StridesOfResult(call);
  BroadcastRows rows(&strides, 1, x);
  ForEachRun(rows, 1, [&](int64_t first, const int64_t* at, int64_t count) {
    double values[kChunk];
    Load(x, first, 1, count, values);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t result = at[0] + i * rows.step(0);
      sum[result] += Exp(values[i] - highest[result]);
    }
  });
  for (int64_t i = 0; i < results; ++i) sum[i] = highest[i] + Log(sum[i]);
  Store(sum.get(), 0, 1, results, y);
  return 0;
}

int32_t slipway_ArgMax(void** arguments) {
  return ArgBest(arguments, [](auto value, auto best) { return value > best; });
}
int32_t slipway_ArgMin(void** arguments) {
  return ArgBest(arguments, [](auto value, auto best) { return value < best; });
}
int32_t slipway_CumSum(void** arguments) {
  return Cumulate(arguments, kZero, [](auto a, auto b) { return Plus(a, b); });
}
int32_t slipway_CumProd(void** arguments) {
  return Cumulate(arguments, kOne, [](auto a, auto b) { return Times(a, b); });
}
