#include "core/reference/work.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/operators/products.h"
#include "core/operators/sampling.h"

namespace slipway {
namespace {

// Setting up a kernel; a node of a loop's body pays it each turn.
constexpr int64_t kBeginning = 256;

int64_t Times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? kBoundlessWork : product;
}
int64_t Plus(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? kBoundlessWork : sum;
}

// Elements of all inputs, and of all outputs.
struct Elements {
  int64_t read = 0;
  int64_t made = 0;
};

Elements ElementsOf(const NodeView& view, absl::Span<const ValueType> outputs) {
  Elements elements;
  for (int i = 0; i < view.num_inputs(); ++i) {
    if (!view.has_input(i) || !view.input_type(i).is_static()) continue;
    elements.read = Plus(elements.read, view.input_type(i).num_elements());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!view.has_output(static_cast<int>(i))) continue;
    const int64_t made = outputs[i].is_static() ? outputs[i].num_elements() : elements.read;
    elements.made = Plus(elements.made, made);
  }
  return elements;
}

int64_t Once(const NodeView&, const Elements& elements) {
  return Plus(elements.read, elements.made);
}

// As often as numbers that are halved until one is left.
int64_t Sorting(const NodeView&, const Elements& elements) {
  constexpr int64_t kHalvings = 64;
  return Times(Plus(elements.read, elements.made), kHalvings);
}

int64_t EachWithEach(const NodeView&, const Elements& elements) {
  return Times(elements.read, elements.made);
}

// A window for each element made.
int64_t Pool(const NodeView& view, const Elements& elements) {
  int64_t window = 1;
  for (const int64_t extent : view.Ints("kernel_shape")) window = Times(window, extent);
  return Times(elements.made, window);
}

int64_t LocalNormalization(const NodeView& view, const Elements& elements) {
  return Times(elements.made, view.Int("size"));
}

// Rows against rows, as often as a matrix has rows.
int64_t Determinant(const NodeView& view, const Elements& elements) {
  return Times(elements.read, view.input_shape(0).back());
}

// Each bin has as many samples, or as many as values say.
int64_t Align(const NodeView& view, const Elements& elements) {
  const absl::StatusOr<RoiAlignView> align = DecodeRoiAlign(view);
  if (!align.ok() || align->sampling_ratio == 0) return kBoundlessWork;
  return Times(elements.made, Times(align->sampling_ratio, align->sampling_ratio));
}

struct WorkRow {
  absl::string_view op;
  int64_t (*work)(const NodeView& view, const Elements& elements);
};
// Operators whose pattern does not say it.
constexpr WorkRow kRows[] = {
    {"ArgMax", Once},
    {"ArgMin", Once},
    {"AveragePool", Pool},
    {"CenterCropPad", Once},
    {"Compress", Once},
    {"CumProd", Once},
    {"CumSum", Once},
    {"Det", Determinant},
    {"Dropout", Once},
    {"DynamicQuantizeLinear", Once},
    {"GatherElements", Once},
    {"GatherND", Once},
    {"Hardmax", Once},
    {"LRN", LocalNormalization},
    {"LayerNormalization", Once},
    {"LogSoftmax", Once},
    {"LpNormalization", Once},
    {"LpPool", Pool},
    {"MaxPool", Pool},
    {"MeanVarianceNormalization", Once},
    {"NonZero", Once},
    {"OneHot", Once},
    {"ReverseSequence", Once},
    {"RoiAlign", Align},
    {"RotaryEmbedding", Once},
    {"ScatterElements", Once},
    {"ScatterND", Once},
    {"Tile", Once},
    {"TopK", Sorting},
    {"Trilu", Once},
    {"Unique", Sorting},
};

int64_t Visits(const NodeView& view, const Elements& elements) {
  for (const WorkRow& row : kRows) {
    if (row.op == view.op()) return row.work(view, elements);
  }
  switch (view.schema().pattern) {
    case Pattern::kElementwise:
    case Pattern::kBroadcast:
    case Pattern::kInjective:
    case Pattern::kReduction:
    case Pattern::kOutFusable:
    case Pattern::kKernel:  // Its body's nodes do.
      return Once(view, elements);
    case Pattern::kRereading:
    case Pattern::kOpaque:
      break;
  }
  return EachWithEach(view, elements);
}

}  // namespace

int64_t WorkOf(const NodeView& view, absl::Span<const ValueType> outputs) {
  if (view.schema().body_rule != nullptr) return kBeginning;
  const Elements elements = ElementsOf(view, outputs);
  int64_t visits = 0;
  if (MakesProducts(view.op())) {
    const absl::StatusOr<int64_t> flops = ProductFlops(view, outputs);
    if (!flops.ok() || *flops == kBoundlessWork) return kBoundlessWork;
    visits = *flops / 2;
  } else {
    visits = Visits(view, elements);
  }
  return Plus(kBeginning, std::max(visits, Once(view, elements)));
}

}  // namespace slipway
