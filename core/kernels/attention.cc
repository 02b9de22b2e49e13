#include "core/kernels/attention.h"

#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"

namespace slipway::kernels {
namespace {

// The vectors of an operand [batch, heads, sequence, size] or [batch, sequence, heads * size].
class Heads {
 public:
  Heads(const Operand& operand, int64_t heads)
      : heads(heads),
        sequence(operand.extent(operand.rank() - 2)),
        size(operand.rank() == 4 ? operand.extent(3) : operand.extent(2) / heads),
        operand_(operand) {}

  // The place of the first element.
  int64_t At(int64_t batch, int64_t head, int64_t position) const {
    return (operand_.rank() == 4 ? (batch * heads + head) * sequence + position
                                 : (batch * sequence + position) * heads + head) *
           size;
  }
  void Load(int64_t batch, int64_t head, int64_t position, double* to) const {
    LoadNumbers(operand_, At(batch, head, position), size, to);
  }
  double Get(int64_t batch, int64_t head, int64_t position, int64_t i) const {
    return NumberAt(operand_, At(batch, head, position) + i);
  }
  void Set(int64_t batch, int64_t head, int64_t position, int64_t i, double value) const {
    SetNumber(operand_, At(batch, head, position) + i, value);
  }

  const int64_t heads;
  const int64_t sequence;
  const int64_t size;

 private:
  Operand operand_;
};

// What is added to scores: a mask that broadcasts to [batch, heads, queries, keys] and may have fewer keys.
class Mask {
 public:
  explicit Mask(const Operand& mask) : mask_(mask) {}

  double At(int64_t batch, int64_t head, int64_t query, int64_t key) const {
    if (!mask_.present()) return 0;
    const int rank = mask_.rank();
    if (key >= mask_.extent(rank - 1)) return -kInfinity;
    const int64_t index[] = {batch, head, query, key};
    int64_t place = 0;
    for (int d = 0; d < rank; ++d) {
      const int64_t extent = mask_.extent(d);
      place = place * extent + (extent == 1 ? 0 : index[4 - rank + d]);
    }
    const double value = NumberAt(mask_, place);
    if (mask_.type() == Type::kBool) return value != 0 ? 0 : -kInfinity;
    return value;
  }

 private:
  Operand mask_;
};

// Past vectors of a head, followed by the new ones, as doubles and in the operand of the present.
void Gather(const Operand& past, const Heads& fresh, int64_t batch, int64_t head,
            const Operand& present, double* to) {
  const int64_t size = fresh.size;
  const int64_t before = past.present() ? past.extent(2) : 0;
  const int64_t total = before + fresh.sequence;
  if (past.present()) {
    LoadNumbers(past, (batch * fresh.heads + head) * before * size, before * size, to);
  }
  for (int64_t s = 0; s < fresh.sequence; ++s) {
    fresh.Load(batch, head, s, to + (before + s) * size);
  }
  if (!present.present()) return;
  const int64_t first = (batch * fresh.heads + head) * total * size;
  for (int64_t i = 0; i < total * size; ++i) SetNumber(present, first + i, to[i]);
}

double Dot(const double* a, const double* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

enum Scores : int64_t { kProducts = 0, kCapped = 1, kBiased = 2, kProbabilities = 3 };

struct AttentionCall {
  explicit AttentionCall(const Call& call)
      : q(call.input(0), call.Integer(0)),
        k(call.input(1), call.Integer(1)),
        v(call.input(2), call.Integer(1)),
        y(call.output(0), call.Integer(0)),
        mask(call.input(3)),
        padding(call.input(6)),
        scores(call.output(3)),
        type(call.input(0).type()),
        causal(call.Integer(2) != 0),
        left(call.Integer(3)),
        right(call.Integer(4)),
        softmax_type(static_cast<Type>(call.Integer(5))),
        wanted(static_cast<Scores>(call.Integer(6))),
        scale(RoundTo(type, Sqrt(call.Real(7)))),
        softcap(call.Real(8)),
        past(call.input(4).present() ? call.input(4).extent(2) : 0),
        total(past + k.sequence) {}

  // Of the keys of a sample, those that are no padding.
  int64_t Valid(int64_t batch) const {
    return padding.present() ? padding.data<const int64_t>()[batch] : total;
  }
  // The position of a sample's first query among its keys.
  int64_t Offset(int64_t batch) const {
    return padding.present() ? Valid(batch) - q.sequence : past;
  }
  // What is added to the score of a query and a key.
  double Bias(int64_t batch, int64_t head, int64_t query, int64_t key) const {
    const int64_t ahead = key - (query + Offset(batch));
    const bool seen = key < Valid(batch) && (!causal || ahead <= 0) &&
                      (left < 0 || -ahead <= left) && (right < 0 || ahead <= right);
    const double bias = mask.At(batch, head, query, key);
    return seen ? bias : bias - kInfinity;
  }
  void Show(Scores stage, int64_t place, double value) const {
    if (scores.present() && wanted == stage) SetNumber(scores, place, value);
  }

  // Fills row[key] with the probabilities of one query, whose vector is scaled.
  void Probabilities(int64_t batch, int64_t head, int64_t query, const double* vector,
                     const double* keys, double* row) const {
    const int64_t place = ((batch * q.heads + head) * q.sequence + query) * total;
    double highest = -kInfinity;
    double most_bias = -kInfinity;
    bool undefined = false;
    for (int64_t j = 0; j < total; ++j) {
      double score = RoundTo(type, Dot(vector, keys + j * q.size, q.size));
      Show(kProducts, place + j, score);
      if (softcap > 0) score = RoundTo(type, softcap * Tanh(score / softcap));
      Show(kCapped, place + j, score);
      const double bias = Bias(batch, head, query, j);
      if (!(bias <= most_bias)) most_bias = bias;
      score = RoundTo(type, score + bias);
      Show(kBiased, place + j, score);
      row[j] = RoundTo(softmax_type, score);
      undefined |= IsNan(row[j]);
      if (row[j] > highest) highest = row[j];
    }
    // A query that sees no key sees nothing, whatever the products are.
    const bool blind = most_bias == -kInfinity;
    double sum = 0;
    for (int64_t j = 0; j < total; ++j) {
      row[j] = blind || (highest == -kInfinity && !undefined) ? 0 : Exp(row[j] - highest);
      sum += row[j];
    }
    for (int64_t j = 0; j < total; ++j) {
      row[j] = sum == 0 ? 0 : RoundTo(type, row[j] / sum);
      Show(kProbabilities, place + j, row[j]);
    }
  }

  const Heads q, k, v, y;
  const Mask mask;
  const Operand padding, scores;
  const Type type;
  const bool causal;
  const int64_t left, right;
  const Type softmax_type;
  const Scores wanted;
  const double scale, softcap;
  const int64_t past, total;
};

int32_t Attention(const Call& call) {
  const AttentionCall attention(call);
  const Heads& q = attention.q;
  const Heads& k = attention.k;
  const Heads& v = attention.v;
  const int64_t total = attention.total;
  const int64_t batches = call.input(0).extent(0);
  for (int64_t b = 0; b < batches; ++b) {
    if (attention.Valid(b) < 0 || attention.Valid(b) > total) {
      return call.Fail("a number of keys (input 6) is outside of the keys that there are");
    }
  }
  const Scratch<double> keys(call, total * k.size);
  const Scratch<double> values(call, total * v.size);
  const Scratch<double> query(call, q.size);
  const Scratch<double> row(call, total);
  const Scratch<double> sum(call, v.size);
  if (!keys || !values || !query || !row || !sum) return call.Fail(kOutOfScratch);
  const int64_t shared = q.heads / k.heads;
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t h = 0; h < k.heads; ++h) {
      Gather(call.input(4), k, b, h, call.output(1), keys.get());
      Gather(call.input(5), v, b, h, call.output(2), values.get());
      for (int64_t i = 0; i < total * k.size; ++i) {
        keys[i] = RoundTo(attention.type, keys[i] * attention.scale);
      }
      for (int64_t head = h * shared; head < (h + 1) * shared; ++head) {
        for (int64_t s = 0; s < q.sequence; ++s) {
          q.Load(b, head, s, query.get());
          for (int64_t i = 0; i < q.size; ++i) {
            query[i] = RoundTo(attention.type, query[i] * attention.scale);
          }
          attention.Probabilities(b, head, s, query.get(), keys.get(), row.get());
          for (int64_t i = 0; i < v.size; ++i) sum[i] = 0;
          for (int64_t j = 0; j < total; ++j) {
            for (int64_t i = 0; i < v.size; ++i) sum[i] += row[j] * values[j * v.size + i];
          }
          for (int64_t i = 0; i < v.size; ++i) attention.y.Set(b, head, s, i, sum[i]);
        }
      }
    }
  }
  return 0;
}

// One number a head and position, or one for each of `size` elements, of an operand [batch, sequence, numbers].
double RateAt(const Operand& rates, int64_t batch, int64_t position, int64_t head, int64_t heads,
              int64_t i, int64_t size) {
  const int64_t numbers = rates.extent(2);
  const int64_t row = (batch * rates.extent(1) + position) * numbers;
  if (numbers == 1) return NumberAt(rates, row);
  return NumberAt(rates, row + (numbers == heads ? head : head * size + i));
}

int32_t LinearAttention(const Call& call) {
  const Heads q(call.input(0), call.Integer(0));
  const Heads k(call.input(1), call.Integer(1));
  const Heads v(call.input(2), call.Integer(1));
  const Heads y(call.output(0), call.Integer(0));
  const double scale = call.Real(2);
  const Operand past = call.input(3);
  const Operand decay = call.input(4);
  const Operand rate = call.input(5);
  const Operand present = call.output(1);
  const int64_t shared = q.heads / k.heads;
  const int64_t cells = k.size * v.size;
  const Scratch<double> state(call, cells);
  const Scratch<double> added(call, v.size);
  if (!state || !added) return call.Fail(kOutOfScratch);
  for (int64_t b = 0; b < call.input(0).extent(0); ++b) {
    for (int64_t h = 0; h < k.heads; ++h) {
      const int64_t first = (b * k.heads + h) * cells;
      for (int64_t i = 0; i < cells; ++i) {
        state[i] = past.present() ? NumberAt(past, first + i) : 0;
      }
      for (int64_t t = 0; t < k.sequence; ++t) {
        for (int64_t i = 0; decay.present() && i < k.size; ++i) {
          const double kept = Exp(RateAt(decay, b, t, h, k.heads, i, k.size));
          for (int64_t j = 0; j < v.size; ++j) state[i * v.size + j] *= kept;
        }
        v.Load(b, h, t, added.get());
        if (rate.present()) {
          const double part = RateAt(rate, b, t, h, k.heads, 0, 1);
          for (int64_t j = 0; j < v.size; ++j) {
            double known = 0;
            for (int64_t i = 0; i < k.size; ++i) known += state[i * v.size + j] * k.Get(b, h, t, i);
            added[j] = part * (added[j] - known);
          }
        }
        for (int64_t i = 0; i < k.size; ++i) {
          const double key = k.Get(b, h, t, i);
          for (int64_t j = 0; j < v.size; ++j) state[i * v.size + j] += key * added[j];
        }
        for (int64_t head = h * shared; head < (h + 1) * shared; ++head) {
          for (int64_t j = 0; j < v.size; ++j) {
            double sum = 0;
            for (int64_t i = 0; i < k.size; ++i) {
              sum += q.Get(b, head, t, i) * state[i * v.size + j];
            }
            y.Set(b, head, t, j, scale * sum);
          }
        }
      }
      for (int64_t i = 0; present.present() && i < cells; ++i) {
        SetNumber(present, first + i, state[i]);
      }
    }
  }
  return 0;
}

int32_t RotaryEmbedding(const Call& call) {
  const Heads x(call.input(0), call.Integer(0));
  const Heads y(call.output(0), call.Integer(0));
  const int64_t rotated = call.Integer(1) != 0 ? call.Integer(1) : x.size;
  const bool neighbours = call.Integer(2) != 0;
  const Operand cosines = call.input(1);
  const Operand sines = call.input(2);
  const Operand positions = call.input(3);
  const int64_t half = rotated / 2;
  if (rotated % 2 != 0 || rotated > x.size || cosines.extent(cosines.rank() - 1) != half ||
      sines.extent(sines.rank() - 1) != half) {
    return call.Fail("the elements that are rotated in pairs are not twice the cosines and sines");
  }
  for (int64_t b = 0; b < call.input(0).extent(0); ++b) {
    for (int64_t s = 0; s < x.sequence; ++s) {
      int64_t row = b * x.sequence + s;
      if (positions.present()) {
        row = positions.data<const int64_t>()[row];
        if (row < 0 || row >= cosines.extent(0)) {
          return call.Fail("a position (input 3) is outside of the cosines");
        }
      }
      for (int64_t h = 0; h < x.heads; ++h) {
        for (int64_t i = 0; i < half; ++i) {
          const int64_t at = neighbours ? 2 * i : i;
          const int64_t other = neighbours ? 2 * i + 1 : i + half;
          const double cosine = NumberAt(cosines, row * half + i);
          const double sine = NumberAt(sines, row * half + i);
          const double real = x.Get(b, h, s, at);
          const double imaginary = x.Get(b, h, s, other);
          y.Set(b, h, s, at, cosine * real - sine * imaginary);
          y.Set(b, h, s, other, sine * real + cosine * imaginary);
        }
        for (int64_t i = rotated; i < x.size; ++i) y.Set(b, h, s, i, x.Get(b, h, s, i));
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_Attention(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Attention(Call(arguments));
}

int32_t slipway_LinearAttention(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return LinearAttention(Call(arguments));
}

int32_t slipway_RotaryEmbedding(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return RotaryEmbedding(Call(arguments));
}
