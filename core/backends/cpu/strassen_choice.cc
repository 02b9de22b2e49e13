#include "core/backends/cpu/strassen_choice.h"

#include "core/backends/cpu/product_cycles.h"
#include "core/operators/strassen.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

constexpr double kLeastGain = 1.01;
// Some microseconds at least.
constexpr double kLeastSaved = 10'000;

// Additions that a matrix of sums takes: one less than terms for each of its rows.
template <int kRows, int kColumns>
constexpr int Additions(const double (&matrix)[kRows][kColumns]) {
  int count = 0;
  for (const auto& row : matrix) {
    for (const double factor : row) count += factor != 0 ? 1 : 0;
    --count;
  }
  return count;
}

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
  const double additions =
      Additions(kStrassen.left) * half_depth + Additions(kStrassen.result) * half_columns;
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
