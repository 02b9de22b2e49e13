#include "core/codegen/depthwise/depthwise_tile.h"

#include <algorithm>

namespace slipway {
namespace {

constexpr DepthwiseTile kTiles[] = {{8, 4}, {4, 4}, {2, 4}, {1, 4}, {4, 2},
                                    {2, 2}, {1, 2}, {2, 1}, {1, 1}};

constexpr int64_t kWarp = 32;
constexpr int64_t kQuarters = 4;  // Of a multiprocessor, each with instructions of its own.
// Of an instance: who it is, and where its tensors lie; of an element that is loaded, with what finds out whether it is there; of one that is stored.
constexpr double kPlaceClocks = 40;
constexpr double kLoadClocks = 3;
constexpr double kStoreClocks = 4;

int64_t Parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

// What so many neighbours see along a dimension.
int64_t Seen(const SlidingWindow::Dimension& dimension, int64_t outputs) {
  return (outputs - 1) * dimension.stride + (dimension.kernel - 1) * dimension.dilation + 1;
}

double Clocks(const TensorGpu& gpu, const MatrixProduct& product, const DepthwiseTile& tile) {
  const SlidingWindow& window = *product.window;
  const double outputs = tile.rows * tile.columns;
  // Four neighbours at a time where rows are whole.
  const bool has_vectors = tile.columns == 4 && window.width.input % 4 == 0;
  const auto seen = static_cast<double>(Seen(window.width, tile.columns));
  const double loads =
      static_cast<double>(Seen(window.height, tile.rows)) * (has_vectors ? seen / 2 : seen);
  const auto weights = static_cast<double>(product.k);
  const double instance =
      kPlaceClocks + kLoadClocks * loads + weights + outputs * (weights + kStoreClocks);
  const int64_t warps = Parts(product.batch * Parts(window.height.output, tile.rows) *
                                  Parts(window.width.output, tile.columns),
                              kWarp);
  return instance * static_cast<double>(Parts(warps, gpu.multiprocessors * kQuarters));
}

}  // namespace

absl::Span<const DepthwiseTile> DepthwiseTiles() { return kTiles; }

DepthwiseTile ChooseDepthwiseTile(const TensorGpu& gpu, const MatrixProduct& product) {
  return *std::min_element(std::begin(kTiles), std::end(kTiles),
                           [&](const DepthwiseTile& a, const DepthwiseTile& b) {
                             return Clocks(gpu, product, a) < Clocks(gpu, product, b);
                           });
}

}  // namespace slipway
