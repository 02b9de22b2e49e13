#include "core/kernels/recurrent.h"

#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"

namespace slipway::kernels {
namespace {

constexpr int kFixedParameters = 5;

// Numbered as in core/operators/recurrent.h.
enum ActivationKind : int64_t {
  kAffine = 0,
  kElu,
  kHardSigmoid,
  kLeakyRelu,
  kRelu,
  kScaledTanh,
  kSigmoid,
  kSoftplus,
  kSoftsign,
  kTanh,
  kThresholdedRelu,
};

struct Activation {
  ActivationKind kind;
  double alpha;
  double beta;
  double clip;  // Infinity for none.

  double operator()(double x) const {
    if (x > clip) x = clip;
    if (x < -clip) x = -clip;
    switch (kind) {
      case kAffine:
        return alpha * x + beta;
      case kElu:
        return x < 0 ? alpha * Expm1(x) : x;
      case kHardSigmoid: {
        const double y = alpha * x + beta;
        return y < 0 ? 0 : y > 1 ? 1 : y;
      }
      case kLeakyRelu:
        return x < 0 ? alpha * x : x;
      case kRelu:
        return x < 0 ? 0 : x;
      case kScaledTanh:
        return alpha * Tanh(beta * x);
      case kSigmoid:
        // Either way the exponential is of a negative number, which does not overflow.
        return x >= 0 ? 1 / (1 + Exp(-x)) : Exp(x) / (1 + Exp(x));
      case kSoftplus:
        return x > 0 ? x + Log1p(Exp(-x)) : Log1p(Exp(x));
      case kSoftsign:
        return x / (1 + Abs(x));
      case kTanh:
        return Tanh(x);
      case kThresholdedRelu:
        return x > alpha ? x : 0;
    }
    return x;
  }
};

// One direction of a network, and what one step of it does to the state of one sample.
struct Direction {
  int64_t width;   // Of x.
  int64_t hidden;  // Of the state.
  int gates;
  bool option;
  Activation activations[3];
  // Of this direction, as doubles. Biases are two lists of all gates' rows, peepholes three of one gate's.
  const double* w;
  const double* r;
  const double* bias;
  const double* peepholes;
  double* sums;  // Room for 2 * gates * hidden.

  // A row of w times x and its bias; a row of r times h and its bias.
  double FromInput(int64_t row, const double* x) const {
    double sum = bias[row];
    for (int64_t i = 0; i < width; ++i) sum += w[row * width + i] * x[i];
    return sum;
  }
  double FromState(int64_t row, const double* h) const {
    double sum = bias[gates * hidden + row];
    for (int64_t i = 0; i < hidden; ++i) sum += r[row * hidden + i] * h[i];
    return sum;
  }

  void StepRnn(const double* x, double* h) const {
    for (int64_t i = 0; i < hidden; ++i) sums[i] = FromInput(i, x) + FromState(i, h);
    for (int64_t i = 0; i < hidden; ++i) h[i] = activations[0](sums[i]);
  }

  // Gates: update, reset, hidden.
  void StepGru(const double* x, double* h) const {
    double* update = sums;
    double* reset = sums + hidden;
    double* made = sums + 2 * hidden;
    double* old = sums + 3 * hidden;
    for (int64_t i = 0; i < hidden; ++i) {
      update[i] = activations[0](FromInput(i, x) + FromState(i, h));
      reset[i] = activations[0](FromInput(hidden + i, x) + FromState(hidden + i, h));
    }
    for (int64_t i = 0; i < hidden; ++i) old[i] = option ? h[i] : reset[i] * h[i];
    for (int64_t i = 0; i < hidden; ++i) {
      const double state = FromState(2 * hidden + i, old);
      made[i] = activations[1](FromInput(2 * hidden + i, x) + (option ? reset[i] * state : state));
    }
    for (int64_t i = 0; i < hidden; ++i) h[i] = (1 - update[i]) * made[i] + update[i] * h[i];
  }

  // Gates: input, output, forget, cell. Peepholes: input, output, forget.
  void StepLstm(const double* x, double* h, double* c) const {
    for (int64_t row = 0; row < gates * hidden; ++row) {
      sums[row] = FromInput(row, x) + FromState(row, h);
    }
    for (int64_t i = 0; i < hidden; ++i) {
      const double input = activations[0](sums[i] + peepholes[i] * c[i]);
      const double forget =
          option ? 1 - input
                 : activations[0](sums[2 * hidden + i] + peepholes[2 * hidden + i] * c[i]);
      c[i] = forget * c[i] + input * activations[1](sums[3 * hidden + i]);
      const double output = activations[0](sums[hidden + i] + peepholes[hidden + i] * c[i]);
      h[i] = output * activations[2](c[i]);
    }
  }
};

// The places in tensors of both layouts.
struct Layout {
  bool batch_first;
  int64_t steps;
  int64_t batches;
  int64_t directions;

  int64_t X(int64_t step, int64_t batch) const {
    return batch_first ? batch * steps + step : step * batches + batch;
  }
  int64_t State(int64_t direction, int64_t batch) const {
    return batch_first ? batch * directions + direction : direction * batches + batch;
  }
  int64_t Y(int64_t step, int64_t direction, int64_t batch) const {
    return batch_first ? (batch * steps + step) * directions + direction
                       : (step * directions + direction) * batches + batch;
  }
};

// Loads the `direction`th of the equal parts of an operand, zeros where it is omitted.
void LoadPart(const Operand& operand, int64_t direction, int64_t count, double* to) {
  if (operand.present()) {
    LoadNumbers(operand, direction * count, count, to);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = 0;
  }
}

void StorePart(const Operand& operand, int64_t part, int64_t count, const double* from) {
  if (!operand.present()) return;
  for (int64_t i = 0; i < count; ++i) {
    SetNumber(operand, part * count + i, from == nullptr ? 0 : from[i]);
  }
}

template <int gates, int activations>
int32_t Run(const Call& call) {
  const Operand x = call.input(0);
  const Operand lengths = call.input(4);
  const bool batch_first = call.Integer(0) != 0;
  const Layout layout = {batch_first, x.extent(batch_first ? 1 : 0), x.extent(batch_first ? 0 : 1),
                         call.Integer(3)};
  const int64_t width = x.extent(2);
  const int64_t hidden = call.input(2).extent(2);
  const int64_t rows = gates * hidden;
  const Scratch<double> w(call, rows * width);
  const Scratch<double> r(call, rows * hidden);
  const Scratch<double> bias(call, 2 * rows);
  const Scratch<double> peepholes(call, 3 * hidden);
  const Scratch<double> sums(call, 4 * rows);
  const Scratch<double> vector(call, width);
  const Scratch<double> h(call, hidden);
  const Scratch<double> c(call, hidden);
  if (!w || !r || !bias || !peepholes || !sums || !vector || !h || !c) {
    return call.Fail(kOutOfScratch);
  }
  for (int64_t b = 0; lengths.present() && b < layout.batches; ++b) {
    const int32_t length = lengths.data<const int32_t>()[b];
    if (length < 0 || length > layout.steps) {
      return call.Fail("a sequence's length (input 4) is outside of the steps that there are");
    }
  }
  Direction direction = {width,   hidden,  gates,      call.Integer(1) != 0, {},
                         w.get(), r.get(), bias.get(), peepholes.get(),      sums.get()};
  const double clip = call.Integer(2) != 0 ? call.Real(4) : kInfinity;
  for (int64_t d = 0; d < layout.directions; ++d) {
    const int first = kFixedParameters + static_cast<int>(d) * (1 + 3 * activations);
    const bool reverse = call.Integer(first) != 0;
    for (int a = 0; a < activations; ++a) {
      const int at = first + 1 + 3 * a;
      direction.activations[a] = {static_cast<ActivationKind>(call.Integer(at)), call.Real(at + 1),
                                  call.Real(at + 2), clip};
    }
    LoadPart(call.input(1), d, rows * width, w.get());
    LoadPart(call.input(2), d, rows * hidden, r.get());
    LoadPart(call.input(3), d, 2 * rows, bias.get());
    LoadPart(call.input(7), d, 3 * hidden, peepholes.get());
    for (int64_t b = 0; b < layout.batches; ++b) {
      LoadPart(call.input(5), layout.State(d, b), hidden, h.get());
      LoadPart(call.input(6), layout.State(d, b), hidden, c.get());
      const int64_t length = lengths.present() ? lengths.data<const int32_t>()[b] : layout.steps;
      for (int64_t i = 0; i < length; ++i) {
        const int64_t step = reverse ? length - 1 - i : i;
        LoadNumbers(x, layout.X(step, b) * width, width, vector.get());
        if constexpr (gates == 1) direction.StepRnn(vector.get(), h.get());
        if constexpr (gates == 3) direction.StepGru(vector.get(), h.get());
        if constexpr (gates == 4) direction.StepLstm(vector.get(), h.get(), c.get());
        StorePart(call.output(0), layout.Y(step, d, b), hidden, h.get());
      }
      for (int64_t step = length; step < layout.steps; ++step) {
        StorePart(call.output(0), layout.Y(step, d, b), hidden, nullptr);
      }
      StorePart(call.output(1), layout.State(d, b), hidden, h.get());
      StorePart(call.output(2), layout.State(d, b), hidden, c.get());
    }
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_RNN(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Run<1, 1>(Call(arguments));
}

int32_t slipway_GRU(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Run<3, 2>(Call(arguments));
}

int32_t slipway_LSTM(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Run<4, 3>(Call(arguments));
}
