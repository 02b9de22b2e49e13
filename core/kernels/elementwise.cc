#include "core/kernels/elementwise.h"

#include "core/kernels/elements.h"
#include "core/kernels/math.h"

namespace slipway::kernels {
namespace {

double HardLogistic(double x, double alpha, double beta) {
  const double y = alpha * x + beta;
  return y < 0 ? 0 : y > 1 ? 1 : y;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Acos(void** arguments) { return MapFloats(Call(arguments), Acos); }
int32_t slipway_Acosh(void** arguments) { return MapFloats(Call(arguments), Acosh); }
int32_t slipway_Asin(void** arguments) { return MapFloats(Call(arguments), Asin); }
int32_t slipway_Asinh(void** arguments) { return MapFloats(Call(arguments), Asinh); }
int32_t slipway_Atan(void** arguments) { return MapFloats(Call(arguments), Atan); }
int32_t slipway_Atanh(void** arguments) { return MapFloats(Call(arguments), Atanh); }
int32_t slipway_Ceil(void** arguments) { return MapFloats(Call(arguments), Ceil); }
int32_t slipway_Cos(void** arguments) { return MapFloats(Call(arguments), Cos); }
int32_t slipway_Cosh(void** arguments) { return MapFloats(Call(arguments), Cosh); }
int32_t slipway_Erf(void** arguments) { return MapFloats(Call(arguments), Erf); }
int32_t slipway_Exp(void** arguments) { return MapFloats(Call(arguments), Exp); }
int32_t slipway_Floor(void** arguments) { return MapFloats(Call(arguments), Floor); }
int32_t slipway_Log(void** arguments) { return MapFloats(Call(arguments), Log); }
int32_t slipway_Reciprocal(void** arguments) {
  return MapFloats(Call(arguments), [](double x) { return 1 / x; });
}
int32_t slipway_Round(void** arguments) { return MapFloats(Call(arguments), RoundHalfEven); }
int32_t slipway_Sin(void** arguments) { return MapFloats(Call(arguments), Sin); }
int32_t slipway_Sinh(void** arguments) { return MapFloats(Call(arguments), Sinh); }
int32_t slipway_Sqrt(void** arguments) { return MapFloats(Call(arguments), Sqrt); }
int32_t slipway_Tan(void** arguments) { return MapFloats(Call(arguments), Tan); }
int32_t slipway_Tanh(void** arguments) { return MapFloats(Call(arguments), Tanh); }

int32_t slipway_Elu(void** arguments) {
  const Call call(arguments);
  const double alpha = call.Real(0);
  return MapFloats(call, [&](double x) { return x < 0 ? alpha * Expm1(x) : x; });
}
int32_t slipway_HardSigmoid(void** arguments) {
  const Call call(arguments);
  const double alpha = call.Real(0);
  const double beta = call.Real(1);
  return MapFloats(call, [&](double x) { return HardLogistic(x, alpha, beta); });
}
int32_t slipway_HardSwish(void** arguments) {
  return MapFloats(Call(arguments), [](double x) { return x * HardLogistic(x, 1. / 6, 0.5); });
}
int32_t slipway_LeakyRelu(void** arguments) {
  const Call call(arguments);
  const double alpha = call.Real(0);
  return MapFloats(call, [&](double x) { return x < 0 ? alpha * x : x; });
}
int32_t slipway_Sigmoid(void** arguments) { return MapFloats(Call(arguments), Logistic); }
int32_t slipway_Relu(void** arguments) {
  return MapNumbers(Call(arguments), [](auto x) { return x < 0 ? decltype(x){0} : x; });
}

int32_t slipway_Abs(void** arguments) {
  return MapNumbers(Call(arguments), [](auto x) { return Magnitude(x); });
}
int32_t slipway_Neg(void** arguments) {
  return MapNumbers(Call(arguments), [](auto x) {
    if constexpr (__is_same(decltype(x), double)) return -x;
    return Minus(decltype(x){0}, x);
  });
}
int32_t slipway_Sign(void** arguments) {
  return MapNumbers(Call(arguments), [](auto x) {
    if (x > 0) return static_cast<decltype(x)>(1);
    return x < 0 ? static_cast<decltype(x)>(-1) : x;
  });
}

int32_t slipway_Clip(void** arguments) {
  const Call call(arguments);
  return DispatchWide(call.input(0).type(), [&](auto zero) {
    using Wide = decltype(zero);
    const auto bound = [&](int input, Wide without) {
      const Operand operand = call.input(input);
      if (operand.present()) Load(operand, 0, 1, 1, &without);
      return without;
    };
    const Type type = call.input(0).type();
    const Wide low = bound(1, LowestOf<Wide>(type));
    const Wide high = bound(2, HighestOf<Wide>(type));
    return MapWide<Wide>(call, [&](Wide x) {
      const Wide raised = x < low ? low : x;
      return raised > high ? high : raised;
    });
  });
}

int32_t slipway_Dropout(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const Operand mask = call.output(1);
  if (call.output(0).present()) {
    __builtin_memcpy(call.output(0).data<uint8_t>(), x.data<const uint8_t>(),
                     static_cast<uint64_t>(x.elements() * ByteSize(x.type())));
  }
  for (int64_t i = 0; mask.present() && i < x.elements(); ++i) mask.data<bool>()[i] = true;
  return 0;
}
