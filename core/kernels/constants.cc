#include "core/kernels/constants.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/math.h"

namespace slipway::kernels {
namespace {

template <typename T>
int32_t EyeLike(const Call& call) {
  const Operand y = call.output(0);
  const int64_t diagonal = call.Integer(0);
  const int64_t width = y.extent(1);
  __builtin_memset(y.data<T>(), 0, static_cast<uint64_t>(y.elements()) * sizeof(T));
  for (int64_t row = 0; row < y.extent(0); ++row) {
    // Compared before it is added: the diagonal is any number.
    if (diagonal < -row || diagonal >= width - row) continue;
    y.data<T>()[row * width + row + diagonal] = Narrow<T>(1);
  }
  return 0;
}

const char* ShapeExtents(const Call& call, Extents& extents) {
  const Operand shape = call.input(0);
  for (int64_t d = 0; d < shape.elements(); ++d) extents.Add(0, IndexAt(shape, d));
  return nullptr;
}

// How many steps lead from start to before limit; -1 where that is no number.
int64_t Steps(double start, double limit, double delta) {
  const double steps = Ceil((limit - start) / delta);
  if (IsNan(steps)) return -1;
  if (steps <= 0) return 0;
  return steps <= static_cast<double>(kMostExtent) ? static_cast<int64_t>(steps) : kMostExtent + 1;
}
template <typename Integer>
int64_t Steps(Integer start, Integer limit, Integer delta) {
  if (delta == 0) return -1;
  const bool up = delta > 0;
  if (up ? limit <= start : limit >= start) return 0;
  // Differences of whatever two numbers fit without a sign.
  const auto low = static_cast<uint64_t>(up ? start : limit);
  const auto high = static_cast<uint64_t>(up ? limit : start);
  const uint64_t step = up ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
  const uint64_t steps = (high - low - 1) / step + 1;
  return steps <= kMostExtent ? static_cast<int64_t>(steps) : kMostExtent + 1;
}

template <typename T>
int64_t RangeCount(const Call& call) {
  const auto number = [&](int i) { return Widen(call.input(i).data<const T>()[0]); };
  return Steps(number(0), number(1), number(2));
}
constexpr char kNoSteps[] = "start, limit and delta make no number of steps";

template <typename T>
int32_t Range(const Call& call) {
  const auto start = Widen(call.input(0).data<const T>()[0]);
  const auto delta = Widen(call.input(2).data<const T>()[0]);
  const Operand y = call.output(0);
  if (y.elements() != RangeCount<T>(call)) return call.Fail(kOtherExtents);
  for (int64_t i = 0; i < y.elements(); ++i) {
    y.data<T>()[i] = Narrow<T>(start + static_cast<WideOf<T>>(i) * delta);
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_ConstantOfShape_extents(void** arguments) {
  return WriteExtents(Call(arguments), ShapeExtents);
}

int32_t slipway_ConstantOfShape(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, ShapeExtents)) return call.Fail(wrong);
  const Operand y = call.output(0);
  const char* element = reinterpret_cast<const char*>(call.Integers());
  const int64_t bytes = ByteSize(y.type());
  const int64_t elements = y.elements();
  char* to = y.data<char>();
  for (int64_t i = 0; i < elements; ++i, to += bytes) {
    __builtin_memcpy(to, element, static_cast<uint64_t>(bytes));
  }
  return 0;
}

int32_t slipway_EyeLike(void** arguments) {
  const Call call(arguments);
  return DispatchAny(call, call.output(0).type(),
                     [&](auto zero) { return EyeLike<decltype(zero)>(call); });
}

int32_t slipway_Range_count(void** arguments) {
  const Call call(arguments);
  return DispatchNumber(call, call.input(0).type(), [&](auto zero) {
    const int64_t count = RangeCount<decltype(zero)>(call);
    return count < 0 ? call.Fail(kNoSteps) : call.Count(count);
  });
}

int32_t slipway_Range(void** arguments) {
  const Call call(arguments);
  return DispatchNumber(call, call.output(0).type(),
                        [&](auto zero) { return Range<decltype(zero)>(call); });
}
