#include "core/codegen/tensor_cores/weight_layout.h"

#include <cstring>

#include "core/base/check.h"
#include "core/tensor/float16.h"

namespace slipway {
namespace {

// Writes numbers one behind the other.
template <typename T>
class Writer {
 public:
  explicit Writer(Tensor& to) : next_(to.mutable_bytes()) {}
  void Put(T number) {
    memcpy(next_, &number, sizeof(number));
    next_ += sizeof(number);
  }

 private:
  char* next_;
};

template <typename T, typename Narrow>
void Write(const Tensor& weights, const WeightLayout& layout, const Narrow& narrow, Tensor& to) {
  const absl::Span<const float> from = weights.values<float>();
  Writer<T> writer(to);
  for (int64_t matrix = 0; matrix < layout.matrices; ++matrix) {
    for (int64_t column = 0; column < layout.columns; ++column) {
      for (int64_t row = 0; row < layout.rows; ++row) {
        const int64_t place = (matrix * layout.rows + row) * layout.columns + column;
        writer.Put(narrow(from[static_cast<size_t>(place)]));
      }
    }
  }
}

}  // namespace

Tensor LaidOutWeights(const Tensor& weights, const WeightLayout& layout, const Shape& shape) {
  SLIPWAY_CHECK(weights.num_elements() == layout.matrices * layout.rows * layout.columns &&
                    weights.num_elements() == NumElements(shape),
                "another layout's weights");
  Tensor to = Tensor::Zeros(layout.dtype, shape);
  if (layout.dtype == DataType::kFloat32) {
    Write<float>(
        weights, layout, [](float number) { return number; }, to);
  } else {
    const bool is_f16 = layout.dtype == DataType::kFloat16;
    Write<uint16_t>(weights, layout, is_f16 ? FloatToFloat16 : FloatToBfloat16, to);
  }
  return to;
}

}  // namespace slipway
