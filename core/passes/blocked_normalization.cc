#include "core/passes/blocked_normalization.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/passes/canonicalize_rules.h"

namespace slipway {
namespace {

class Adding {
 public:
  Adding(GraphRewriter& rewriter, const BlockedNormalization& normalization, absl::string_view name)
      : rewriter_(rewriter), normalization_(normalization), name_(name) {}

  absl::StatusOr<ValueId> Run() {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId mean, MeanOf(normalization_.x, "mean"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId apart, Add("Sub", {normalization_.x, mean}, "apart"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId squares, Add("Mul", {apart, apart}, "squares"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId variance, MeanOf(squares, "variance"));
    const ValueId epsilon =
        rewriter_.Constant(Named("epsilon"), Tensor::Scalar(normalization_.epsilon));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId shifted, Add("Add", {variance, epsilon}, "shifted"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId deviation, Add("Sqrt", {shifted}, "deviation"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId scale, InBlocks(normalization_.scale, "scale"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId factor, Add("Div", {scale, deviation}, "factor"));
    // Computed again rather than kept: the variance's are its kernel's own.
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId centred,
                             Add("Sub", {normalization_.x, mean}, "centred"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId scaled, Add("Mul", {centred, factor}, "scaled"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId bias, InBlocks(normalization_.bias, "bias"));
    return rewriter_.Add("Add", {scaled, bias}, {}, name_);
  }

 private:
  std::string Named(absl::string_view part) const { return absl::StrCat(name_, "_", part); }
  absl::StatusOr<ValueId> Add(absl::string_view op, std::vector<ValueId> inputs,
                              absl::string_view part) {
    return rewriter_.Add(op, std::move(inputs), {}, Named(part));
  }
  absl::StatusOr<ValueId> ReduceMean(ValueId x, int64_t axis, absl::string_view part) {
    const ValueId axes = ShapeConstant(rewriter_, Named(absl::StrCat(part, "_axis")), {axis});
    return rewriter_.Add("ReduceMean", {x, axes}, {{"keepdims", int64_t{1}}}, Named(part));
  }

  // [N, channels / block, 1, 1, block].
  absl::StatusOr<ValueId> MeanOf(ValueId x, absl::string_view part) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId rows, ReduceMean(x, 3, absl::StrCat(part, "_rows")));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId mean, ReduceMean(rows, 2, part));
    if (normalization_.group == 1) return mean;
    const Dimensions blocked = rewriter_.type(mean).dimensions();
    const int64_t group = normalization_.group;
    SLIPWAY_ASSIGN_OR_RETURN(
        const ValueId grouped,
        AddReshape(rewriter_, mean, {blocked[0], normalization_.channels / group, group},
                   Named(absl::StrCat(part, "_grouped"))));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId of_groups,
                             ReduceMean(grouped, 2, absl::StrCat(part, "_groups")));
    const ValueId ones =
        rewriter_.Constant(Named(absl::StrCat(part, "_ones")),
                           Tensor::Of<float>({1, 1, group}, std::vector<float>(group, 1.0f)));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId spread,
                             Add("Mul", {of_groups, ones}, absl::StrCat(part, "_spread")));
    return AddReshape(rewriter_, spread, blocked, Named(absl::StrCat(part, "_blocked")));
  }

  // A number a channel, [channels / block, 1, 1, block].
  absl::StatusOr<ValueId> InBlocks(ValueId by_channel, absl::string_view part) {
    const int64_t block = normalization_.block;
    const Shape shape = {normalization_.channels / block, 1, 1, block};
    if (const Tensor* constant = rewriter_.constant(by_channel)) {
      SLIPWAY_ASSIGN_OR_RETURN(Tensor reshaped, constant->Reshaped(shape));
      return rewriter_.Constant(Named(part), std::move(reshaped));
    }
    return AddReshape(rewriter_, by_channel, ToDimensions(shape), Named(part));
  }

  GraphRewriter& rewriter_;
  const BlockedNormalization& normalization_;
  const std::string name_;
};

}  // namespace

absl::StatusOr<ValueId> AddBlockedNormalization(GraphRewriter& rewriter,
                                                const BlockedNormalization& normalization,
                                                absl::string_view name) {
  return Adding(rewriter, normalization, name).Run();
}

}  // namespace slipway
