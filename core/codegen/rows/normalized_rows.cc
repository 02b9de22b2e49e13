#include "core/codegen/rows/normalized_rows.h"

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/normalization.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

constexpr int kNumbersOfWarps[] = {1, 4, 8};
constexpr int64_t kWarp = 32;
// Of a multiprocessor: enough to hide what one of them waits for.
constexpr int64_t kWantedWarps = 8;
constexpr int64_t kFewestOfInstance = 4;
constexpr int64_t kMostElements = int64_t{1} << 29;

}  // namespace

absl::StatusOr<NormalizedRows> DecodeNormalizedRows(const Graph& body,
                                                    const OperatorRegistry& registry) {
  if (body.nodes.size() != 1 || body.nodes[0].outputs.size() != 1) {
    return absl::UnimplementedError("it is not one operator of one result");
  }
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(body, body.nodes[0], registry));
  NormalizedRows made;
  int64_t axis = 0;
  if (view.op() == "Softmax") {
    SLIPWAY_ASSIGN_OR_RETURN(axis, DecodeSoftmax(view));
  } else if (view.op() == "LayerNormalization" || view.op() == "RMSNormalization") {
    made.kind = view.op() == "LayerNormalization" ? NormalizedRows::Kind::kCentered
                                                  : NormalizedRows::Kind::kSquares;
    made.epsilon = view.Float("epsilon");
    SLIPWAY_ASSIGN_OR_RETURN(axis, DecodeLayerNormalization(view));
  } else {
    return absl::UnimplementedError(absl::StrCat(view.op(), " makes no rows"));
  }
  const auto input = [&](int i) -> absl::StatusOr<int> {
    if (view.input_type(i).dtype() != DataType::kFloat32 || !view.input_type(i).is_static()) {
      return absl::UnimplementedError("its inputs are not of f32 and of known extents");
    }
    const auto found = absl::c_find(body.inputs, view.node().inputs[static_cast<size_t>(i)]);
    if (found == body.inputs.end())
      return absl::UnimplementedError("a tensor of it is in its code");
    return static_cast<int>(found - body.inputs.begin());
  };
  SLIPWAY_ASSIGN_OR_RETURN(made.x, input(0));
  const Shape& shape = view.input_shape(0);
  const auto first = shape.begin() + axis;
  made.rows = NumElements(Shape(shape.begin(), first));
  made.size = NumElements(Shape(first, shape.end()));
  if (made.kind == NormalizedRows::Kind::kSoftmax && made.size != *first) {
    return absl::UnimplementedError("its rows do not lie together");
  }
  if (made.rows < 1 || made.size < 1 || made.size > kMostRowSize ||
      made.rows > kMostElements / made.size) {
    return absl::UnimplementedError(absl::StrCat(made.rows, " rows of ", made.size, " numbers"));
  }
  for (const int i : {1, 2}) {
    if (i >= view.num_inputs() || !view.has_input(i)) continue;
    // The same for all rows, and another one for each place.
    Shape weights = view.input_shape(i);
    while (!weights.empty() && weights[0] == 1) weights.erase(weights.begin());
    Shape row(first, shape.end());
    while (!row.empty() && row[0] == 1) row.erase(row.begin());
    if (weights != row) return absl::UnimplementedError("its weights repeat within a row");
    SLIPWAY_ASSIGN_OR_RETURN((i == 1 ? made.scale : made.bias), input(i));
  }
  return made;
}

bool CanShareRow(int warps, int64_t size) {
  return absl::c_linear_search(kNumbersOfWarps, warps) && size <= warps * kWarp * kMostOfInstance;
}

int ChooseWarpsOfRow(const TensorGpu& gpu, int64_t rows, int64_t size) {
  int best = 0;
  for (const int warps : kNumbersOfWarps) {
    if (!CanShareRow(warps, size)) continue;
    const bool has_work = size >= warps * kWarp * kFewestOfInstance;
    if (best > 0 && (rows * best >= gpu.multiprocessors * kWantedWarps || !has_work)) break;
    best = warps;
  }
  return best;
}

}  // namespace slipway
