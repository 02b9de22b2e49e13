// What calls of recurrent networks have in common: their parameters (recurrent.h) and the places in tensors. Freestanding:
// see call.h.
#ifndef SLIPWAY_CORE_KERNELS_RECURRENT_CALL_H_
#define SLIPWAY_CORE_KERNELS_RECURRENT_CALL_H_

#include <stdint.h>

#include "core/kernels/call.h"
#include "core/kernels/math.h"

namespace slipway::kernels {

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
};

// The places in tensors of both layouts.
struct RecurrentLayout {
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

class RecurrentCall {
 public:
  // `activations` is how many a direction has.
  RecurrentCall(const Call& call, int activations) : call_(call), activations_(activations) {}

  // Of a tensor as x is.
  RecurrentLayout LayoutOf(const Operand& x) const {
    const bool batch_first = call_.Integer(0) != 0;
    return {batch_first, x.extent(batch_first ? 1 : 0), x.extent(batch_first ? 0 : 1),
            call_.Integer(3)};
  }
  bool option() const { return call_.Integer(1) != 0; }
  bool IsReverse(int64_t direction) const { return call_.Integer(First(direction)) != 0; }
  Activation ActivationOf(int64_t direction, int number) const {
    const int at = First(direction) + 1 + 3 * number;
    const double clip = call_.Integer(2) != 0 ? call_.Real(4) : kInfinity;
    return {static_cast<ActivationKind>(call_.Integer(at)), call_.Real(at + 1), call_.Real(at + 2),
            clip};
  }

 private:
  int First(int64_t direction) const {
    return 5 + static_cast<int>(direction) * (1 + 3 * activations_);
  }

  const Call& call_;
  const int activations_;
};

// How long the sequence of each sample is.
class Lengths {
 public:
  Lengths(const Operand& operand, const RecurrentLayout& layout)
      : lengths_(operand.present() ? operand.data<const int32_t>() : nullptr), layout_(layout) {}

  int64_t Of(int64_t batch) const {
    return lengths_ == nullptr ? layout_.steps : int64_t{lengths_[batch]};
  }
  // Null, or what is wrong.
  const char* Check() const {
    for (int64_t b = 0; b < layout_.batches; ++b) {
      if (Of(b) < 0 || Of(b) > layout_.steps) {
        return "a sequence's length (input 4) is outside of the steps that there are";
      }
    }
    return nullptr;
  }

 private:
  const int32_t* lengths_;
  const RecurrentLayout& layout_;
};

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_RECURRENT_CALL_H_
