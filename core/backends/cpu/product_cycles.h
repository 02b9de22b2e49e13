// What products of matrices cost a core, for choices between ways to make them.
#ifndef SLIPWAY_CORE_BACKENDS_CPU_PRODUCT_CYCLES_H_
#define SLIPWAY_CORE_BACKENDS_CPU_PRODUCT_CYCLES_H_

#include <algorithm>
#include <cstdint>

#include "core/target/machine_description.h"
#include "core/tensor/dtype.h"

namespace slipway {

// Units that multiply and add a vector each cycle.
inline constexpr int kMultiplyAddUnits = 2;
// Into the second-level cache and back: what lies between a transform and the products.
inline constexpr double kCacheBytesPerCycle = 32;

// Additions and multiplications of rows x columns of a matrix with one column: a term less one for each row.
template <int kRows, int kColumns>
double Operations(const double (&matrix)[kRows][kColumns], int64_t rows) {
  int64_t count = 0;
  for (int64_t r = 0; r < rows; ++r) {
    count += std::count_if(matrix[r], matrix[r] + kColumns, [](double f) { return f != 0; }) - 1;
  }
  return static_cast<double>(count);
}

// Cycles of so many products by so many weights of a type, smaller ones of which are as many more in a vector; the weights come
// through the memory once, fetched ahead.
double ProductCycles(const MachineDescription& machine, double products, double weights,
                     DataType dtype);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_CPU_PRODUCT_CYCLES_H_
