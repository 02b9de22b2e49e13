// Walks over index spaces whose rank is known at run time. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_PLACES_H_
#define SLIPWAY_CORE_KERNELS_PLACES_H_

#include <stdint.h>

#include "core/kernels/call.h"

namespace slipway::kernels {

inline constexpr int kMostDimensions = 16;  // What core/tensor/shape.h lets through.

// A number for each dimension of a tensor.
struct PerDimension {
  int64_t& operator[](int d) { return of[d]; }
  int64_t operator[](int d) const { return of[d]; }
  int64_t of[kMostDimensions] = {};
};

// Counts in `named` the dimensions, of `rank`, that axes name. Returns what is wrong with them, null where nothing is.
inline const char* NamedAxes(const Operand& axes, int rank, PerDimension& named) {
  if (rank < 0 || rank > kMostDimensions) return "there are too many axes";
  for (int64_t i = 0; i < axes.elements(); ++i) {
    const int axis = AxisAt(axes, i, rank);
    if (axis < 0) return "an axis is outside of the dimensions";
    if (named[axis]++ != 0) return "an axis is there twice";
  }
  return nullptr;
}

inline PerDimension ExtentsOf(const Operand& x) {
  PerDimension extents;
  for (int d = 0; d < x.rank(); ++d) extents[d] = x.extent(d);
  return extents;
}

// Row-major, in elements.
inline PerDimension StridesOf(const Operand& x) {
  PerDimension strides;
  int64_t stride = 1;
  for (int d = x.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= x.extent(d);
  }
  return strides;
}

// Calls visit(i, at) for every place of a space in row-major order: its number, and an array of its offsets by each of
// the strides. Ends with the first result that is not 0, and returns it.
template <int count, typename Visit>
int32_t ForEachPlace(int rank, const PerDimension& extents, const PerDimension (&strides)[count],
                     Visit visit) {
  PerDimension index;
  int64_t places = 1;
  for (int d = 0; d < rank; ++d) places *= extents[d];
  int64_t at[count] = {};
  for (int64_t i = 0; i < places; ++i) {
    const int32_t result = visit(i, at);
    if (result != 0) return result;
    for (int d = rank - 1; d >= 0; --d) {
      const bool wraps = ++index[d] == extents[d];
      for (int k = 0; k < count; ++k) {
        at[k] += wraps ? strides[k][d] * (1 - extents[d]) : strides[k][d];
      }
      if (!wraps) break;
      index[d] = 0;
    }
  }
  return 0;
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_PLACES_H_
