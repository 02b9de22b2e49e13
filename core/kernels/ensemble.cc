#include "core/kernels/ensemble.h"

#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"

namespace slipway::kernels {
namespace {

enum Test : int64_t { kAtMost, kBelow, kAtLeast, kAbove, kEqual, kDiffers, kMember };
enum Aggregate : int64_t { kAverage, kSum, kMin, kMax };
enum Transform : int64_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

constexpr int kHeader = 9;
constexpr int kNodeSize = 8;

// The parameters of a call.
class Forest {
 public:
  explicit Forest(const Call& call)
      : call_(call),
        nodes_(kHeader + Count(3)),
        leaves_(nodes_ + kNodeSize * Count(4)),
        votes_(leaves_ + 2 * Count(5)),
        members_(votes_ + 2 * Count(6)),
        base_(members_ + Count(7)) {}

  Aggregate aggregate() const { return static_cast<Aggregate>(call_.Integer(0)); }
  Transform transform() const { return static_cast<Transform>(call_.Integer(1)); }
  int64_t targets() const { return call_.Integer(2); }
  int64_t roots() const { return call_.Integer(3); }
  int64_t root(int64_t i) const { return call_.Integer(kHeader + static_cast<int>(i)); }
  int64_t bases() const { return call_.Integer(8); }
  double base(int64_t i) const { return call_.Real(base_ + static_cast<int>(i)); }
  int64_t label(int64_t i) const { return call_.Integer(base_ + Count(8) + static_cast<int>(i)); }
  int64_t votes() const { return call_.Integer(6); }
  int64_t target(int64_t vote) const { return call_.Integer(votes_ + 2 * static_cast<int>(vote)); }
  double weight(int64_t vote) const { return call_.Real(votes_ + 2 * static_cast<int>(vote) + 1); }

  // The votes of the leaf that a row of x comes to.
  void Follow(int64_t root, const double* row, int64_t* first, int64_t* count) const {
    int64_t at = root;
    while (at >= 0) {
      const int node = nodes_ + kNodeSize * static_cast<int>(at);
      at = call_.Integer(node + (Holds(node, row[call_.Integer(node)]) ? 6 : 7));
    }
    const int leaf = leaves_ + 2 * static_cast<int>(-1 - at);
    *first = call_.Integer(leaf);
    *count = call_.Integer(leaf + 1);
  }

 private:
  int Count(int i) const { return static_cast<int>(call_.Integer(i)); }

  bool Holds(int node, double value) const {
    const double split = call_.Real(node + 2);
    if (IsNan(value) && call_.Integer(node + 5) != 0) return true;
    switch (static_cast<Test>(call_.Integer(node + 1))) {
      case kAtMost:
        return value <= split;
      case kBelow:
        return value < split;
      case kAtLeast:
        return value >= split;
      case kAbove:
        return value > split;
      case kEqual:
        return value == split;
      case kDiffers:
        return value != split;
      case kMember:
        for (int64_t m = 0; m < call_.Integer(node + 4); ++m) {
          if (value == call_.Real(members_ + static_cast<int>(call_.Integer(node + 3) + m))) {
            return true;
          }
        }
        return false;
    }
    return false;
  }

  const Call& call_;
  int nodes_;
  int leaves_;
  int votes_;
  int members_;
  int base_;
};

double Logistic(double x) { return x >= 0 ? 1 / (1 + Exp(-x)) : Exp(x) / (1 + Exp(x)); }

// The inverse of the distribution function of the normal distribution, by Newton's method from Winitzki's approximation of
// the inverse error function (2008).
double Probit(double p) {
  const double y = 2 * p - 1;
  if (!(Abs(y) < 1)) return Abs(y) == 1 ? CopySign(kInfinity, y) : kNan;
  const double log = Log1p(-y * y);
  const double a = 2 / (kPi * 0.147) + log / 2;
  double x = CopySign(Sqrt(Sqrt(a * a - log / 0.147) - a), y);
  for (int i = 0; i < 3; ++i) x -= (Erf(x) - y) / (2 / Sqrt(kPi) * Exp(-x * x));
  return Sqrt(2) * x;
}

void Apply(Transform transform, double* scores, int64_t count) {
  if (transform == kLogistic || transform == kProbit) {
    for (int64_t i = 0; i < count; ++i) {
      scores[i] = transform == kLogistic ? Logistic(scores[i]) : Probit(scores[i]);
    }
  }
  if (transform != kSoftmax && transform != kSoftmaxZero) return;
  // SOFTMAX_ZERO leaves scores of 0 what they are.
  const bool keeps_zeros = transform == kSoftmaxZero;
  double largest = -kInfinity;
  for (int64_t i = 0; i < count; ++i) largest = scores[i] > largest ? scores[i] : largest;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (keeps_zeros && scores[i] == 0) continue;
    scores[i] = Exp(scores[i] - largest);
    sum += scores[i];
  }
  for (int64_t i = 0; sum != 0 && i < count; ++i) scores[i] /= sum;
}

// The scores of one row, before any transformation.
void Score(const Forest& forest, const double* row, double* scores, bool* voted) {
  for (int64_t t = 0; t < forest.targets(); ++t) {
    scores[t] = 0;
    voted[t] = false;
  }
  for (int64_t tree = 0; tree < forest.roots(); ++tree) {
    int64_t first, count;
    forest.Follow(forest.root(tree), row, &first, &count);
    for (int64_t vote = first; vote < first + count; ++vote) {
      double& score = scores[forest.target(vote)];
      bool& has_voted = voted[forest.target(vote)];
      const double weight = forest.weight(vote);
      const Aggregate aggregate = forest.aggregate();
      if (aggregate == kSum || aggregate == kAverage) {
        score += weight;
      } else if (!has_voted || (aggregate == kMin ? weight < score : weight > score)) {
        score = weight;
      }
      has_voted = true;
    }
  }
  for (int64_t t = 0; t < forest.targets(); ++t) {
    if (forest.aggregate() == kAverage) scores[t] /= static_cast<double>(forest.roots());
  }
}

// A label and the scores of two classes, where all votes are for one.
int64_t DecideBetweenTwo(const Forest& forest, double score, bool has_negative, double* scores) {
  const bool positive = score > (has_negative ? 0 : 0.5);
  const bool logistic = forest.transform() == kLogistic;
  scores[0] = has_negative || logistic ? -score : 1 - score;
  scores[1] = score;
  if (logistic) Apply(kLogistic, scores, 2);
  if (forest.transform() == kProbit) Apply(kProbit, scores, 2);
  return positive ? 1 : 0;
}

int32_t TreeEnsemble(const Call& call, bool classifies) {
  const Forest forest(call);
  const Operand x = call.input(0);
  const Operand labels = classifies ? call.output(0) : Operand();
  const Operand y = call.output(classifies ? 1 : 0);
  const int64_t features = x.extent(x.rank() - 1);
  const int64_t targets = forest.targets();
  const int64_t rows = x.rank() == 2 ? x.extent(0) : 1;
  const Scratch<double> row(call, features);
  const Scratch<double> scores(call, targets);
  const Scratch<bool> voted(call, targets);
  if (!row || !scores || !voted) return call.Fail(kOutOfScratch);
  bool one_target = true;
  bool has_negative = false;
  for (int64_t vote = 0; vote < forest.votes(); ++vote) {
    one_target &= forest.target(vote) == forest.target(0);
    has_negative |= forest.weight(vote) < 0;
  }
  const bool binary = classifies && targets == 2 && one_target && forest.votes() > 0;
  for (int64_t r = 0; r < rows; ++r) {
    LoadNumbers(x, r * features, features, row.get());
    Score(forest, row.get(), scores.get(), voted.get());
    int64_t chosen = 0;
    if (binary) {
      double score = scores[forest.target(0)];
      if (forest.bases() > 0) score += forest.base(forest.bases() - 1);
      chosen = DecideBetweenTwo(forest, score, has_negative, scores.get());
    } else {
      // The best of those that have a score at all.
      chosen = -1;
      for (int64_t t = 0; t < targets; ++t) {
        if (t < forest.bases()) scores[t] += forest.base(t);
        const bool counts = voted[t] || t < forest.bases();
        if (counts && (chosen < 0 || scores[t] > scores[chosen])) chosen = t;
      }
      if (chosen < 0) chosen = 0;
      Apply(forest.transform(), scores.get(), targets);
    }
    if (labels.present()) labels.data<int64_t>()[r] = forest.label(chosen);
    for (int64_t t = 0; y.present() && t < targets; ++t) SetNumber(y, r * targets + t, scores[t]);
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_TreeEnsemble(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return TreeEnsemble(Call(arguments), /*classifies=*/false);
}

int32_t slipway_TreeEnsembleClassifier(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return TreeEnsemble(Call(arguments), /*classifies=*/true);
}
