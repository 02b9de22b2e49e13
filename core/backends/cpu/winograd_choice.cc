#include "core/backends/cpu/winograd_choice.h"

#include <algorithm>

#include "core/kernels/winograd.h"

namespace slipway {
namespace {

// Of a core that has the memory for itself. Weights of a whole model lie in no cache.
constexpr double kMemoryBytesPerCycle = 6;
// Weights are fetched ahead while others are multiplied, but for such a share.
constexpr double kApart = 0.25;
// Into the second-level cache and back: what lies between a transform and the products.
constexpr double kCacheBytesPerCycle = 32;
// Of the peak that products reach.
constexpr double kProductShare = 0.85;
// Larger tiles round more.
constexpr double kLeastGain = 1.2;
// Some microseconds at least: transformed weights are more bytes, of which small programs have few.
constexpr double kLeastSaved = 10'000;
constexpr int64_t kUnits = 2;             // That multiply and add a vector each cycle.
constexpr double kBfloat16OfTiles = 512;  // Products of tile registers in a cycle.

int64_t RoundUpDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Additions and multiplications of rows x columns of a matrix with one column: a term less one for each row.
template <int kRows, int kColumns>
int64_t Operations(const double (&matrix)[kRows][kColumns], int64_t rows) {
  int64_t count = 0;
  for (int64_t r = 0; r < rows; ++r) {
    count += std::count_if(matrix[r], matrix[r] + kColumns, [](double f) { return f != 0; }) - 1;
  }
  return count;
}

// Of products and weights of a type: smaller ones are as many more in a vector.
double Cycles(const MachineDescription& machine, double products, double weights, DataType dtype) {
  const auto element_bytes = static_cast<double>(ByteSize(dtype));
  const double at_once = dtype == DataType::kBfloat16 && machine.has_bf16_tiles
                             ? kBfloat16OfTiles
                             : machine.vector_bytes / element_bytes * kUnits;
  const double multiply = products / (at_once * kProductShare);
  const double read = weights * element_bytes / kMemoryBytesPerCycle;
  return std::max(multiply, read) + kApart * std::min(multiply, read);
}

}  // namespace

double DirectCycles(const MachineDescription& machine, const ConvView& conv, DataType dtype) {
  constexpr int kKernel = kernels::kWinogradKernel * kernels::kWinogradKernel;
  const auto channels = static_cast<double>(conv.in_channels * conv.out_channels);
  const auto places =
      static_cast<double>(conv.batch * conv.window.output[0] * conv.window.output[1]);
  return Cycles(machine, places * kKernel * channels, kKernel * channels, dtype);
}

double TiledCycles(const MachineDescription& machine, const ConvView& conv, int64_t m) {
  const double lanes = static_cast<double>(machine.vector_bytes) / sizeof(float);
  const auto channels = static_cast<double>(conv.in_channels * conv.out_channels);
  const int64_t height = conv.window.output[0];
  const int64_t width = conv.window.output[1];
  const kernels::WinogradMatrices& matrices = *kernels::FindWinograd(m);
  const int64_t t = matrices.tile;
  const auto tiles =
      static_cast<double>(conv.batch * RoundUpDivide(height, m) * RoundUpDivide(width, m));
  const auto square = static_cast<double>(t * t);
  // Both sides of a tile: columns first, then rows.
  const auto input = static_cast<double>(Operations(matrices.input, t) * (t + t));
  const auto output = static_cast<double>(Operations(matrices.output, m) * (t + m));
  const double transforms = (input * static_cast<double>(conv.in_channels) +
                             output * static_cast<double>(conv.out_channels)) /
                            (lanes * kUnits);
  const double between = 2 * square * sizeof(float) *
                         static_cast<double>(conv.in_channels + conv.out_channels) /
                         kCacheBytesPerCycle;
  return Cycles(machine, tiles * square * channels, square * channels, DataType::kFloat32) +
         tiles * (transforms + between);
}

int64_t ChooseWinogradTile(const MachineDescription& machine, const ConvView& conv,
                           DataType direct) {
  double least = DirectCycles(machine, conv, direct);
  int64_t best = 0;
  for (const kernels::WinogradMatrices& matrices : kernels::kWinograd) {
    const double cycles = TiledCycles(machine, conv, matrices.outputs);
    if (std::max(cycles * kLeastGain, cycles + kLeastSaved) > least) continue;
    least = cycles;
    best = matrices.outputs;
  }
  return best;
}

}  // namespace slipway
