#include "core/kernels/random.h"

#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"

namespace slipway::kernels {
namespace {

class Generator {
 public:
  explicit Generator(int64_t seed) {
    state_[0] = static_cast<uint32_t>(seed);
    for (uint32_t i = 1; i < kSize; ++i) {
      state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
    }
  }

  // In [0, 1).
  double Uniform() {
    const uint32_t high = Next() >> 5;
    return (static_cast<double>(high) * 0x1p26 + (Next() >> 6)) * 0x1p-53;
  }
  double Normal() {
    const double radius = Sqrt(-2 * Log(1 - Uniform()));
    return radius * Cos(2 * kPi * Uniform());
  }

 private:
  static constexpr int kSize = 624;

  uint32_t Next() {
    if (next_ == kSize) Turn();
    uint32_t y = state_[next_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  void Turn() {
    for (int i = 0; i < kSize; ++i) {
      const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
      state_[i] = state_[(i + 397) % kSize] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0u);
    }
    next_ = 0;
  }

  uint32_t state_[kSize];
  int next_ = kSize;
};

int32_t RandomNormal(const Call& call) {
  Generator generator(call.Integer(0));
  const Operand y = call.output(0);
  for (int64_t i = 0; i < y.elements(); ++i) {
    SetNumber(y, i, call.Real(1) + call.Real(2) * generator.Normal());
  }
  return 0;
}

int32_t RandomUniform(const Call& call) {
  Generator generator(call.Integer(0));
  const Operand y = call.output(0);
  const double low = call.Real(1);
  const double span = call.Real(2) - low;
  for (int64_t i = 0; i < y.elements(); ++i) SetNumber(y, i, low + span * generator.Uniform());
  return 0;
}

int32_t Bernoulli(const Call& call) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  return DispatchAny(call, y.type(), [&](auto zero) {
    using T = decltype(zero);
    Generator generator(call.Integer(0));
    for (int64_t i = 0; i < y.elements(); ++i) {
      y.data<T>()[i] = Narrow<T>(generator.Uniform() < NumberAt(x, i) ? 1 : 0);
    }
    return 0;
  });
}

int32_t Multinomial(const Call& call) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const int64_t classes = x.extent(1);
  const int64_t samples = y.extent(1);
  const Scratch<double> sums(call, classes);
  if (!sums) return call.Fail(kOutOfScratch);
  Generator generator(call.Integer(0));
  for (int64_t b = 0; b < x.extent(0); ++b) {
    double largest = -kInfinity;
    for (int64_t c = 0; c < classes; ++c) {
      const double value = NumberAt(x, b * classes + c);
      if (value > largest) largest = value;
    }
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c) {
      sum += Exp(NumberAt(x, b * classes + c) - largest);
      sums[c] = sum;
    }
    if (samples > 0 && !(sum > 0)) return call.Fail("the classes of a row have no probabilities");
    for (int64_t s = 0; s < samples; ++s) {
      const double wanted = generator.Uniform() * sum;
      int64_t chosen = 0;
      while (chosen + 1 < classes && sums[chosen] <= wanted) ++chosen;
      if (y.type() == Type::kInt32) {
        y.data<int32_t>()[b * samples + s] = static_cast<int32_t>(chosen);
      } else {
        y.data<int64_t>()[b * samples + s] = chosen;
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_RandomNormal(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return RandomNormal(Call(arguments));
}

int32_t slipway_RandomUniform(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return RandomUniform(Call(arguments));
}

int32_t slipway_Bernoulli(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Bernoulli(Call(arguments));
}

int32_t slipway_Multinomial(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Multinomial(Call(arguments));
}
