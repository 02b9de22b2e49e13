#include "core/kernels/training.h"

#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"

namespace slipway::kernels {
namespace {

constexpr int kMaxStates = 2;

// step(value, gradient, state): changes the value and the states of one element.
template <int states, typename Step>
int32_t ForEachElement(const Call& call, Step step) {
  const int count = (call.num_inputs() - 2) / (2 + states);
  for (int i = 0; i < count; ++i) {
    const Operand x = call.input(2 + i);
    const Operand gradient = call.input(2 + count + i);
    for (int64_t e = 0; e < x.elements(); ++e) {
      double value = NumberAt(x, e);
      double state[kMaxStates] = {};
      for (int s = 0; s < states; ++s) {
        state[s] = NumberAt(call.input(2 + (2 + s) * count + i), e);
      }
      step(value, NumberAt(gradient, e), state);
      if (call.output(i).present()) SetNumber(call.output(i), e, value);
      for (int s = 0; s < states; ++s) {
        const Operand made = call.output((1 + s) * count + i);
        if (made.present()) SetNumber(made, e, state[s]);
      }
    }
  }
  return 0;
}

int32_t Adagrad(const Call& call) {
  const double rate = NumberAt(call.input(0), 0) / (1 + NumberAt(call.input(1), 0) * call.Real(0));
  return ForEachElement<1>(call, [&](double& x, double gradient, double* state) {
    const double slope = call.Real(2) * x + gradient;
    state[0] += slope * slope;
    x -= rate * slope / (Sqrt(state[0]) + call.Real(1));
  });
}

int32_t Adam(const Call& call) {
  const double alpha = call.Real(0);
  const double beta = call.Real(1);
  const double steps = NumberAt(call.input(1), 0);
  double rate = NumberAt(call.input(0), 0);
  if (steps > 0) rate *= Sqrt(1 - Pow(beta, steps)) / (1 - Pow(alpha, steps));
  return ForEachElement<2>(call, [&](double& x, double gradient, double* state) {
    const double slope = call.Real(3) * x + gradient;
    state[0] = alpha * state[0] + (1 - alpha) * slope;
    state[1] = beta * state[1] + (1 - beta) * slope * slope;
    x -= rate * state[0] / (Sqrt(state[1]) + call.Real(2));
    x *= 1 - call.Real(4);
  });
}

int32_t Momentum(const Call& call) {
  const double alpha = call.Real(0);
  // The first gradient counts in full.
  const double beta = NumberAt(call.input(1), 0) > 0 ? call.Real(1) : 1;
  const double rate = NumberAt(call.input(0), 0);
  const bool nesterov = call.Integer(3) != 0;
  return ForEachElement<1>(call, [&](double& x, double gradient, double* state) {
    const double slope = call.Real(2) * x + gradient;
    state[0] = alpha * state[0] + beta * slope;
    x -= rate * (nesterov ? slope + alpha * state[0] : state[0]);
  });
}

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_Adagrad(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Adagrad(Call(arguments));
}

int32_t slipway_Adam(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Adam(Call(arguments));
}

int32_t slipway_Momentum(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Momentum(Call(arguments));
}
