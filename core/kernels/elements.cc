#include "core/kernels/elements.h"

namespace slipway::kernels {
namespace {

// function(T()) with the element types whose numbers are widened to Wide.
template <typename Wide, typename Function>
void DispatchNarrow(Type type, Function function) {
  if constexpr (__is_same(Wide, double)) {
    switch (type) {
      case Type::kFloat32:
        return function(float());
      case Type::kFloat64:
        return function(double());
      case Type::kFloat16:
        return function(Float16());
      default:
        return function(Bfloat16());
    }
  } else if constexpr (__is_same(Wide, uint64_t)) {
    function(uint64_t());
  } else {
    switch (type) {
      case Type::kInt8:
        return function(int8_t());
      case Type::kInt16:
        return function(int16_t());
      case Type::kInt32:
        return function(int32_t());
      case Type::kUint8:
        return function(uint8_t());
      case Type::kUint16:
        return function(uint16_t());
      case Type::kUint32:
        return function(uint32_t());
      case Type::kBool:
        return function(bool());
      default:
        return function(int64_t());
    }
  }
}

struct AllStrides {
  PerDimension of[BroadcastRows::kMostInputs];
};
AllStrides StridesOfAll(const Operand* inputs, int count, const Operand& y) {
  AllStrides strides;
  for (int k = 0; k < count; ++k) strides.of[k] = StridesWithin(inputs[k], y);
  return strides;
}

}  // namespace

template <typename Wide>
void Load(const Operand& x, int64_t first, int64_t step, int64_t count, Wide* to) {
  DispatchNarrow<Wide>(x.type(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data<const T>() + first;
    if (step == 1) {
      for (int64_t i = 0; i < count; ++i) to[i] = Widen(from[i]);
    } else if (step == 0) {
      const Wide value = Widen(*from);
      for (int64_t i = 0; i < count; ++i) to[i] = value;
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = Widen(from[i * step]);
    }
  });
}
template void Load(const Operand&, int64_t, int64_t, int64_t, double*);
template void Load(const Operand&, int64_t, int64_t, int64_t, int64_t*);
template void Load(const Operand&, int64_t, int64_t, int64_t, uint64_t*);

template <typename Wide>
void Store(const Wide* from, int64_t first, int64_t step, int64_t count, const Operand& y) {
  DispatchNarrow<Wide>(y.type(), [&](auto zero) {
    using T = decltype(zero);
    T* to = y.data<T>() + first;
    if (step == 1) {
      for (int64_t i = 0; i < count; ++i) to[i] = Narrow<T>(from[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) to[i * step] = Narrow<T>(from[i]);
    }
  });
}
template void Store(const double*, int64_t, int64_t, int64_t, const Operand&);
template void Store(const int64_t*, int64_t, int64_t, int64_t, const Operand&);
template void Store(const uint64_t*, int64_t, int64_t, int64_t, const Operand&);

PerDimension StridesWithin(const Operand& x, const Operand& y) {
  const PerDimension own = StridesOf(x);
  const int further = y.rank() - x.rank();
  PerDimension strides;
  for (int d = 0; d < x.rank(); ++d) {
    if (x.extent(d) != 1) strides[further + d] = own[d];
  }
  return strides;
}

PerDimension StridesOfReduced(const Operand& x, const PerDimension& reduced) {
  PerDimension strides;
  int64_t stride = 1;
  for (int d = x.rank() - 1; d >= 0; --d) {
    if (reduced[d] != 0) continue;
    strides[d] = stride;
    stride *= x.extent(d);
  }
  return strides;
}

BroadcastRows::BroadcastRows(const Operand* inputs, int count, const Operand& y)
    : BroadcastRows(StridesOfAll(inputs, count, y).of, count, y) {}

BroadcastRows::BroadcastRows(const PerDimension* strides, int count, const Operand& y)
    : count_(count) {
  bool in_row = true;
  for (int d = y.rank() - 1; d >= 0; --d) {
    const int64_t extent = y.extent(d);
    rows_ *= extent;
    if (extent == 1) continue;
    // Whether the dimension goes on where the row ends.
    bool goes_on = in_row;
    for (int k = 0; k < count && length_ > 1; ++k) {
      goes_on = goes_on && strides[k][d] == step_[k] * length_;
    }
    if (goes_on) {
      for (int k = 0; k < count && length_ == 1; ++k) step_[k] = strides[k][d];
      length_ *= extent;
    } else {
      in_row = false;
      extents_[outer_] = extent;
      for (int k = 0; k < count; ++k) strides_[k][outer_] = strides[k][d];
      ++outer_;
    }
  }
  if (rows_ > 0) rows_ /= length_;
}

bool BroadcastRows::Next() {
  if (++number_ >= rows_) return false;
  for (int d = 0; d < outer_ && number_ > 0; ++d) {
    const bool wraps = ++index_[d] == extents_[d];
    for (int k = 0; k < count_; ++k) {
      at_[k] += wraps ? strides_[k][d] * (1 - extents_[d]) : strides_[k][d];
    }
    if (!wraps) break;
    index_[d] = 0;
  }
  return true;
}

}  // namespace slipway::kernels
