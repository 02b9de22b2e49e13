#include "core/kernels/svm.h"

#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"

namespace slipway::kernels {
namespace {

enum Similarity : int64_t { kLinear, kPolynomial, kRadial, kSigmoid };
constexpr int kVectors = 6;  // Where they stand among the parameters.

double Logistic(double x) { return x >= 0 ? 1 / (1 + Exp(-x)) : Exp(x) / (1 + Exp(x)); }

// The parameters of a call.
class Machine {
 public:
  explicit Machine(const Call& call) : call_(call) {}

  int64_t vectors() const { return call_.Integer(4); }
  int64_t features() const { return call_.Integer(5); }
  // Where what follows the vectors stands.
  int more() const { return kVectors + static_cast<int>(vectors() * features()); }

  // How alike the row and a vector are.
  double Compare(const double* row, int64_t vector) const {
    const int first = kVectors + static_cast<int>(vector * features());
    double sum = 0;
    for (int f = 0; f < features(); ++f) {
      const double v = call_.Real(first + f);
      sum += call_.Integer(0) == kRadial ? (row[f] - v) * (row[f] - v) : row[f] * v;
    }
    const double gamma = call_.Real(1);
    const double offset = call_.Real(2);
    switch (static_cast<Similarity>(call_.Integer(0))) {
      case kLinear:
        return sum;
      case kPolynomial:
        return Pow(gamma * sum + offset, call_.Real(3));
      case kRadial:
        return Exp(-gamma * sum);
      case kSigmoid:
        return Tanh(gamma * sum + offset);
    }
    return 0;
  }

 private:
  const Call& call_;
};

// Calls visit(r, row) with each row of x, widened. Fails where there is no memory or `visit` returns false.
template <typename Visit>
int32_t ForEachRow(const Call& call, Visit visit) {
  const Operand x = call.input(0);
  const int64_t features = x.extent(x.rank() - 1);
  const Scratch<double> row(call, features);
  if (!row) return call.Fail(kOutOfScratch);
  for (int64_t r = 0; r < (x.rank() == 2 ? x.extent(0) : 1); ++r) {
    LoadNumbers(x, r * features, features, row.get());
    visit(r, row.get());
  }
  return 0;
}

int32_t SvmRegressor(const Call& call) {
  const Machine machine(call);
  const int more = machine.more();
  return ForEachRow(call, [&](int64_t r, const double* row) {
    double sum = call.Real(more + 1);
    for (int v = 0; v < machine.vectors(); ++v) {
      sum += call.Real(more + 2 + v) * machine.Compare(row, v);
    }
    if (call.Integer(more) != 0) sum = sum > 0 ? 1 : -1;
    SetNumber(call.output(0), r, sum);
  });
}

// The further parameters of a classifier.
class Classes {
 public:
  Classes(const Call& call, const Machine& machine)
      : call_(call), first_(machine.more()), vectors_(static_cast<int>(machine.vectors())) {}

  int count() const { return static_cast<int>(call_.Integer(first_)); }
  int pairs() const { return count() * (count() - 1) / 2; }
  bool probable() const { return call_.Integer(first_ + 1) != 0; }
  bool logistic() const { return call_.Integer(first_ + 2) != 0; }
  int64_t label(int c) const { return call_.Integer(first_ + 3 + 2 * c); }
  int vectors(int c) const { return static_cast<int>(call_.Integer(first_ + 4 + 2 * c)); }
  double rho(int pair) const { return call_.Real(Pair(pair)); }
  double a(int pair) const { return call_.Real(Pair(pair) + 1); }
  double b(int pair) const { return call_.Real(Pair(pair) + 2); }
  double coefficient(int row, int vector) const {
    return call_.Real(Pair(pairs()) + row * vectors_ + vector);
  }

 private:
  int Pair(int pair) const { return first_ + 3 + 2 * count() + 3 * pair; }

  const Call& call_;
  int first_;
  int vectors_;
};

// Of each pair of classes, its score from how alike the vectors are.
void ScorePairs(const Classes& classes, const double* alike, double* scores) {
  int pair = 0;
  for (int i = 0, first_i = 0; i < classes.count(); first_i += classes.vectors(i++)) {
    int first_j = first_i + classes.vectors(i);
    for (int j = i + 1; j < classes.count(); first_j += classes.vectors(j++)) {
      double sum = classes.rho(pair);
      for (int v = first_i; v < first_i + classes.vectors(i); ++v) {
        sum += classes.coefficient(j - 1, v) * alike[v];
      }
      for (int v = first_j; v < first_j + classes.vectors(j); ++v) {
        sum += classes.coefficient(i, v) * alike[v];
      }
      scores[pair++] = sum;
    }
  }
}

// The probabilities p of k classes from those of pairs, r [k, k]: the second method of Wu, Lin and Weng, "Probability
// estimates for multi-class classification by pairwise coupling" (2004). `q` [k, k] and `qp` [k] are scratch.
void Couple(const double* r, int k, double* q, double* qp, double* p) {
  for (int t = 0; t < k; ++t) {
    p[t] = 1.0 / k;
    q[t * k + t] = 0;
    for (int j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += r[j * k + t] * r[j * k + t];
      q[t * k + j] = -r[j * k + t] * r[t * k + j];
    }
  }
  const int most = k > 100 ? k : 100;
  for (int step = 0; step < most; ++step) {
    double pqp = 0;
    for (int t = 0; t < k; ++t) {
      qp[t] = 0;
      for (int j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
      pqp += p[t] * qp[t];
    }
    double error = 0;
    for (int t = 0; t < k; ++t) error = Abs(qp[t] - pqp) > error ? Abs(qp[t] - pqp) : error;
    if (error < 0.005 / k) return;
    for (int t = 0; t < k; ++t) {
      const double diff = (pqp - qp[t]) / q[t * k + t];
      p[t] += diff;
      pqp = (pqp + diff * (diff * q[t * k + t] + 2 * qp[t])) / (1 + diff) / (1 + diff);
      for (int j = 0; j < k; ++j) {
        qp[j] = (qp[j] + diff * q[t * k + j]) / (1 + diff);
        p[j] /= 1 + diff;
      }
    }
  }
}

int Best(const double* scores, int count) {
  int best = 0;
  for (int c = 1; c < count; ++c) {
    if (scores[c] > scores[best]) best = c;
  }
  return best;
}

// The probability that a pair's first class is the right one.
double PairProbability(const Classes& classes, int pair, double score) {
  const double p = Logistic(-(score * classes.a(pair) + classes.b(pair)));
  return p < 1e-7 ? 1e-7 : p > 1 - 1e-7 ? 1 - 1e-7 : p;
}

int32_t SvmClassifier(const Call& call) {
  const Machine machine(call);
  const Classes classes(call, machine);
  const int k = classes.count();
  const int pairs = classes.pairs();
  const Scratch<double> alike(call, machine.vectors());
  const Scratch<double> scores(call, pairs > 2 ? pairs : 2);
  const Scratch<double> votes(call, k);
  const Scratch<double> probabilities(call, k);
  const Scratch<double> r(call, int64_t{k} * k);
  const Scratch<double> q(call, int64_t{k} * k);
  const Scratch<double> qp(call, k);
  if (!alike || !scores || !votes || !probabilities || !r || !q || !qp)
    return call.Fail(kOutOfScratch);
  const Operand labels = call.output(0);
  const Operand y = call.output(1);
  return ForEachRow(call, [&](int64_t row_number, const double* row) {
    for (int v = 0; v < machine.vectors(); ++v) alike[v] = machine.Compare(row, v);
    ScorePairs(classes, alike.get(), scores.get());
    for (int c = 0; c < k; ++c) votes[c] = 0;
    for (int i = 0, pair = 0; i < k; ++i) {
      for (int j = i + 1; j < k; ++j, ++pair) {
        votes[scores[pair] > 0 ? i : j] += 1;
        if (!classes.probable()) continue;
        r[i * k + j] = PairProbability(classes, pair, scores[pair]);
        r[j * k + i] = 1 - r[i * k + j];
      }
    }
    const double* results = scores.get();
    int count = pairs;
    if (classes.probable()) {
      Couple(r.get(), k, q.get(), qp.get(), probabilities.get());
      results = probabilities.get();
      count = k;
    } else if (k == 2) {
      scores[1] = scores[0];
      scores[0] = -scores[1];
      count = 2;
    }
    if (labels.present()) {
      labels.data<int64_t>()[row_number] = classes.label(Best(votes.get(), k));
    }
    for (int c = 0; y.present() && c < count; ++c) {
      SetNumber(y, row_number * count + c, classes.logistic() ? Logistic(results[c]) : results[c]);
    }
  });
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_SvmRegressor(void** arguments) { return SvmRegressor(Call(arguments)); }
int32_t slipway_SvmClassifier(void** arguments) { return SvmClassifier(Call(arguments)); }
