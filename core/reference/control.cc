#include "core/operators/control.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

// Everything that a loop collects, in all turns.
constexpr int64_t kMaxCollectedBytes = int64_t{4} << 30;

// The body's outputs; errors name the node around it.
absl::StatusOr<std::vector<Tensor>> EvaluateBody(const NodeView& view, const Graph& body,
                                                 absl::Span<const Tensor> inputs,
                                                 BodyEvaluator& evaluator) {
  auto outputs = evaluator.Evaluate(body, inputs);
  if (!outputs.ok()) return view.Annotated(outputs.status());
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> If(const NodeView& view, absl::Span<const Tensor> inputs,
                                       BodyEvaluator& evaluator) {
  SLIPWAY_ASSIGN_OR_RETURN(const IfView branches, DecodeIf(view));
  SLIPWAY_ASSIGN_OR_RETURN(const bool holds, Holds(view, inputs[0]));
  return EvaluateBody(view, holds ? *branches.then_body : *branches.else_body, inputs.subspan(1),
                      evaluator);
}

// A value as [before the axis, along it, after it].
struct Cut {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner_bytes = 1;
};

Cut CutAt(const TensorType& type, int64_t axis) {
  const absl::Span<const int64_t> shape = type.shape;
  return {NumElements(shape.subspan(0, axis)), shape[axis],
          NumElements(shape.subspan(axis + 1)) * ByteSize(type.dtype)};
}

absl::StatusOr<Tensor> SliceOf(const Tensor& whole, const Slices& slices, int64_t turn) {
  const Cut cut = CutAt(whole.type(), slices.axis);
  const int64_t index = slices.reverse ? cut.extent - 1 - turn : turn;
  TensorType type = whole.type();
  type.shape.erase(type.shape.begin() + slices.axis);
  SLIPWAY_ASSIGN_OR_RETURN(Tensor slice, Tensor::Create(type));
  for (int64_t o = 0; o < cut.outer; ++o) {
    std::memcpy(slice.mutable_bytes() + o * cut.inner_bytes,
                whole.bytes().data() + (o * cut.extent + index) * cut.inner_bytes,
                static_cast<size_t>(cut.inner_bytes));
  }
  return slice;
}

// `slice` is the type of each.
absl::StatusOr<Tensor> Stack(const std::vector<Tensor>& made, TensorType slice,
                             const Slices& slices) {
  const int64_t rank = static_cast<int64_t>(slice.shape.size()) + 1;
  if (slices.axis < -rank || slices.axis >= rank) {
    return absl::InvalidArgumentError(absl::StrCat(
        "axis ", slices.axis, " of what is collected is outside [-", rank, ", ", rank, ")"));
  }
  const int64_t axis = slices.axis < 0 ? slices.axis + rank : slices.axis;
  slice.shape.insert(slice.shape.begin() + axis, static_cast<int64_t>(made.size()));
  SLIPWAY_ASSIGN_OR_RETURN(Tensor whole, Tensor::Create(slice));
  const Cut cut = CutAt(slice, axis);
  for (int64_t turn = 0; turn < cut.extent; ++turn) {
    const int64_t index = slices.reverse ? cut.extent - 1 - turn : turn;
    for (int64_t o = 0; o < cut.outer; ++o) {
      std::memcpy(whole.mutable_bytes() + (o * cut.extent + index) * cut.inner_bytes,
                  made[turn].bytes().data() + o * cut.inner_bytes,
                  static_cast<size_t>(cut.inner_bytes));
    }
  }
  return whole;
}

// What one output collects.
class Collector {
 public:
  Collector(const LoopView& loop, int i)
      : slices_(loop.collected[i]),
        output_(loop.body->values[loop.body->outputs[loop.first_made + loop.carried + i]]) {}

  absl::Status Add(Tensor slice, int64_t& bytes_left) {
    if (!made_.empty() && made_[0].type() != slice.type()) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", output_.name, "\" of the body is ", ToString(slice.type()),
                       " in turn ", made_.size(), " and was ", ToString(made_[0].type())));
    }
    bytes_left -= slice.byte_size();
    if (bytes_left < 0) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "what it collects is more than the limit of ", kMaxCollectedBytes, " bytes"));
    }
    made_.push_back(std::move(slice));
    return absl::OkStatus();
  }

  // Without any turn, extents that the body's type does not say are 0.
  absl::StatusOr<Tensor> Finish() const {
    if (!made_.empty()) return Stack(made_, made_[0].type(), slices_);
    if (!output_.type.has_value()) {
      return absl::UnimplementedError(absl::StrCat(
          "it made no turn, and nothing says of what type the body's \"", output_.name, "\" is"));
    }
    TensorType type{output_.type->dtype(), {}};
    for (const Dimension& dimension : output_.type->dimensions()) {
      type.shape.push_back(dimension.is_known() ? dimension.extent() : 0);
    }
    return Stack({}, type, slices_);
  }

 private:
  const Slices slices_;
  const Value& output_;
  std::vector<Tensor> made_;
};

// How many slices there are; all values must have as many.
absl::StatusOr<int64_t> CountSlices(const NodeView& view, const LoopView& loop,
                                    absl::Span<const Tensor> inputs) {
  int64_t count = -1;
  for (size_t i = 0; i < loop.scanned.size(); ++i) {
    const int64_t extent = inputs[loop.first_scanned() + i].shape()[loop.scanned[i].axis];
    if (count >= 0 && extent != count) {
      return view.Error(
          absl::StrCat("scans ", count, " slices of one input and ", extent, " of another"));
    }
    count = extent;
  }
  return count;
}

absl::StatusOr<std::vector<Tensor>> Loop(const NodeView& view, absl::Span<const Tensor> inputs,
                                         BodyEvaluator& evaluator) {
  SLIPWAY_ASSIGN_OR_RETURN(const LoopView loop, DecodeLoop(view));
  int64_t turns = 0;
  bool goes_on = true;
  if (loop.is_scan) {
    SLIPWAY_ASSIGN_OR_RETURN(turns, CountSlices(view, loop, inputs));
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(turns, TurnsAtMost(view, inputs[0]));
    SLIPWAY_ASSIGN_OR_RETURN(goes_on, Holds(view, inputs[1]));
  }
  std::vector<Tensor> given(inputs.begin(), inputs.end());
  std::vector<Collector> collectors;
  for (size_t i = 0; i < loop.collected.size(); ++i) {
    collectors.emplace_back(loop, static_cast<int>(i));
  }
  int64_t bytes_left = kMaxCollectedBytes;
  for (int64_t turn = 0; goes_on && turn < turns; ++turn) {
    const absl::Status begun = evaluator.BeginTurn();
    if (!begun.ok()) return view.Annotated(begun);
    if (!loop.is_scan) {
      given[0] = Tensor::Scalar(turn);
      given[1] = Tensor::Scalar(true);
    }
    for (size_t i = 0; i < loop.scanned.size(); ++i) {
      const size_t input = loop.first_scanned() + i;
      SLIPWAY_ASSIGN_OR_RETURN(given[input], SliceOf(inputs[input], loop.scanned[i], turn));
    }
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<Tensor> made,
                             EvaluateBody(view, *loop.body, given, evaluator));
    if (!loop.is_scan) {
      SLIPWAY_ASSIGN_OR_RETURN(goes_on, Holds(view, made[0]));
    }
    const auto carried = made.begin() + loop.first_made;
    std::move(carried, carried + loop.carried, given.begin() + loop.first_carried);
    for (size_t i = 0; i < collectors.size(); ++i) {
      const absl::Status added =
          collectors[i].Add(std::move(carried[loop.carried + i]), bytes_left);
      if (!added.ok()) return view.Annotated(added);
    }
  }
  const auto carried = given.begin() + loop.first_carried;
  std::vector<Tensor> results(carried, carried + loop.carried);
  for (const Collector& collector : collectors) {
    absl::StatusOr<Tensor> whole = collector.Finish();
    if (!whole.ok()) return view.Annotated(whole.status());
    results.push_back(*std::move(whole));
  }
  return results;
}

}  // namespace

absl::Status RegisterControlKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add(kIfOperator, Kernel(If)));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add(kLoopOperator, Kernel(Loop)));
  return kernels.Add(kScanOperator, Kernel(Loop));
}

}  // namespace slipway
