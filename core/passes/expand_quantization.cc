// DynamicQuantizeLinear as the reductions, the few numbers and the QuantizeLinear that ONNX defines it by.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/passes/expand_rules.h"

namespace slipway {
namespace {

// Largest minus smallest code of u8.
constexpr float kCodesSpan = 255;

class Expansion {
 public:
  Expansion(const Node& node, GraphRewriter& rewriter)
      : node_(node), rewriter_(rewriter), name_(DisplayName(rewriter.graph(), node)) {}

  absl::Status Run() {
    const ValueId x = node_.inputs[0];
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId high, LargestOrZero(x, "high"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId negated, Add("Neg", {x}, "negated"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId below, LargestOrZero(negated, "below"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId span, Add("Add", {high, below}, "span"));
    // Of nothing but zeros it would be 0.
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId is_any,
                             Add("Greater", {span, Number("none", 0)}, "is_any"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId width,
                             Add("Where", {is_any, span, Number("one", 1)}, "width"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId scale,
                             Add("Div", {width, Number("codes", kCodesSpan)}, "scale"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId zero, Add("QuantizeLinear", {below, scale}, "zero"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId y, Add("QuantizeLinear", {x, scale, zero}, "codes"));
    const ValueId made[] = {y, scale, zero};
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      if (node_.outputs[i] != kNoValue) rewriter_.ReplaceOutput(node_.outputs[i], made[i]);
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<ValueId> Add(absl::string_view op, std::vector<ValueId> inputs,
                              absl::string_view what, Attributes attributes = {}) {
    return rewriter_.Add(op, std::move(inputs), std::move(attributes),
                         absl::StrCat(name_, "_", what));
  }
  ValueId Number(absl::string_view what, float number) {
    return rewriter_.Constant(absl::StrCat(name_, "_", what), Tensor::Scalar(number));
  }
  // Rows first, side by side, and then what is left of them.
  absl::StatusOr<ValueId> LargestOrZero(ValueId x, absl::string_view what) {
    const ValueId axes =
        rewriter_.Constant(absl::StrCat(name_, "_", what, "_axes"), Tensor::Of<int64_t>({1}, {-1}));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId of_rows,
                             Add("ReduceMax", {x, axes}, what, {{"keepdims", int64_t{0}}}));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId of_all,
                             Add("ReduceMax", {of_rows}, what, {{"keepdims", int64_t{0}}}));
    return Add("Max", {of_all, Number("none", 0)}, what);
  }

  const Node& node_;
  GraphRewriter& rewriter_;
  const std::string name_;
};

}  // namespace

ExpandRule DynamicQuantizationRule() {
  return [](const Node& node, GraphRewriter& rewriter,
            const OperatorRegistry&) -> absl::StatusOr<bool> {
    const ValueType& x = rewriter.type(node.inputs[0]);
    if (x.rank() < 2 || NumElements(x.dimensions()) == Dimension(0)) return false;
    SLIPWAY_RETURN_IF_ERROR(Expansion(node, rewriter).Run());
    return true;
  };
}

}  // namespace slipway
