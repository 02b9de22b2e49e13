#include "core/backends/cpu/product_cycles.h"

#include <algorithm>

namespace slipway {
namespace {

// Of a core that has the memory for itself. Weights of a whole model lie in no cache.
constexpr double kMemoryBytesPerCycle = 6;
// Weights are fetched ahead while others are multiplied, but for such a share.
constexpr double kApart = 0.25;
// Of the peak that products reach.
constexpr double kProductShare = 0.85;
constexpr double kBfloat16OfTiles = 512;  // Products of tile registers in a cycle.

}  // namespace

double ProductCycles(const MachineDescription& machine, double products, double weights,
                     DataType dtype) {
  const auto element_bytes = static_cast<double>(ByteSize(dtype));
  const double at_once = dtype == DataType::kBfloat16 && machine.has_bf16_tiles
                             ? kBfloat16OfTiles
                             : machine.vector_bytes / element_bytes * kMultiplyAddUnits;
  const double multiply = products / (at_once * kProductShare);
  const double read = weights * element_bytes / kMemoryBytesPerCycle;
  return std::max(multiply, read) + kApart * std::min(multiply, read);
}

}  // namespace slipway
