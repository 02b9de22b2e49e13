#include "core/kernels/recurrent.h"

#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"
#include "core/kernels/recurrent_call.h"

namespace slipway::kernels {
namespace {

double Activate(const Activation& activation, double x) {
  const auto [kind, alpha, beta, clip] = activation;
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

// Rows of a matrix for products with a vector, kTogether of them at a time, so that no sum waits for another's. Those of a
// gate begin anew.
constexpr int64_t kTogether = 16;

int64_t RoundedUp(int64_t rows) { return (rows + kTogether - 1) / kTogether * kTogether; }

struct Rows {
  const double* values;  // [gates, blocks, width, kTogether]
  int64_t rows;          // Of a gate.
  int64_t width;

  // sums[i] += the `gate`th matrix's row i times x. There is room for RoundedUp(rows) sums.
  void AddProduct(int64_t gate, const double* x, double* sums) const {
    const double* block = values + gate * RoundedUp(rows) * width;
    for (int64_t first = 0; first < rows; first += kTogether, block += kTogether * width) {
      double parts[kTogether];
      for (int64_t k = 0; k < kTogether; ++k) parts[k] = sums[first + k];
      for (int64_t i = 0; i < width; ++i) {
        for (int64_t k = 0; k < kTogether; ++k) parts[k] += block[i * kTogether + k] * x[i];
      }
      for (int64_t k = 0; k < kTogether; ++k) sums[first + k] = parts[k];
    }
  }
};

// One direction of a network, and what one step of it does to the state of one sample.
struct Direction {
  int64_t hidden;  // Of the state.
  int gates;
  bool option;
  Activation activations[3];
  // Of this direction, as doubles. Biases are two lists of all gates' rows, peepholes three of one gate's.
  Rows w;
  Rows r;
  const double* bias;
  const double* peepholes;
  // Of RoundedUp(hidden) numbers for each gate: what comes of x and of the state. And so many again.
  double* from_input;
  double* from_state;
  double* old;

  double* Sums(double* all, int64_t gate) const { return all + gate * RoundedUp(hidden); }
  // The biases, and the gates' rows of w and r times x and the state.
  void Begin(const double* x) const {
    for (int64_t gate = 0; gate < gates; ++gate) {
      for (int64_t i = 0; i < hidden; ++i) {
        Sums(from_input, gate)[i] = bias[gate * hidden + i];
        Sums(from_state, gate)[i] = bias[(gates + gate) * hidden + i];
      }
      w.AddProduct(gate, x, Sums(from_input, gate));
    }
  }
  double Sum(int64_t gate, int64_t i) const {
    return Sums(from_input, gate)[i] + Sums(from_state, gate)[i];
  }

  void StepRnn(const double* x, double* h) const {
    Begin(x);
    r.AddProduct(0, h, from_state);
    for (int64_t i = 0; i < hidden; ++i) h[i] = Activate(activations[0], Sum(0, i));
  }

  // Gates: update, reset, hidden.
  void StepGru(const double* x, double* h) const {
    Begin(x);
    for (int gate = 0; gate < 2; ++gate) r.AddProduct(gate, h, Sums(from_state, gate));
    double* const update = Sums(from_input, 0);
    double* const reset = Sums(from_input, 1);
    for (int64_t i = 0; i < hidden; ++i) {
      update[i] = Activate(activations[0], Sum(0, i));
      reset[i] = Activate(activations[0], Sum(1, i));
      old[i] = option ? h[i] : reset[i] * h[i];
    }
    r.AddProduct(2, old, Sums(from_state, 2));
    for (int64_t i = 0; i < hidden; ++i) {
      const double state = Sums(from_state, 2)[i];
      const double made =
          Activate(activations[1], Sums(from_input, 2)[i] + (option ? reset[i] * state : state));
      h[i] = (1 - update[i]) * made + update[i] * h[i];
    }
  }

  // Gates: input, output, forget, cell. Peepholes: input, output, forget.
  void StepLstm(const double* x, double* h, double* c) const {
    Begin(x);
    for (int gate = 0; gate < gates; ++gate) r.AddProduct(gate, h, Sums(from_state, gate));
    for (int64_t i = 0; i < hidden; ++i) {
      const double input = Activate(activations[0], Sum(0, i) + peepholes[i] * c[i]);
      const double forget =
          option ? 1 - input
                 : Activate(activations[0], Sum(2, i) + peepholes[2 * hidden + i] * c[i]);
      c[i] = forget * c[i] + input * Activate(activations[1], Sum(3, i));
      const double output = Activate(activations[0], Sum(1, i) + peepholes[hidden + i] * c[i]);
      h[i] = output * Activate(activations[2], c[i]);
    }
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

// The `direction`th matrix of rows of gates, as Rows has them; zeros in the rows that fill up a block.
void LoadRows(const Operand& operand, int64_t direction, int64_t gates, int64_t rows, int64_t width,
              double* to) {
  for (int64_t gate = 0; gate < gates; ++gate) {
    for (int64_t row = 0; row < RoundedUp(rows); ++row) {
      double* const block = to + (row - row % kTogether) * width + row % kTogether;
      const int64_t from = ((direction * gates + gate) * rows + row) * width;
      for (int64_t i = 0; i < width; ++i) {
        block[i * kTogether] = row < rows ? NumberAt(operand, from + i) : 0;
      }
    }
    to += RoundedUp(rows) * width;
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
  const RecurrentCall parameters(call, activations);
  const Operand x = call.input(0);
  const RecurrentLayout layout = parameters.LayoutOf(x);
  const Lengths lengths(call.input(4), layout);
  if (const char* wrong = lengths.Check(); wrong != nullptr) return call.Fail(wrong);
  const int64_t width = x.extent(2);
  const int64_t hidden = call.input(2).extent(2);
  const int64_t rows = gates * hidden;
  const int64_t room = gates * RoundedUp(hidden);
  const Scratch<double> w(call, room * width);
  const Scratch<double> r(call, room * hidden);
  const Scratch<double> bias(call, 2 * rows);
  const Scratch<double> peepholes(call, 3 * hidden);
  const Scratch<double> sums(call, 2 * room + RoundedUp(hidden));
  const Scratch<double> vector(call, width);
  const Scratch<double> h(call, hidden);
  const Scratch<double> c(call, hidden);
  if (!w || !r || !bias || !peepholes || !sums || !vector || !h || !c) {
    return call.Fail(kOutOfScratch);
  }
  // Those behind the last row of a gate too, which nothing else sets.
  for (int64_t i = 0; i < 2 * room; ++i) sums[i] = 0;
  Direction direction = {hidden,
                         gates,
                         parameters.option(),
                         {},
                         {w.get(), hidden, width},
                         {r.get(), hidden, hidden},
                         bias.get(),
                         peepholes.get(),
                         sums.get(),
                         sums.get() + room,
                         sums.get() + 2 * room};
  for (int64_t d = 0; d < layout.directions; ++d) {
    const bool reverse = parameters.IsReverse(d);
    for (int a = 0; a < activations; ++a) {
      direction.activations[a] = parameters.ActivationOf(d, a);
    }
    LoadRows(call.input(1), d, gates, hidden, width, w.get());
    LoadRows(call.input(2), d, gates, hidden, hidden, r.get());
    LoadPart(call.input(3), d, 2 * rows, bias.get());
    LoadPart(call.input(7), d, 3 * hidden, peepholes.get());
    for (int64_t b = 0; b < layout.batches; ++b) {
      LoadPart(call.input(5), layout.State(d, b), hidden, h.get());
      LoadPart(call.input(6), layout.State(d, b), hidden, c.get());
      const int64_t length = lengths.Of(b);
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
