#include "core/passes/narrow_products_pass.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/int16_range.h"
#include "core/passes/pack_constants.h"

namespace slipway {
namespace {

constexpr int64_t kFloatType = 1;  // As ONNX's attributes number element types.
constexpr int64_t kByteType = 2;
constexpr int kLargestByte = 255;

// A value's narrow form: bf16, or a byte of the value and `zero`.
struct NarrowForm {
  DataType dtype = DataType::kInvalid;
  int zero = 0;
};

class ProductNarrowing {
 public:
  ProductNarrowing(Graph graph, const PassContext& context, const NarrowForms& forms)
      : registry_(context.registry),
        forms_(forms),
        producers_(Producers(graph)),
        is_narrowed_(graph.nodes.size(), false),
        is_pooled_(graph.nodes.size(), false),
        form_(graph.values.size()),
        narrow_(graph.values.size(), kNoValue),
        replaces_(graph.values.size(), false),
        old_(graph),
        rewriter_(std::move(graph), context.registry) {}

  absl::StatusOr<Graph> Run();

 private:
  // What a product's data become; absent where it stays as it is.
  std::optional<NarrowForm> FormFor(const Node& node) const;
  std::optional<NarrowForm> FormForConvolution(const Node& node) const;
  // The bytes that integers of 16 bits become, whose constant weights are such, too; absent where they do not fit.
  std::optional<NarrowForm> ByteFormFor(const Node& node) const;
  void ChooseForms();
  // Whether a reader of a value can read its narrow form.
  bool MayRead(NodeId id_of_reader, ValueId id) const;
  absl::Status RewriteProduct(Node& node, ValueId x);
  // A pool of maxima becomes one of bytes.
  absl::Status RewritePool(Node& node, const Node& old);
  // Makes an elementwise node read narrow forms in place of those of its inputs that are replaced.
  absl::Status Widen(Node& node, const std::vector<ValueId>& inputs);
  absl::StatusOr<ValueId> Narrow(ValueId old_id);
  // The bytes that an i16 value is made of, or of what a QuantizeLinear reads that makes it; kNoValue where something else does.
  absl::StatusOr<ValueId> QuantizedAsBytes(ValueId wide, int zero, const std::string& name);
  const std::string& NameOf(ValueId id) const { return rewriter_.graph().values[id].name; }
  // That a product makes: columns of a matrix, or channels in blocks.
  int64_t ChannelsOf(const Node& product) const {
    const ValueType& y = rewriter_.type(product.outputs[0]);
    const int64_t outer = y.dimension(1).extent();
    return y.rank() == 2 ? outer : outer * y.dimension(4).extent();
  }

  const OperatorRegistry& registry_;
  const NarrowForms forms_;
  // Of the old graph, by value and by node:
  const std::vector<NodeId> producers_;
  std::vector<bool> is_narrowed_;  // Products.
  std::vector<bool> is_pooled_;    // MaxPools of bytes.
  std::vector<NarrowForm> form_;   // Invalid where none of them reads it.
  std::vector<ValueId> narrow_;    // Once it is there.
  std::vector<bool> replaces_;     // Whether nothing reads the wide form.
  const Graph old_;
  GraphRewriter rewriter_;
};

std::optional<NarrowForm> ProductNarrowing::FormFor(const Node& node) const {
  if (node.op == "slipway.ConvNCHWc" || node.op == "slipway.DepthwiseConvNCHWc") {
    return FormForConvolution(node);
  }
  if (node.op != "slipway.GemmPacked") return std::nullopt;
  const Value& x = old_.values[node.inputs[0]];
  const std::optional<Tensor>& weights = old_.values[node.inputs[1]].constant;
  if (x.constant.has_value() || !weights.has_value()) return std::nullopt;
  if (x.type->dtype() == DataType::kInt16) {
    const bool are_fours = weights->shape()[1] % 2 == 0;  // Of pairs.
    return forms_.bytes && are_fours ? ByteFormFor(node) : std::nullopt;
  }
  if (x.type->dtype() != DataType::kFloat32 || !forms_.bfloat16_matrices ||
      weights->shape()[1] % 2 != 0) {
    return std::nullopt;
  }
  return NarrowForm{DataType::kBfloat16, 0};
}

std::optional<NarrowForm> ProductNarrowing::FormForConvolution(const Node& node) const {
  const bool is_depthwise = node.op == "slipway.DepthwiseConvNCHWc";
  const Value& x = old_.values[node.inputs[0]];
  const std::optional<Tensor>& weights = old_.values[node.inputs[1]].constant;
  if (x.type->rank() != 5 || x.constant.has_value() || !weights.has_value()) return std::nullopt;
  const int64_t block = x.type->dimension(4).extent();
  if (x.type->dtype() == DataType::kFloat32) {
    if (is_depthwise && forms_.bfloat16_depthwise) return NarrowForm{DataType::kBfloat16, 0};
    if (is_depthwise || !forms_.bfloat16_convolutions || block % 2 != 0) return std::nullopt;
    const absl::StatusOr<NodeView> view = NodeView::Create(old_, node, registry_);
    if (!view.ok()) return std::nullopt;
    const absl::StatusOr<ConvView> conv = DecodeConv(*view);
    if (!conv.ok() || !forms_.bfloat16_convolutions(*conv)) return std::nullopt;
    return NarrowForm{DataType::kBfloat16, 0};
  }
  const bool may_be_bytes = is_depthwise ? forms_.depthwise_bytes : forms_.bytes && block % 4 == 0;
  if (x.type->dtype() != DataType::kInt16 || !may_be_bytes) return std::nullopt;
  return ByteFormFor(node);
}

std::optional<NarrowForm> ProductNarrowing::ByteFormFor(const Node& node) const {
  const Tensor& weights = *old_.values[node.inputs[1]].constant;
  const std::optional<Int16Range> range = RangeOf(old_, producers_, node.inputs[0]);
  if (!range.has_value() || range->largest - range->least > kLargestByte || range->least > 0 ||
      range->least < -kLargestByte) {
    return std::nullopt;
  }
  const bool fit = absl::c_all_of(weights.values<int16_t>(), [](int16_t w) {
    return w >= std::numeric_limits<int8_t>::min() && w <= std::numeric_limits<int8_t>::max();
  });
  if (!fit) return std::nullopt;
  return NarrowForm{DataType::kUint8, -range->least};
}

bool ProductNarrowing::MayRead(NodeId id_of_reader, ValueId id) const {
  const Node& reader = old_.nodes[id_of_reader];
  if (is_narrowed_[id_of_reader]) return absl::c_count(reader.inputs, id) == 1;
  if (form_[id].dtype == DataType::kUint8) {
    if (is_pooled_[id_of_reader]) return replaces_[reader.outputs[0]];
    return reader.op == "DequantizeLinear" && reader.inputs[0] == id &&
           (reader.inputs.size() == 2 || reader.inputs[2] == kNoValue);
  }
  const OperatorSchema* const schema = registry_.Find(reader.op);
  return schema != nullptr && IsElementwise(schema->pattern);
}

void ProductNarrowing::ChooseForms() {
  for (size_t n = 0; n < old_.nodes.size(); ++n) {
    const std::optional<NarrowForm> form = FormFor(old_.nodes[n]);
    if (!form.has_value()) continue;
    is_narrowed_[n] = true;
    form_[old_.nodes[n].inputs[0]] = *form;
  }
  for (size_t n = old_.nodes.size(); n-- > 0;) {
    const Node& node = old_.nodes[n];
    if (node.op != "slipway.MaxPoolNCHWc" || form_[node.outputs[0]].dtype != DataType::kUint8) {
      continue;
    }
    const std::optional<Int16Range> range = RangeOf(old_, producers_, node.inputs[0]);
    NarrowForm& form = form_[node.inputs[0]];
    if (!range.has_value() || form.dtype == DataType::kBfloat16) continue;
    form = form_[node.outputs[0]];
    is_pooled_[n] = true;
  }
  const std::vector<bool> is_output = OutputFlags(old_);
  const std::vector<std::vector<NodeId>> users = Users(old_);
  for (size_t n = old_.nodes.size(); n-- > 0;) {
    for (const ValueId id : old_.nodes[n].outputs) {
      if (id == kNoValue || form_[id].dtype == DataType::kInvalid || is_output[id]) continue;
      replaces_[id] = absl::c_all_of(users[id], [&](NodeId user) { return MayRead(user, id); });
    }
  }
}

absl::StatusOr<ValueId> ProductNarrowing::QuantizedAsBytes(ValueId wide, int zero,
                                                           const std::string& name) {
  const auto is = [&](ValueId id, int number) {
    const Tensor* const constant = id == kNoValue ? nullptr : rewriter_.constant(id);
    return constant != nullptr && constant->dtype() == DataType::kInt16 &&
           constant->num_elements() == 1 && constant->values<int16_t>()[0] == number;
  };
  const Node* const clip = rewriter_.Producer(wide);
  if (clip == nullptr) return kNoValue;
  if (registry_.MovementOf(clip->op) == Movement::kView) {
    const Node view = *clip;
    std::vector<ValueId> inputs = view.inputs;
    SLIPWAY_ASSIGN_OR_RETURN(inputs[0], QuantizedAsBytes(inputs[0], zero, name));
    if (inputs[0] == kNoValue) return kNoValue;
    return rewriter_.Add(view.op, std::move(inputs), view.attributes, absl::StrCat(name, "_shown"));
  }
  const Node* const cast =
      clip->op == "Sub" && is(clip->inputs[1], zero) ? rewriter_.Producer(clip->inputs[0]) : clip;
  if (cast != nullptr && cast->op == "Cast" && (cast != clip || zero == 0) &&
      rewriter_.type(cast->inputs[0]).dtype() == DataType::kUint8) {
    return cast->inputs[0];
  }
  const Node* const quantize = clip->op == "Clip" ? rewriter_.Producer(clip->inputs[0]) : nullptr;
  if (quantize == nullptr || quantize->op != "QuantizeLinear" || quantize->inputs.size() < 3) {
    return kNoValue;
  }
  if (clip->inputs.size() < 3 || !is(quantize->inputs[2], 0) || !is(clip->inputs[1], -zero) ||
      !is(clip->inputs[2], kLargestByte - zero)) {
    return kNoValue;
  }
  const ValueId x = quantize->inputs[0];
  const ValueId scale = quantize->inputs[1];
  const ValueId code =
      rewriter_.Constant(absl::StrCat(name, "_zero"), Tensor::Scalar(static_cast<uint8_t>(zero)));
  return rewriter_.Add("QuantizeLinear", {x, scale, code}, {}, name);
}

absl::StatusOr<ValueId> ProductNarrowing::Narrow(ValueId old_id) {
  ValueId& narrow = narrow_[old_id];
  if (narrow != kNoValue) return narrow;
  const NarrowForm& form = form_[old_id];
  const bool is_byte = form.dtype == DataType::kUint8;
  const std::string name = absl::StrCat(NameOf(old_id), "_", Name(form.dtype));
  ValueId x = rewriter_.Resolve(old_id);
  if (is_byte) {
    SLIPWAY_ASSIGN_OR_RETURN(narrow, QuantizedAsBytes(x, form.zero, name));
    if (narrow != kNoValue) return narrow;
  }
  if (is_byte && form.zero != 0) {
    const ValueId zero = rewriter_.Constant(absl::StrCat(name, "_zero"),
                                            Tensor::Scalar(static_cast<int16_t>(form.zero)));
    SLIPWAY_ASSIGN_OR_RETURN(x,
                             rewriter_.Add("Add", {x, zero}, {}, absl::StrCat(name, "_shifted")));
  }
  SLIPWAY_ASSIGN_OR_RETURN(narrow, is_byte
                                       ? rewriter_.Add("Cast", {x}, {{"to", kByteType}}, name)
                                       : rewriter_.Add("slipway.RoundToBfloat16", {x}, {}, name));
  return narrow;
}

absl::Status ProductNarrowing::RewriteProduct(Node& node, ValueId x) {
  const NarrowForm form = form_[x];
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId narrow, Narrow(x));
  const Tensor weights = *rewriter_.constant(node.inputs[1]);
  const std::string name = absl::StrCat(NameOf(node.inputs[1]), "_", Name(form.dtype));
  const bool is_depthwise = node.op == "slipway.DepthwiseConvNCHWc";
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = narrow;
  Attributes attributes = node.attributes;
  if (form.dtype == DataType::kBfloat16) {
    if (!is_depthwise) inputs[1] = rewriter_.Constant(name, PackedAsBfloat16(weights));
  } else {
    inputs[1] =
        rewriter_.Constant(name, is_depthwise ? DepthwiseAsBytes(weights) : PackedAsBytes(weights));
    // What a sum of bytes has too much.
    if (form.zero != 0) {
      inputs.resize(2);
      inputs.push_back(rewriter_.Constant(
          absl::StrCat(name, "_sums"), is_depthwise
                                           ? SumsOfDepthwise(weights, -form.zero)
                                           : SumsOfPacked(weights, ChannelsOf(node), -form.zero)));
    }
    if (node.op != "slipway.GemmPacked") attributes.Set("zero", int64_t{form.zero});
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId y,
                           rewriter_.Add(node.op, std::move(inputs), std::move(attributes),
                                         DisplayName(rewriter_.graph(), node)));
  rewriter_.Replace(node, y);
  return absl::OkStatus();
}

absl::Status ProductNarrowing::RewritePool(Node& node, const Node& old) {
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId bytes, Narrow(old.inputs[0]));
  const ValueId y = old.outputs[0];
  SLIPWAY_ASSIGN_OR_RETURN(narrow_[y], rewriter_.Add(node.op, {bytes}, node.attributes,
                                                     absl::StrCat(NameOf(y), "_bytes")));
  if (replaces_[y]) {
    rewriter_.Release(node);
  } else {
    rewriter_.Keep(std::move(node));
  }
  return absl::OkStatus();
}

absl::Status ProductNarrowing::Widen(Node& node, const std::vector<ValueId>& inputs) {
  std::vector<ValueId> widened = node.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = inputs[i];
    if (id == kNoValue || !replaces_[id]) continue;
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId narrow, Narrow(id));
    if (form_[id].dtype == DataType::kUint8) {
      const ValueId zero = rewriter_.Constant(absl::StrCat(NameOf(narrow), "_zero"),
                                              Tensor::Scalar(static_cast<uint8_t>(form_[id].zero)));
      widened = {narrow, widened[1], zero};
      break;
    }
    // One for each reader, which it becomes a part of.
    SLIPWAY_ASSIGN_OR_RETURN(widened[i], rewriter_.Add("Cast", {narrow}, {{"to", kFloatType}},
                                                       absl::StrCat(NameOf(id), "_widened")));
  }
  rewriter_.Keep(std::move(node), std::move(widened));
  return absl::OkStatus();
}

absl::StatusOr<Graph> ProductNarrowing::Run() {
  ChooseForms();
  std::vector<Node> nodes = rewriter_.TakeNodes();
  for (size_t n = 0; n < nodes.size(); ++n) {
    const std::vector<ValueId>& inputs = old_.nodes[n].inputs;
    rewriter_.Resolve(nodes[n]);
    if (is_pooled_[n]) {
      SLIPWAY_RETURN_IF_ERROR(RewritePool(nodes[n], old_.nodes[n]));
      continue;
    }
    SLIPWAY_RETURN_IF_ERROR(is_narrowed_[n] ? RewriteProduct(nodes[n], inputs[0])
                                            : Widen(nodes[n], inputs));
  }
  return std::move(rewriter_).Finish();
}

}  // namespace

absl::StatusOr<Graph> NarrowProducts(Graph graph, const PassContext& context,
                                     const NarrowForms& forms) {
  SLIPWAY_ASSIGN_OR_RETURN(Graph narrowed,
                           ProductNarrowing(std::move(graph), context, forms).Run());
  // Wide forms that only their narrow ones were made from.
  return DeadCode(std::move(narrowed), context);
}

}  // namespace slipway
