// ComputedConstant: a constant that a pass makes of another one.
#ifndef SLIPWAY_CORE_PASSES_COMPUTED_CONSTANT_H_
#define SLIPWAY_CORE_PASSES_COMPUTED_CONSTANT_H_

#include <functional>

#include "core/tensor/tensor.h"

namespace slipway {

// `fill` is given `from` and zeros of `type`. What has kLargeConstantBytes or more is deferred (Tensor::Deferred), so that a
// model's weights are laid out one after the other, by whoever writes them; `fill` must not refer to what may be gone by then.
Tensor ComputedConstant(const Tensor& from, TensorType type,
                        std::function<void(const Tensor& from, Tensor& to)> fill);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_COMPUTED_CONSTANT_H_
