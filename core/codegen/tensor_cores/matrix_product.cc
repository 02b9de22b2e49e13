#include "core/codegen/tensor_cores/matrix_product.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/tensor_cores/element_steps.h"
#include "core/codegen/tensor_cores/element_tail.h"
#include "core/operators/convolution.h"
#include "core/operators/matrix.h"
#include "core/operators/movement.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

// Below, most of a tile would be beyond the edge.
constexpr int64_t kFewestChannels = 16;

class Decoder {
 public:
  // What of convolutions whose channels are groups it takes.
  enum class Grouping {
    kWide,         // Whose groups have many channels, for tensor cores,
    kEachChannel,  // one of each channel,
    kAny,          // or any, with a window, be it of one place.
  };
  Decoder(const Graph& body, const OperatorRegistry& registry, Grouping grouping)
      : body_(body),
        registry_(registry),
        grouping_(grouping),
        tail_(
            body, registry,
            [this](int input, const Shape& shape) { return AddTensor(input, shape); },
            product_.steps) {}

  absl::StatusOr<MatrixProduct> Decode() {
    for (const ValueId id : body_.inputs) sources_[id].value = id;
    SLIPWAY_RETURN_IF_ERROR(ReadSources());
    SLIPWAY_RETURN_IF_ERROR(CheckTypes());
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView head,
                             NodeView::Create(body_, body_.nodes[head_], registry_));
    if (grouping_ != Grouping::kWide && head.op() != "Conv") {
      return absl::UnimplementedError(absl::StrCat(head.op(), " is no convolution"));
    }
    if (head.op() == "MatMul") {
      SLIPWAY_RETURN_IF_ERROR(DecodeMatMulHead(head));
    } else if (head.op() == "Gemm") {
      SLIPWAY_RETURN_IF_ERROR(DecodeGemmHead(head));
    } else if (head.op() == "Conv") {
      SLIPWAY_RETURN_IF_ERROR(DecodeConvHead(head));
    } else {
      return absl::UnimplementedError(
          absl::StrCat(head.op(), " is neither a product of matrices nor a convolution"));
    }
    SLIPWAY_RETURN_IF_ERROR(
        tail_.AddNodes(head_ + 1, body_.nodes.size(), body_.nodes[head_].outputs[0]));
    SLIPWAY_ASSIGN_OR_RETURN(product_.result, tail_.OperandOf(body_.outputs[0]));
    return std::move(product_);
  }

 private:
  // Where a factor comes from: an input, whose axes the product has in another order.
  struct Source {
    ValueId value = kNoValue;
    std::vector<int64_t> perm;  // Empty for the same.
  };

  // What stands before the product.
  absl::Status ReadSources() {
    for (; head_ < body_.nodes.size(); ++head_) {
      const Node& node = body_.nodes[head_];
      if (node.op != "Cast" && node.op != "Transpose") break;
      const auto source = sources_.find(node.inputs[0]);
      if (source == sources_.end() || !source->second.perm.empty()) break;
      Source made = source->second;
      if (node.op == "Cast") {
        narrow_.insert(made.value);
      } else {
        SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(body_, node, registry_));
        SLIPWAY_ASSIGN_OR_RETURN(made.perm, DecodeTranspose(view));
      }
      sources_[node.outputs[0]] = std::move(made);
    }
    if (head_ == body_.nodes.size()) return absl::UnimplementedError("it has no product");
    return absl::OkStatus();
  }

  absl::Status CheckTypes() const {
    if (body_.outputs.size() != 1) return absl::UnimplementedError("it has not one result");
    for (size_t id = 0; id < body_.values.size(); ++id) {
      const Value& value = body_.values[id];
      if (!value.type->is_static()) return absl::UnimplementedError("its extents are open");
      const bool is_narrow =
          value.type->dtype() == DataType::kFloat16 || value.type->dtype() == DataType::kBfloat16;
      if (is_narrow && narrow_.count(static_cast<ValueId>(id)) > 0) continue;
      if (value.type->dtype() != DataType::kFloat32) {
        return absl::UnimplementedError(
            absl::StrCat(Name(value.type->dtype()), " takes part in it"));
      }
      if (value.type->byte_size() == 0) return absl::UnimplementedError("it has no element");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int> InputOf(const NodeView& head, int i) const {
    const auto found = absl::c_find(body_.inputs, head.node().inputs[static_cast<size_t>(i)]);
    if (found == body_.inputs.end()) return absl::UnimplementedError("a matrix is in its code");
    return static_cast<int>(found - body_.inputs.begin());
  }

  // The same of a factor, with its type; the order of its axes.
  absl::StatusOr<std::vector<int64_t>> ReadFactor(const NodeView& head, int i,
                                                  ProductTensor& tensor) const {
    const auto source = sources_.find(head.node().inputs[static_cast<size_t>(i)]);
    if (source == sources_.end()) return absl::UnimplementedError("a matrix is in its code");
    const ValueId id = source->second.value;
    tensor.input = static_cast<int>(absl::c_find(body_.inputs, id) - body_.inputs.begin());
    tensor.dtype = body_.value(id).type->dtype();
    return source->second.perm;
  }

  // The same of a matrix: whether it is turned.
  absl::StatusOr<bool> ReadMatrix(const NodeView& head, int i, ProductTensor& tensor) const {
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, ReadFactor(head, i, tensor));
    if (perm.empty()) return false;
    if (perm == std::vector<int64_t>{1, 0}) return true;
    return absl::UnimplementedError("a Transpose before it");
  }

  absl::Status DecodeMatMulHead(const NodeView& head) {
    SLIPWAY_ASSIGN_OR_RETURN(const MatMulView view, DecodeMatMul(head));
    SLIPWAY_ASSIGN_OR_RETURN(const bool a_is_turned, ReadMatrix(head, 0, product_.a));
    SLIPWAY_ASSIGN_OR_RETURN(const bool b_is_turned, ReadMatrix(head, 1, product_.b));
    has_rows_ = !view.a_is_vector;
    has_columns_ = !view.b_is_vector;
    product_.n = view.n;
    product_.k = view.k;
    const auto strides = [&](int input, bool is_vector) {
      Shape shape = head.input_shape(input);
      if (is_vector) shape.insert(input == 0 ? shape.begin() : shape.end(), 1);
      std::vector<int64_t> all = BroadcastStrides(shape, view.batch.size() + 2);
      all.resize(view.batch.size());
      return all;
    };
    const std::vector<int64_t> of_a = strides(0, view.a_is_vector);
    const std::vector<int64_t> of_b = strides(1, view.b_is_vector);
    batch_ = view.batch;
    rows_ = {view.m};
    std::vector<int64_t> row_strides = {view.k};
    const bool is_one_matrix = MergedIndexing(view.batch, of_b).extents.empty();
    if (is_one_matrix) {
      rows_.insert(rows_.begin(), batch_.begin(), batch_.end());
      row_strides.insert(row_strides.begin(), of_a.begin(), of_a.end());
      batch_.clear();
    }
    product_.a.rows = a_is_turned ? MergedIndexing(rows_, {1}) : MergedIndexing(rows_, row_strides);
    product_.a.columns = a_is_turned ? view.m : 1;
    product_.b.rows = MergedIndexing({view.k}, {b_is_turned ? 1 : view.n});
    product_.b.columns = b_is_turned ? view.k : 1;
    if (!is_one_matrix) {
      product_.a.batch = MergedIndexing(batch_, of_a);
      product_.b.batch = MergedIndexing(batch_, of_b);
    }
    return Finish();
  }

  absl::Status DecodeGemmHead(const NodeView& head) {
    SLIPWAY_ASSIGN_OR_RETURN(const GemmView view, DecodeGemm(head));
    SLIPWAY_ASSIGN_OR_RETURN(const bool a_is_turned, ReadMatrix(head, 0, product_.a));
    SLIPWAY_ASSIGN_OR_RETURN(const bool b_is_turned, ReadMatrix(head, 1, product_.b));
    const bool a_has_depth_inside = view.transpose_a == a_is_turned;
    const bool b_has_depth_inside = view.transpose_b != b_is_turned;
    product_.n = view.n;
    product_.k = view.k;
    rows_ = {view.m};
    product_.a.rows = MergedIndexing(rows_, {a_has_depth_inside ? view.k : 1});
    product_.a.columns = a_has_depth_inside ? 1 : view.m;
    product_.b.rows = MergedIndexing({view.k}, {b_has_depth_inside ? 1 : view.n});
    product_.b.columns = b_has_depth_inside ? view.k : 1;
    SLIPWAY_RETURN_IF_ERROR(Finish());
    ElementSteps steps(product_.steps);
    ElementStep::Operand value = {};
    if (view.alpha != 1) value = steps.Times(value, steps.Constant(view.alpha));
    if (view.has_c) {
      SLIPWAY_ASSIGN_OR_RETURN(ElementStep::Operand c, tail_.OperandOf(head.node().inputs[2]));
      if (view.beta != 1) c = steps.Times(c, steps.Constant(view.beta));
      value = steps.Plus(value, c);
    }
    tail_.Define(head.node().outputs[0], value);
    return absl::OkStatus();
  }

  absl::Status DecodeConvHead(const NodeView& head) {
    SLIPWAY_ASSIGN_OR_RETURN(const ConvView view, DecodeConv(head));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, ReadFactor(head, 1, product_.a));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> of_planes, ReadFactor(head, 0, product_.b));
    if (!of_planes.empty() || (!perm.empty() && perm != HasChannelsInside(perm.size()))) {
      return absl::UnimplementedError("a Transpose before it");
    }
    const int64_t channels = view.in_channels / view.group;
    const int64_t plane = NumElements(view.window.input);
    rows_ = {view.out_channels / view.group};
    batch_ = {view.batch, view.group};
    planes_ = view.window.output;
    product_.n = NumElements(view.window.output);
    product_.k = channels * NumElements(view.window.kernel);
    if (grouping_ == Grouping::kEachChannel) {
      if (channels != 1 || rows_[0] != 1 || IsPointwise(view.window)) {
        return absl::UnimplementedError("its channels do not have a window each");
      }
    } else if (grouping_ == Grouping::kWide && view.group > 1 &&
               std::min(channels, rows_[0]) < kFewestChannels) {
      return absl::UnimplementedError("its groups have few channels");
    }
    product_.a.rows = MergedIndexing(rows_, {product_.k});
    product_.a.columns = 1;
    product_.a.batch = MergedIndexing(batch_, {0, rows_[0] * product_.k});
    product_.b.batch = MergedIndexing(batch_, {view.in_channels * plane, channels * plane});
    if (grouping_ != Grouping::kAny && IsPointwise(view.window)) {
      product_.b.rows = MergedIndexing({channels}, {plane});
      product_.b.columns = 1;
    } else {
      SLIPWAY_ASSIGN_OR_RETURN(product_.window, SlidingOver(view.window));
      product_.window->channels_are_inner = !perm.empty();
    }
    SLIPWAY_RETURN_IF_ERROR(Finish());
    if (!view.has_bias) return absl::OkStatus();
    const ElementStep::Operand bias{ElementStep::Operand::Kind::kTensor,
                                    static_cast<int>(product_.tensors.size()), 0};
    SLIPWAY_ASSIGN_OR_RETURN(const int input, InputOf(head, 2));
    product_.tensors.push_back(
        {input, MergedIndexing(batch_, {0, rows_[0]}), MergedIndexing(rows_, {1}), 0});
    tail_.Define(head.node().outputs[0], ElementSteps(product_.steps).Plus({}, bias));
    return absl::OkStatus();
  }

  // What brings the last one of so many axes behind the first.
  static std::vector<int64_t> HasChannelsInside(size_t rank) {
    std::vector<int64_t> perm = {0, static_cast<int64_t>(rank) - 1};
    for (size_t d = 1; d + 1 < rank; ++d) perm.push_back(static_cast<int64_t>(d));
    return perm;
  }

  static bool IsPointwise(const Window& window) {
    const auto all = [](const std::vector<int64_t>& values, int64_t wanted) {
      return absl::c_all_of(values, [wanted](int64_t value) { return value == wanted; });
    };
    return all(window.kernel, 1) && all(window.strides, 1) && window.input == window.output &&
           all(window.pads_begin, 0);
  }

  static absl::StatusOr<SlidingWindow> SlidingOver(const Window& window) {
    const size_t rank = window.kernel.size();
    if (rank != 1 && rank != 2) {
      return absl::UnimplementedError(absl::StrCat("its window has ", rank, " dimensions"));
    }
    const auto dimension = [&window](size_t i) {
      return SlidingWindow::Dimension{window.input[i],   window.output[i],    window.kernel[i],
                                      window.strides[i], window.dilations[i], window.pads_begin[i]};
    };
    SlidingWindow sliding;
    if (rank == 2) sliding.height = dimension(0);
    sliding.width = dimension(rank - 1);
    // Padding before and behind included.
    const auto extent = [](const SlidingWindow::Dimension& dimension) {
      const int64_t last =
          (dimension.output - 1) * dimension.stride + (dimension.kernel - 1) * dimension.dilation;
      return std::max(last, dimension.input + dimension.pad) + 1;
    };
    if (!sliding.is_flat() && (extent(sliding.height) > SlidingWindow::kMostRows ||
                               extent(sliding.width) > SlidingWindow::kMostColumns)) {
      return absl::UnimplementedError("its planes are larger than 2^14 rows of 2^16 columns");
    }
    return sliding;
  }

  absl::Status Finish() {
    product_.batch = NumElements(batch_);
    product_.m = NumElements(rows_);
    if (product_.a.rows.extents.size() > 1) {
      return absl::UnimplementedError("rows of its left matrix are not apart by one stride");
    }
    tail_.Define(body_.nodes[head_].outputs[0], {});
    return absl::OkStatus();
  }

  // An input that broadcasts to the product.
  absl::StatusOr<int> AddTensor(int number, const Shape& shape) {
    const auto index = static_cast<int>(product_.tensors.size());
    if (!planes_.empty()) {
      SLIPWAY_ASSIGN_OR_RETURN(ProductTensor tensor, OverPlanes(shape));
      tensor.input = number;
      product_.tensors.push_back(std::move(tensor));
      return index;
    }
    // Of the result: without a row or a column of vectors.
    const size_t outer = batch_.size() + rows_.size();
    const size_t rank = outer + 1 - (has_rows_ ? 0 : 1) - (has_columns_ ? 0 : 1);
    if (shape.size() > rank) {
      return absl::UnimplementedError("its result has another shape than the product");
    }
    std::vector<int64_t> strides = BroadcastStrides(shape, rank);
    if (!has_columns_) strides.push_back(0);
    if (!has_rows_) strides.insert(strides.end() - 1, 0);
    const auto begin = strides.begin();
    const auto middle = begin + static_cast<std::ptrdiff_t>(batch_.size());
    const auto end = begin + static_cast<std::ptrdiff_t>(outer);
    product_.tensors.push_back({number, MergedIndexing(batch_, {begin, middle}),
                                MergedIndexing(rows_, {middle, end}), strides.back()});
    return index;
  }

  // A tensor that broadcasts to the result of a convolution, [N, channels, planes].
  absl::StatusOr<ProductTensor> OverPlanes(const Shape& shape) const {
    const size_t rank = 2 + planes_.size();
    if (shape.size() > rank) {
      return absl::UnimplementedError("its result has another shape than the product");
    }
    const std::vector<int64_t> strides = BroadcastStrides(shape, rank);
    const Indexing within = MergedIndexing(planes_, {strides.begin() + 2, strides.end()});
    if (within.extents.size() > 1) {
      return absl::UnimplementedError("a tensor behind it repeats within its planes");
    }
    return ProductTensor{0, MergedIndexing(batch_, {strides[0], strides[1] * rows_[0]}),
                         MergedIndexing(rows_, {strides[1]}),
                         within.strides.empty() ? 0 : within.strides[0]};
  }

  const Graph& body_;
  const OperatorRegistry& registry_;
  const Grouping grouping_;
  MatrixProduct product_;
  std::vector<int64_t> batch_;
  std::vector<int64_t> rows_;
  std::vector<int64_t>
      planes_;  // Extents of a convolution's, of which columns consist; empty for others.
  bool has_rows_ = true;
  bool has_columns_ = true;
  size_t head_ = 0;  // The node that multiplies.
  std::map<ValueId, Source> sources_;
  std::set<ValueId> narrow_;  // Inputs that the group widens.
  ElementTail tail_;
};

}  // namespace

absl::StatusOr<MatrixProduct> DecodeProduct(const Graph& body, const OperatorRegistry& registry) {
  return Decoder(body, registry, Decoder::Grouping::kWide).Decode();
}

absl::StatusOr<MatrixProduct> DecodeDepthwise(const Graph& body, const OperatorRegistry& registry) {
  return Decoder(body, registry, Decoder::Grouping::kEachChannel).Decode();
}

absl::StatusOr<MatrixProduct> DecodeConvolution(const Graph& body,
                                                const OperatorRegistry& registry) {
  return Decoder(body, registry, Decoder::Grouping::kAny).Decode();
}

}  // namespace slipway
