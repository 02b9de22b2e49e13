// What numbers products are of whose sums have another type than what is multiplied.
#ifndef SLIPWAY_CORE_OPERATORS_SMALL_NUMBERS_H_
#define SLIPWAY_CORE_OPERATORS_SMALL_NUMBERS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/tensor/dtype.h"

namespace slipway {

struct SmallNumbers {
  DataType x, w, y;
  int64_t terms;  // Innermost in packed weights: products that are added at once.
  bool has_bias;  // It may have one, of y's type.
};

inline constexpr SmallNumbers kShorts = {DataType::kInt16, DataType::kInt16, DataType::kInt32, 2,
                                         false};
// Of packed weights.
inline constexpr SmallNumbers kPackedSmallNumbers[] = {
    kShorts,
    {DataType::kBfloat16, DataType::kBfloat16, DataType::kFloat32, 2, true},
    {DataType::kUint8, DataType::kInt8, DataType::kInt32, 4, true},
};

// The row for data of the type; null where there is none, and y is of x's type.
inline const SmallNumbers* FindSmallNumbers(absl::Span<const SmallNumbers> among, DataType x) {
  for (const SmallNumbers& numbers : among) {
    if (numbers.x == x) return &numbers;
  }
  return nullptr;
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_SMALL_NUMBERS_H_
