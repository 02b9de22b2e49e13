#include "core/passes/computed_constant.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/passes/limits.h"

namespace slipway {

Tensor ComputedConstant(const Tensor& from, TensorType type,
                        std::function<void(const Tensor& from, Tensor& to)> fill) {
  if (type.byte_size() < kLargeConstantBytes) {
    Tensor to = Tensor::Zeros(type.dtype, type.shape);
    fill(from.Loaded(), to);
    return to;
  }
  return Tensor::Deferred(type, [from, type, fill = std::move(fill)]() -> absl::StatusOr<Tensor> {
    SLIPWAY_ASSIGN_OR_RETURN(Tensor to, Tensor::Create(type));
    fill(from.Loaded(), to);
    return to;
  });
}

}  // namespace slipway
