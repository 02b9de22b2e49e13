#include "core/backends/cpu/winograd_choice.h"

#include <algorithm>

#include "core/backends/cpu/product_cycles.h"
#include "core/kernels/winograd.h"

namespace slipway {
namespace {

// Larger tiles round more.
constexpr double kLeastGain = 1.2;
// Some microseconds at least: transformed weights are more bytes, of which small programs have few.
constexpr double kLeastSaved = 10'000;

int64_t RoundUpDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

double DirectCycles(const MachineDescription& machine, const ConvView& conv, DataType dtype) {
  constexpr int kKernel = kernels::kWinogradKernel * kernels::kWinogradKernel;
  const auto channels = static_cast<double>(conv.in_channels * conv.out_channels);
  const auto places =
      static_cast<double>(conv.batch * conv.window.output[0] * conv.window.output[1]);
  return ProductCycles(machine, places * kKernel * channels, kKernel * channels, dtype);
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
  const double input = Operations(matrices.input, t) * static_cast<double>(t + t);
  const double output = Operations(matrices.output, m) * static_cast<double>(t + m);
  const double transforms = (input * static_cast<double>(conv.in_channels) +
                             output * static_cast<double>(conv.out_channels)) /
                            (lanes * kMultiplyAddUnits);
  const double between = 2 * square * sizeof(float) *
                         static_cast<double>(conv.in_channels + conv.out_channels) /
                         kCacheBytesPerCycle;
  return ProductCycles(machine, tiles * square * channels, square * channels, DataType::kFloat32) +
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
