// What products of matrices cost a core, for choices between ways to make them.
#ifndef SLIPWAY_CORE_BACKENDS_CPU_PRODUCT_CYCLES_H_
#define SLIPWAY_CORE_BACKENDS_CPU_PRODUCT_CYCLES_H_

#include "core/target/machine_description.h"
#include "core/tensor/dtype.h"

namespace slipway {

// Units that multiply and add a vector each cycle.
inline constexpr int kMultiplyAddUnits = 2;
// Into the second-level cache and back: what lies between a transform and the products.
inline constexpr double kCacheBytesPerCycle = 32;

// Cycles of so many products by so many weights of a type, smaller ones of which are as many more in a vector; the weights come
// through the memory once, fetched ahead.
double ProductCycles(const MachineDescription& machine, double products, double weights,
                     DataType dtype);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_CPU_PRODUCT_CYCLES_H_
