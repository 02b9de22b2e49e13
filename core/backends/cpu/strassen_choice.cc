#include "core/backends/cpu/strassen_choice.h"

#include "core/backends/cpu/product_cycles.h"
#include "core/operators/strassen.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

constexpr double kLeastGain = 1.01;
// Some microseconds at least.
constexpr double kLeastSaved = 10'000;

}  // namespace

double WholeCycles(const MachineDescription& machine, int64_t rows, int64_t depth,
                   int64_t columns) {
  const double weights = static_cast<double>(depth) * static_cast<double>(columns);
  return ProductCycles(machine, static_cast<double>(rows) * weights, weights, DataType::kFloat32);
}

double HalvedCycles(const MachineDescription& machine, int64_t rows, int64_t depth,
                    int64_t columns) {
  const double lanes = static_cast<double>(machine.vector_bytes) / sizeof(float);
  const auto pairs = static_cast<double>((rows + 1) / 2);
  const double half_depth = static_cast<double>(depth) / 2;
  const double half_columns = static_cast<double>(columns) / 2;
  const double weights = kStrassenProducts * half_depth * half_columns;
  const double additions = Operations(kStrassen.left, kStrassenProducts) * half_depth +
                           Operations(kStrassen.result, kStrassenQuarters) * half_columns;
  const double between =
      2 * kStrassenProducts * sizeof(float) * (half_depth + half_columns) / kCacheBytesPerCycle;
  return ProductCycles(machine, pairs * weights, weights, DataType::kFloat32) +
         pairs * (additions / (lanes * kMultiplyAddUnits) + between);
}

bool IsFasterByHalves(const MachineDescription& machine, int64_t rows, int64_t depth,
                      int64_t columns) {
  // Other products there take a vector of the left matrix at once, and multiply by its elements.
  if (machine.has_lane_fma) return false;
  const double whole = WholeCycles(machine, rows, depth, columns);
  const double halved = HalvedCycles(machine, rows, depth, columns);
  return halved * kLeastGain <= whole && halved + kLeastSaved <= whole;
}

}  // namespace slipway
