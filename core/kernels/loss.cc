#include "core/kernels/loss.h"

#include "core/kernels/call.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"

namespace slipway::kernels {
namespace {

// The logarithm of the sum of the exponentials of `count` elements, by way of the largest; NaN where that is infinite.
double LogSum(const Operand& x, int64_t first, int64_t stride, int64_t count) {
  double largest = -kInfinity;
  for (int64_t c = 0; c < count; ++c) {
    const double value = NumberAt(x, first + c * stride);
    if (!(value <= largest)) largest = value;
  }
  if (IsInfinite(largest) || IsNan(largest)) return kNan;
  double sum = 0;
  for (int64_t c = 0; c < count; ++c) sum += Exp(NumberAt(x, first + c * stride) - largest);
  return largest + Log(sum);
}

int32_t Loss(const Call& call, bool of_scores) {
  const Operand x = call.input(0);
  const Operand classes = call.input(1);
  const Operand weights = call.input(2);
  const Operand loss = call.output(0);
  const Operand logarithms = call.output(1);
  const int64_t reduction = call.Integer(0);
  const bool ignores = call.Integer(1) != 0;
  const int64_t ignored = call.Integer(2);
  const int64_t count = x.extent(1);
  const int64_t inner = x.Product(2, x.rank());
  double sum = 0;
  double sum_of_weights = 0;
  for (int64_t sample = 0; sample < classes.elements(); ++sample) {
    const int64_t first = sample / inner * count * inner + sample % inner;
    const double shift = of_scores ? LogSum(x, first, inner, count) : 0;
    if (logarithms.present()) {
      for (int64_t c = 0; c < count; ++c) {
        const int64_t at = first + c * inner;
        SetNumber(logarithms, at, NumberAt(x, at) - shift);
      }
    }
    const int64_t target = IndexAt(classes, sample);
    double one = 0;
    if (!ignores || target != ignored) {
      if (target < 0 || target >= count) {
        return call.Fail("a class (input 1) is outside of the classes that there are");
      }
      const double weight = weights.present() ? NumberAt(weights, target) : 1;
      one = weight * (shift - NumberAt(x, first + target * inner));
      sum_of_weights += weight;
    }
    if (reduction == 0 && loss.present()) SetNumber(loss, sample, one);
    sum += one;
  }
  if (reduction != 0 && loss.present()) {
    SetNumber(loss, 0, reduction == 1 ? sum : sum / sum_of_weights);
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_NegativeLogLikelihoodLoss(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Loss(Call(arguments), /*of_scores=*/false);
}

int32_t slipway_SoftmaxCrossEntropyLoss(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Loss(Call(arguments), /*of_scores=*/true);
}
