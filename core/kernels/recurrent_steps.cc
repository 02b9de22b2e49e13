// The steps of recurrent networks, vectors of the state's numbers at a time.
#include "core/kernels/call.h"
#include "core/kernels/panels.h"
#include "core/kernels/parallel.h"
#include "core/kernels/recurrent.h"
#include "core/kernels/recurrent_call.h"
#include "core/kernels/vectors.h"

namespace slipway::kernels {
namespace {

// As in core/operators/recurrent.h.
constexpr int64_t kGateBlock = 16;
constexpr int64_t kStatePanel = 32;

// x[0, count) = function(x). count is a multiple of kGateBlock.
template <typename Function>
void Map(float* x, int64_t count, Function function) {
  for (int64_t i = 0; i < count; i += kLanes) StoreVector(function(LoadVector(x + i)), x + i);
}

void Activate(const Activation& activation, float* x, int64_t count) {
  const auto alpha = static_cast<float>(activation.alpha);
  const auto beta = static_cast<float>(activation.beta);
  const auto clip = static_cast<float>(activation.clip);
  if (activation.clip != kInfinity) {
    Map(x, count, [=](Vector v) { return Within(v, -clip, clip); });
  }
  switch (activation.kind) {
    case kAffine:
      return Map(x, count, [=](Vector v) { return alpha * v + beta; });
    case kElu:
      return Map(x, count, [=](Vector v) { return v < 0.0f ? alpha * ExpLessOneOf(v) : v; });
    case kHardSigmoid:
      return Map(x, count, [=](Vector v) { return Within(alpha * v + beta, 0, 1); });
    case kLeakyRelu:
      return Map(x, count, [=](Vector v) { return v < 0.0f ? alpha * v : v; });
    case kRelu:
      return Map(x, count, [](Vector v) { return v < 0.0f ? Vector{} : v; });
    case kScaledTanh:
      return Map(x, count, [=](Vector v) { return alpha * TanhOf(beta * v); });
    case kSigmoid:
      return Map(x, count, SigmoidOf);
    case kSoftplus:
      return Map(x, count, LogOfOneAndExpOf);
    case kSoftsign:
      return Map(x, count, [](Vector v) { return v / (1.0f + Magnitude(v)); });
    case kTanh:
      return Map(x, count, TanhOf);
    case kThresholdedRelu:
      return Map(x, count, [=](Vector v) { return v > alpha ? v : Vector{}; });
  }
}

// One sample of a batch in one step.
struct Row {
  const float* input;  // The step's sums of what comes in, all gates of them.
  float* sums;         // What becomes of them: room for whole panels.
  float* h;            // Filled up to whole blocks, as are c and old.
  float* c;
  float* old;
  float* y;  // Null where nobody wants it.
};

constexpr int kPanelVectors = kStatePanel / kLanes;
constexpr int kRows = kMostRows<kPanelVectors>;
// The columns of one direction's r that belong to some of its gates.
struct Columns {
  const float* panels;
  int64_t depth;
  int64_t count;  // A multiple of kGateBlock.

  // Every other time from the last panel to the first: a cache that does not hold them all has those that were used last.
  void Multiply(const Product* rows, int64_t row_count, bool backwards) const {
    const int64_t panel_count = (count + kStatePanel - 1) / kStatePanel;
    for (int64_t i = 0; i < panel_count; ++i) {
      const int64_t p = backwards ? panel_count - 1 - i : i;
      const float* panel = panels + p * depth * kStatePanel;
      const int64_t column = p * kStatePanel;
      const bool is_whole = column + kStatePanel <= count;
      for (int64_t row = 0; row < row_count; row += kRows) {
        const int64_t left = row_count - row < kRows ? row_count - row : kRows;
        if (is_whole) {
          MultiplyRows<kPanelVectors, kStatePanel>(panel, depth, column, rows + row, left);
        } else {
          MultiplyRows<kGateBlock / kLanes, kStatePanel, kRows>(panel, depth, column, rows + row,
                                                                left);
        }
      }
    }
  }
};

// One direction of a network.
struct Direction {
  int64_t hidden;
  int64_t room;  // Of a gate.
  bool option;
  Activation activations[3];
  const float* r;           // Panels of all gates.
  const float* state_bias;  // Null for none.
  const float* peepholes;   // Input, output, forget; null for none.

  Columns GatesFrom(int64_t first, int64_t count) const {
    return {r + first * room * hidden, hidden, count * room};
  }

  void FinishRnn(const Row& row) const {
    Activate(activations[0], row.sums, room);
    for (int64_t i = 0; i < room; ++i) row.h[i] = row.sums[i];
  }

  // Gates: update, reset, hidden.
  void BeginGru(const Row& row) const {
    Activate(activations[0], row.sums, 2 * room);
    const float* const reset = row.sums + room;
    for (int64_t i = 0; i < room; ++i) row.old[i] = reset[i] * row.h[i];
  }
  Product HiddenOfGru(const Row& row) const {
    float* const to = row.sums + 2 * room;
    if (option) return {row.h, state_bias, to};
    return {row.old, row.input + 2 * room, to};
  }
  void FinishGru(const Row& row) const {
    const float* const update = row.sums;
    const float* const reset = row.sums + room;
    float* const made = row.sums + 2 * room;
    const float* const input = row.input + 2 * room;
    for (int64_t i = 0; option && i < room; ++i) made[i] = input[i] + reset[i] * made[i];
    Activate(activations[1], made, room);
    for (int64_t i = 0; i < room; ++i) {
      row.h[i] = (1 - update[i]) * made[i] + update[i] * row.h[i];
    }
  }

  // Gates: input, output, forget, cell.
  void FinishLstm(const Row& row) const {
    float* const input = row.sums;
    float* const output = row.sums + room;
    float* const forget = row.sums + 2 * room;
    float* const cell = row.sums + 3 * room;
    for (int64_t i = 0; peepholes != nullptr && i < room; ++i) {
      input[i] += peepholes[i] * row.c[i];
      forget[i] += peepholes[2 * room + i] * row.c[i];
    }
    Activate(activations[0], input, room);
    if (!option) Activate(activations[0], forget, room);
    for (int64_t i = 0; option && i < room; ++i) forget[i] = 1 - input[i];
    Activate(activations[1], cell, room);
    for (int64_t i = 0; i < room; ++i) row.c[i] = forget[i] * row.c[i] + input[i] * cell[i];
    for (int64_t i = 0; peepholes != nullptr && i < room; ++i) {
      output[i] += peepholes[room + i] * row.c[i];
    }
    Activate(activations[0], output, room);
    for (int64_t i = 0; i < room; ++i) cell[i] = row.c[i];
    Activate(activations[2], cell, room);
    for (int64_t i = 0; i < room; ++i) row.h[i] = output[i] * cell[i];
  }
};

// Memory for all rows of one direction.
struct Room {
  float* states;  // h, c, old and sums of each row, one after the other.
  Row* rows;
  Product* products;
};

void CopyFloats(const float* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i];
}
void LoadState(const Operand& operand, int64_t place, int64_t hidden, int64_t room, float* to) {
  for (int64_t i = 0; i < room; ++i) to[i] = 0;
  if (operand.present()) CopyFloats(operand.data<const float>() + place * hidden, hidden, to);
}
void StoreState(const Operand& operand, int64_t place, int64_t hidden, const float* from) {
  if (operand.present()) CopyFloats(from, hidden, operand.data<float>() + place * hidden);
}

// Rows [first, last) of the batch, in one direction.
template <int kGates>
class Sequences {
 public:
  Sequences(const Call& call, const RecurrentLayout& layout, const Direction& network,
            const Lengths& lengths, int64_t direction, bool reverse)
      : call_(call),
        layout_(layout),
        network_(network),
        lengths_(lengths),
        direction_(direction),
        reverse_(reverse) {}

  void Run(int64_t first, int64_t last, const Room& room) const {
    const int64_t size = network_.room;
    const int64_t each = FloatsOfRow(size);
    for (int64_t b = first; b < last; ++b) {
      float* const states = room.states + (b - first) * each;
      LoadState(call_.input(4), layout_.State(direction_, b), network_.hidden, size, states);
      LoadState(call_.input(5), layout_.State(direction_, b), network_.hidden, size, states + size);
    }
    for (int64_t i = 0; i < layout_.steps; ++i) {
      int64_t count = 0;
      for (int64_t b = first; b < last; ++b) {
        if (i < lengths_.Of(b)) {
          room.rows[count++] = RowOf(i, b, room.states + (b - first) * each);
        }
      }
      Step(room.rows, count, room.products, i % 2 != 0);
      for (int64_t row = 0; row < count; ++row) {
        if (room.rows[row].y != nullptr) {
          CopyFloats(room.rows[row].h, network_.hidden, room.rows[row].y);
        }
      }
    }
    for (int64_t b = first; b < last; ++b) {
      const float* const states = room.states + (b - first) * each;
      StoreState(call_.output(1), layout_.State(direction_, b), network_.hidden, states);
      StoreState(call_.output(2), layout_.State(direction_, b), network_.hidden, states + size);
      for (int64_t step = lengths_.Of(b); step < layout_.steps; ++step) {
        float* const y = Y(step, b);
        for (int64_t k = 0; y != nullptr && k < network_.hidden; ++k) y[k] = 0;
      }
    }
  }

  static int64_t FloatsOfRow(int64_t size) { return (3 + kGates) * size; }

 private:
  float* Y(int64_t step, int64_t b) const {
    const Operand y = call_.output(0);
    if (!y.present()) return nullptr;
    return y.data<float>() + layout_.Y(step, direction_, b) * network_.hidden;
  }

  Row RowOf(int64_t i, int64_t b, float* states) const {
    const int64_t size = network_.room;
    const int64_t step = reverse_ ? lengths_.Of(b) - 1 - i : i;
    const int64_t place = layout_.X(step, b) * layout_.directions + direction_;
    return {call_.input(0).template data<const float>() + place * kGates * size,
            states + 3 * size,
            states,
            states + size,
            states + 2 * size,
            Y(step, b)};
  }

  void Step(const Row* rows, int64_t count, Product* products, bool backwards) const {
    constexpr int kFirstGates = kGates == 3 ? 2 : kGates;
    for (int64_t row = 0; row < count; ++row) {
      products[row] = {rows[row].h, rows[row].input, rows[row].sums};
    }
    network_.GatesFrom(0, kFirstGates).Multiply(products, count, backwards);
    if constexpr (kGates == 1) {
      for (int64_t row = 0; row < count; ++row) network_.FinishRnn(rows[row]);
    }
    if constexpr (kGates == 3) {
      for (int64_t row = 0; row < count; ++row) {
        network_.BeginGru(rows[row]);
        products[row] = network_.HiddenOfGru(rows[row]);
      }
      network_.GatesFrom(2, 1).Multiply(products, count, backwards);
      for (int64_t row = 0; row < count; ++row) network_.FinishGru(rows[row]);
    }
    if constexpr (kGates == 4) {
      for (int64_t row = 0; row < count; ++row) network_.FinishLstm(rows[row]);
    }
  }

  const Call& call_;
  const RecurrentLayout& layout_;
  const Direction& network_;
  const Lengths& lengths_;
  const int64_t direction_;
  const bool reverse_;
};

// A part of a batch in one direction is what one thread does: few enough rows that batches make several, enough for products
// not to wait for their weights.
constexpr int64_t kRowsTogether = 12;
// Below, a thread is not worth waking.
constexpr int64_t kLeastProductsOfThread = 1 << 19;

template <int kGates, int kActivations>
int32_t Run(const Call& call) {
  const RecurrentCall parameters(call, kActivations);
  const Operand sums = call.input(0);
  const Operand r = call.input(1);
  const RecurrentLayout layout = parameters.LayoutOf(sums);
  const Lengths lengths(call.input(3), layout);
  if (const char* wrong = lengths.Check(); wrong != nullptr) return call.Fail(wrong);
  const int64_t room = sums.extent(2) / (layout.directions * kGates);
  const int64_t rows = layout.directions * layout.batches;
  const int64_t floats_of_row = Sequences<kGates>::FloatsOfRow(room);
  const Scratch<float> states(call, rows * floats_of_row);
  const Scratch<Row> row_memory(call, rows);
  const Scratch<Product> products(call, rows);
  if (!states || !row_memory || !products) return call.Fail(kOutOfScratch);

  const int64_t parts = (layout.batches + kRowsTogether - 1) / kRowsTogether;
  const auto run_part = [&](const Call& own, int64_t index) {
    const int64_t d = index / parts;
    const int64_t first = index % parts * layout.batches / parts;
    const int64_t last = (index % parts + 1) * layout.batches / parts;
    const auto of_direction = [&](int input) -> const float* {
      const Operand all = call.input(input);
      if (!all.present()) return nullptr;
      return all.data<const float>() + d * (all.elements() / layout.directions);
    };
    Direction network = {r.extent(2),     room,           parameters.option(), {}, of_direction(1),
                         of_direction(2), of_direction(6)};
    for (int a = 0; a < kActivations; ++a) {
      network.activations[a] = parameters.ActivationOf(d, a);
    }
    const int64_t row = d * layout.batches + first;
    Sequences<kGates>(own, layout, network, lengths, d, parameters.IsReverse(d))
        .Run(first, last,
             {states.get() + row * floats_of_row, row_memory.get() + row, products.get() + row});
  };
  const int64_t of_part =
      layout.steps * layout.batches / (parts < 1 ? 1 : parts) * kGates * room * r.extent(2);
  if (of_part < kLeastProductsOfThread) {
    for (int64_t i = 0; i < layout.directions * parts; ++i) run_part(call, i);
  } else {
    ForEachInParallel(call, layout.directions * parts, run_part);
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_RNNSteps(void** arguments) { return Run<1, 1>(Call(arguments)); }
int32_t slipway_GRUSteps(void** arguments) { return Run<3, 2>(Call(arguments)); }
int32_t slipway_LSTMSteps(void** arguments) { return Run<4, 3>(Call(arguments)); }
