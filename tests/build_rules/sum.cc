// Freestanding C++ for slipway_freestanding_archives.
#include "tests/build_rules/sum.h"

int64_t slipway_test_sum_of_squares(const int32_t* values, size_t count) {
  int64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += slipway_test_square(values[i]);
  slipway_test_import(sum);
  return sum;
}
