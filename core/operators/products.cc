#include "core/operators/products.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/numeric/int128.h"
#include "core/base/status_macros.h"
#include "core/operators/attention.h"
#include "core/operators/convolution.h"
#include "core/operators/matrix.h"
#include "core/operators/recurrent.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

// Two operations for each number that meets a weight.
class Flops {
 public:
  Flops& Times(int64_t count) {
    if (__builtin_mul_overflow(flops_, count, &flops_)) is_beyond_ = true;
    return *this;
  }
  Flops& Times(absl::Span<const int64_t> extents) {
    for (const int64_t extent : extents) Times(extent);
    return *this;
  }
  int64_t Get() const { return is_beyond_ ? std::numeric_limits<int64_t>::max() : flops_; }

 private:
  int64_t flops_ = 2;
  bool is_beyond_ = false;
};

using Outputs = absl::Span<const ValueType>;
using CountFunction = absl::StatusOr<Flops> (*)(const NodeView& view, Outputs outputs);

absl::StatusOr<Flops> CountConv(const NodeView& view, Outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(view));
  return Flops()
      .Times(std::max<int64_t>(conv.batch, 1))
      .Times(conv.out_channels)
      .Times(conv.in_channels / conv.group)
      .Times(conv.window.output)
      .Times(conv.window.kernel);
}

// Each element of the output, with the weights of its channel.
template <int kWeights>
absl::StatusOr<Flops> CountQuantizedConv(const NodeView& view, Outputs outputs) {
  const Shape& weights = view.input_shape(kWeights);
  return Flops()
      .Times(outputs[0].num_elements())
      .Times(NumElements(weights) / std::max<int64_t>(weights[0], 1));
}

// Each element of x, with the weights of its group: [C, M / group, kernel...].
absl::StatusOr<Flops> CountConvTranspose(const NodeView& view, Outputs) {
  const Shape& x = view.input_shape(0);
  return Flops()
      .Times(NumElements(x))
      .Times(NumElements(view.input_shape(1)) / std::max<int64_t>(x[1], 1));
}

absl::StatusOr<Flops> CountGemm(const NodeView& view, Outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(view));
  return Flops().Times(std::max<int64_t>(gemm.m, 1)).Times(gemm.n).Times(gemm.k);
}

absl::StatusOr<Flops> CountMatMul(const NodeView& view, Outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const MatMulView product, DecodeMatMul(view));
  return Flops().Times(product.batch).Times(product.m).Times(product.n).Times(product.k);
}

absl::StatusOr<Flops> CountQuantizedMatMul(const NodeView& view, Outputs outputs) {
  return Flops().Times(outputs[0].num_elements()).Times(view.input_shape(0).back());
}

// Queries with keys, and weights of keys with values.
absl::StatusOr<Flops> CountAttention(const NodeView& view, Outputs outputs) {
  constexpr int kPastKey = 4;
  const Shape& key = view.input_shape(1);
  int64_t keys = key[key.size() - 2];
  if (view.has_input(kPastKey)) keys += view.input_shape(kPastKey)[2];
  return Flops().Times(NumElements(view.input_shape(0)) + outputs[0].num_elements()).Times(keys);
}

absl::StatusOr<Flops> CountBlockAttention(const NodeView& view, Outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockAttentionView attention, DecodeBlockAttention(view));
  const auto extent = [&](BlockOperand operand, BlockAxis axis) -> int64_t {
    const std::vector<int64_t>& order = attention.orders[operand];
    return view.input_shape(operand)[std::find(order.begin(), order.end(), axis) - order.begin()];
  };
  const int64_t queries = extent(kQueries, kPosition);
  const int64_t keys = extent(kKeys, kPosition);
  Flops flops;
  flops.Times(extent(kQueries, kBatch))
      .Times(attention.heads)
      .Times(extent(kKeys, kItem) + extent(kValues, kItem));
  if (attention.reads_all()) return flops.Times(queries).Times(keys);
  // Of the queries the last ones see all keys, the first ones none, and each between one more than that before it.
  const int64_t see_all =
      std::clamp<int64_t>(queries - keys + 1 + *attention.past_keys, 0, queries);
  const int64_t see_none = std::clamp<int64_t>(-*attention.past_keys, 0, queries - see_all);
  const int64_t see_some = queries - see_all - see_none;
  const int64_t fewest = see_none + 1 + *attention.past_keys;
  const absl::int128 seen = absl::int128(see_all) * keys + absl::int128(see_some) * fewest +
                            absl::int128(see_some) * (see_some - 1) / 2;
  return flops.Times(
      static_cast<int64_t>(std::min<absl::int128>(seen, std::numeric_limits<int64_t>::max())));
}

// Each step of each row with all weights of what comes in, and of the state.
absl::StatusOr<Flops> CountRecurrent(const NodeView& view, Outputs) {
  const Shape& x = view.input_shape(0);
  return Flops().Times(x[0]).Times(x[1]).Times(NumElements(view.input_shape(1)) +
                                               NumElements(view.input_shape(2)));
}

absl::StatusOr<Flops> CountRecurrentSteps(const NodeView& view, Outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const RecurrentView recurrent, DecodeRecurrent(view));
  const Shape& sums = view.input_shape(0);
  const int64_t hidden = view.input_shape(1)[2];
  return Flops()
      .Times(sums[0])
      .Times(sums[1])
      .Times(static_cast<int64_t>(recurrent.reverse.size()))
      .Times(recurrent.gates)
      .Times(hidden)
      .Times(hidden);
}

struct ProductRow {
  absl::string_view op;
  CountFunction count;
};
constexpr ProductRow kProducts[] = {
    {"Attention", CountAttention},
    {"Conv", CountConv},
    {"ConvInteger", CountQuantizedConv<1>},
    {"ConvTranspose", CountConvTranspose},
    {"GRU", CountRecurrent},
    {"Gemm", CountGemm},
    {"LSTM", CountRecurrent},
    {"MatMul", CountMatMul},
    {"MatMulInteger", CountQuantizedMatMul},
    {"QLinearConv", CountQuantizedConv<3>},
    {"QLinearMatMul", CountQuantizedMatMul},
    {"RNN", CountRecurrent},
    {"slipway.BlockAttention", CountBlockAttention},
    {"slipway.ConvNCHWc", CountConv},
    {"slipway.DepthwiseConvNCHWc", CountConv},
    {"slipway.GRUSteps", CountRecurrentSteps},
    {"slipway.GemmPacked", CountGemm},
    {"slipway.IntegerGemm", CountGemm},
    {"slipway.LSTMSteps", CountRecurrentSteps},
    {"slipway.RNNSteps", CountRecurrentSteps},
    {"slipway.StrassenConvNCHWc", CountConv},
    {"slipway.StrassenGemm", CountGemm},
    {"slipway.WinogradConvNCHWc", CountConv},
};

const ProductRow* RowOf(absl::string_view op) {
  for (const ProductRow& row : kProducts) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

}  // namespace

bool MakesProducts(absl::string_view op) { return RowOf(op) != nullptr; }

absl::StatusOr<int64_t> ProductFlops(const NodeView& view, absl::Span<const ValueType> outputs) {
  const ProductRow* const row = RowOf(view.op());
  if (row == nullptr) return 0;
  SLIPWAY_ASSIGN_OR_RETURN(const Flops flops, row->count(view, outputs));
  return flops.Get();
}

}  // namespace slipway
