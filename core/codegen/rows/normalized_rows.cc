#include "core/codegen/rows/normalized_rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/rows/row_division.h"
#include "core/codegen/tensor_cores/element_tail.h"
#include "core/operators/movement.h"
#include "core/operators/normalization.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 29;
// What is stored for f32 is one of these.
constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kInt8, DataType::kUint8};

class Decoder {
 public:
  Decoder(const Graph& body, const OperatorRegistry& registry)
      : body_(body),
        registry_(registry),
        tail_(
            body, registry,
            [this](int input, const Shape& shape) { return AddTensor(input, shape); },
            rows_.steps) {}

  absl::StatusOr<NormalizedRows> Decode() {
    SLIPWAY_RETURN_IF_ERROR(CheckTypes());
    SLIPWAY_RETURN_IF_ERROR(ReadTransposes());
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView head,
                             NodeView::Create(body_, body_.nodes[head_], registry_));
    SLIPWAY_RETURN_IF_ERROR(DecodeHead(head));
    rows_.rows = NumElements(outer_);
    rows_.size = NumElements(inner_);
    const RowLayout layout = rows_.turned.has_value() ? RowLayout::kTurned : RowLayout::kTogether;
    if (rows_.size > MostRowSize(layout) || rows_.rows > kMostElements / rows_.size) {
      return absl::UnimplementedError(
          absl::StrCat(rows_.rows, " rows of ", rows_.size, " numbers"));
    }
    SLIPWAY_RETURN_IF_ERROR(AddWeights(head));
    SLIPWAY_RETURN_IF_ERROR(tail_.AddNodes(head_ + 1, end_, head.node().outputs[0]));
    SLIPWAY_ASSIGN_OR_RETURN(rows_.result, tail_.OperandOf(last_));
    rows_.dtype = body_.value(last_).type->dtype();
    return std::move(rows_);
  }

 private:
  absl::Status CheckTypes() const {
    if (body_.nodes.empty() || body_.nodes[0].outputs.size() != 1 || body_.outputs.size() != 1) {
      return absl::UnimplementedError("it has not one result");
    }
    for (const Value& value : body_.values) {
      if (!value.type->is_static()) return absl::UnimplementedError("its extents are open");
      if (!absl::c_linear_search(kTypes, value.type->dtype())) {
        return absl::UnimplementedError(
            absl::StrCat(Name(value.type->dtype()), " takes part in it"));
      }
      if (value.type->byte_size() == 0) return absl::UnimplementedError("it has no element");
    }
    return absl::OkStatus();
  }

  // What stands before the head, and behind all else.
  absl::Status ReadTransposes() {
    x_ = body_.nodes[0].inputs[0];
    end_ = body_.nodes.size();
    last_ = body_.outputs[0];
    if (body_.nodes[0].op != "Transpose") return absl::OkStatus();
    const auto turns = [&](const Node& node, bool back) -> absl::StatusOr<bool> {
      SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(body_, node, registry_));
      SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, DecodeTranspose(view));
      const auto rank = static_cast<int64_t>(perm.size());
      if (rank < 3 || perm[0] != 0) return false;
      for (int64_t d = 1; d < rank; ++d) {
        const int64_t other = d + 1 < rank ? d + 1 : 1;  // Comes to place d when it is turned.
        if (perm[static_cast<size_t>(back ? other : d)] != (back ? d : other)) return false;
      }
      return true;
    };
    SLIPWAY_ASSIGN_OR_RETURN(const bool is_turned, turns(body_.nodes[0], /*back=*/false));
    if (!is_turned || body_.nodes.size() < 2 ||
        body_.nodes[1].inputs[0] != body_.nodes[0].outputs[0]) {
      return absl::UnimplementedError("a Transpose before it");
    }
    const Shape& shape = body_.value(x_).type->shape();
    rows_.turned = TurnedRows{NumElements(Shape(shape.begin() + 2, shape.end())), false};
    head_ = 1;
    const Node& last = body_.nodes.back();
    if (end_ == 2 || last.op != "Transpose") return absl::OkStatus();
    SLIPWAY_ASSIGN_OR_RETURN(rows_.turned->result_is_turned, turns(last, /*back=*/true));
    if (!rows_.turned->result_is_turned) return absl::UnimplementedError("a Transpose behind it");
    --end_;
    last_ = last.inputs[0];
    return absl::OkStatus();
  }

  absl::Status DecodeHead(const NodeView& head) {
    const auto x = absl::c_find(body_.inputs, x_);
    if (x == body_.inputs.end()) return absl::UnimplementedError("a tensor of it is in its code");
    if (head.input_type(0).dtype() != DataType::kFloat32) {
      return absl::UnimplementedError("its rows are not of f32");
    }
    rows_.x = static_cast<int>(x - body_.inputs.begin());
    const Shape& shape = head.input_shape(0);
    int64_t axis = 0;
    if (head.op() == "Softmax") {
      SLIPWAY_ASSIGN_OR_RETURN(axis, DecodeSoftmax(head));
      const int64_t plane = NumElements(Shape(shape.begin() + axis + 1, shape.end()));
      if (plane > 1) {
        if (rows_.turned.has_value()) return absl::UnimplementedError("a Transpose before it");
        rows_.turned = TurnedRows{plane, /*result_is_turned=*/true};
        moved_axis_ = static_cast<size_t>(axis);
      }
    } else if (head.op() == "LayerNormalization" || head.op() == "RMSNormalization") {
      rows_.kind = head.op() == "LayerNormalization" ? NormalizedRows::Kind::kCentered
                                                     : NormalizedRows::Kind::kSquares;
      SLIPWAY_ASSIGN_OR_RETURN(axis, DecodeLayerNormalization(head));
    } else if (head.op() == "InstanceNormalization" || head.op() == "GroupNormalization") {
      rows_.kind = NormalizedRows::Kind::kCentered;
      is_of_channels_ = true;
      axis = 2;
    } else {
      return absl::UnimplementedError(absl::StrCat(head.op(), " makes no rows"));
    }
    if (rows_.kind != NormalizedRows::Kind::kSoftmax) rows_.epsilon = head.Float("epsilon");
    outer_ = Shape(shape.begin(), shape.begin() + axis);
    inner_ = Shape(shape.begin() + axis, shape.end());
    if (moved_axis_.has_value()) {
      outer_.insert(outer_.end(), inner_.begin() + 1, inner_.end());
      inner_.resize(1);
    } else if (rows_.turned.has_value() &&
               (axis + 1 != static_cast<int64_t>(shape.size()) || is_of_channels_)) {
      return absl::UnimplementedError("a Transpose before it");
    }
    if (head.op() == "GroupNormalization") {
      SLIPWAY_ASSIGN_OR_RETURN(outer_[1], DecodeGroupNormalization(head));
      channels_of_row_ = shape[1] / outer_[1];
      inner_.insert(inner_.begin(), channels_of_row_);
    }
    return absl::OkStatus();
  }

  // Scale and bias.
  absl::Status AddWeights(const NodeView& head) {
    ElementSteps steps(rows_.steps);
    ElementStep::Operand value = {};
    for (const int i : {1, 2}) {
      if (i >= head.num_inputs() || !head.has_input(i)) continue;
      SLIPWAY_ASSIGN_OR_RETURN(const ElementStep::Operand weight, WeightOf(head, i));
      value = i == 1 ? steps.Times(value, weight) : steps.Plus(value, weight);
    }
    tail_.Define(head.node().outputs[0], value);
    return absl::OkStatus();
  }

  absl::StatusOr<ElementStep::Operand> WeightOf(const NodeView& head, int i) {
    const ValueId id = head.node().inputs[static_cast<size_t>(i)];
    if (!is_of_channels_ || body_.value(id).constant.has_value()) return tail_.OperandOf(id);
    // A number a channel, over which places of its plane repeat.
    Shape shape(head.input_shape(0).size() - 1, 1);
    shape[0] = head.input_shape(0)[1];
    const auto input = absl::c_find(body_.inputs, id) - body_.inputs.begin();
    SLIPWAY_ASSIGN_OR_RETURN(const int number, AddTensor(static_cast<int>(input), shape));
    return ElementStep::Operand{ElementStep::Operand::Kind::kTensor, number, 0};
  }

  // An input that broadcasts to the result.
  absl::StatusOr<int> AddTensor(int input, const Shape& shape) {
    const size_t rank = outer_.size() + inner_.size() - (channels_of_row_ > 0 ? 1 : 0);
    if (shape.size() > rank) return absl::UnimplementedError("its result has another shape");
    std::vector<int64_t> strides = BroadcastStrides(shape, rank);
    if (moved_axis_.has_value()) {
      const auto axis = strides.begin() + static_cast<std::ptrdiff_t>(*moved_axis_);
      std::rotate(axis, axis + 1, strides.end());
    }
    if (channels_of_row_ > 0) {
      strides.insert(strides.begin() + 1, strides[1] * channels_of_row_);
    }
    const auto first = strides.begin() + static_cast<std::ptrdiff_t>(outer_.size());
    rows_.tensors.push_back(
        {input, MergedIndexing({outer_.begin(), outer_.end()}, {strides.begin(), first}),
         MergedIndexing({inner_.begin(), inner_.end()}, {first, strides.end()}),
         body_.value(body_.inputs[static_cast<size_t>(input)]).type->dtype()});
    return static_cast<int>(rows_.tensors.size()) - 1;
  }

  const Graph& body_;
  const OperatorRegistry& registry_;
  size_t head_ = 0, end_ = 0;  // The node that makes rows, and the end of what goes on with them.
  ValueId x_ = kNoValue;
  ValueId last_ = kNoValue;  // What the nodes before `end_` make.
  NormalizedRows rows_;
  std::optional<size_t> moved_axis_;  // The axis of rows, where other dimensions are behind it.
  Shape outer_,
      inner_;  // Extents of rows, and of places in a row; of groups of channels the channels' extent is in both.
  bool is_of_channels_ = false;
  int64_t channels_of_row_ =
      0;  // Where a row has several channels, of which there are groups; or 0.
  ElementTail tail_;
};

}  // namespace

absl::StatusOr<NormalizedRows> DecodeNormalizedRows(const Graph& body,
                                                    const OperatorRegistry& registry) {
  return Decoder(body, registry).Decode();
}

}  // namespace slipway
