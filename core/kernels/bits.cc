#include "core/kernels/bits.h"

#include "core/kernels/elements.h"

namespace slipway::kernels {
namespace {

// Of integers without further bits; the others follow from wrapping around.
template <typename Wide>
Wide ShiftLeft(Wide x, Wide count, int bits) {
  if (count < 0 || static_cast<uint64_t>(count) >= static_cast<uint64_t>(bits)) return 0;
  return static_cast<Wide>(static_cast<uint64_t>(x) << count);
}
template <typename Wide>
Wide ShiftRight(Wide x, Wide count, int bits) {
  if (count < 0 || static_cast<uint64_t>(count) >= static_cast<uint64_t>(bits)) {
    return x < 0 ? static_cast<Wide>(-1) : 0;
  }
  return x >> count;
}

// Of pairs of integers.
template <typename Function>
int32_t Combine(const Call& call, Function function) {
  return MapPairs(call, [&](auto a, auto b) {
    if constexpr (__is_same(decltype(a), double)) {
      return a;  // Type rules keep floats away.
    } else {
      return function(a, b);
    }
  });
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_BitwiseAnd(void** arguments) {
  return Combine(Call(arguments), [](auto a, auto b) { return a & b; });
}
int32_t slipway_BitwiseOr(void** arguments) {
  return Combine(Call(arguments), [](auto a, auto b) { return a | b; });
}
int32_t slipway_BitwiseXor(void** arguments) {
  return Combine(Call(arguments), [](auto a, auto b) { return a ^ b; });
}

int32_t slipway_BitwiseNot(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const uint8_t* from = x.data<const uint8_t>();
  uint8_t* to = call.output(0).data<uint8_t>();
  for (int64_t i = 0; i < x.elements() * ByteSize(x.type()); ++i) {
    to[i] = static_cast<uint8_t>(~from[i]);
  }
  return 0;
}

int32_t slipway_BitShift(void** arguments) {
  const Call call(arguments);
  const bool right = call.Integer(0) != 0;
  const int bits = static_cast<int>(8 * ByteSize(call.input(0).type()));
  return Combine(call, [&](auto x, auto count) {
    return right ? ShiftRight(x, count, bits) : ShiftLeft(x, count, bits);
  });
}

int32_t slipway_BitCast(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const uint8_t* from = x.data<const uint8_t>();
  uint8_t* to = y.data<uint8_t>();
  const bool to_bool = y.type() == Type::kBool;
  for (int64_t i = 0; i < x.elements() * ByteSize(x.type()); ++i) {
    to[i] = to_bool ? from[i] != 0 : from[i];
  }
  return 0;
}
