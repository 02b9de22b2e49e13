#include "core/passes/choose_product_pass.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/convolution.h"
#include "core/operators/matrix.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/pack_constants.h"

namespace slipway {
namespace {

// A product that has halves.
struct Halved {
  const char* op = nullptr;  // That makes it of them.
  ProductExtents extents;
};

bool AreEven(int64_t a, int64_t b) { return a % 2 == 0 && b % 2 == 0; }

std::optional<Halved> HalvedMatrix(const GemmView& gemm) {
  if (gemm.m == kOpenRows || gemm.terms != 1 || gemm.n % (2 * gemm.block) != 0 || gemm.k % 2 != 0) {
    return std::nullopt;
  }
  return Halved{"slipway.StrassenGemm", {gemm.m, gemm.k, gemm.n}};
}

std::optional<Halved> HalvedConvolution(const ConvView& conv) {
  const Window& window = conv.window;
  const auto are_all = [](const std::vector<int64_t>& numbers, int64_t wanted) {
    return absl::c_all_of(numbers, [&](int64_t number) { return number == wanted; });
  };
  if (conv.group != 1 || conv.in_block == 1 || conv.terms != 1 || conv.batch == kOpenExtent ||
      !AreEven(conv.in_channels / conv.in_block, conv.out_channels / conv.out_block) ||
      !are_all(window.kernel, 1) || !are_all(window.strides, 1) || !are_all(window.pads_begin, 0) ||
      !are_all(window.pads_end, 0) || absl::c_linear_search(window.output, kOpenExtent)) {
    return std::nullopt;
  }
  return Halved{"slipway.StrassenConvNCHWc",
                {conv.batch * window.output[0] * window.output[1], conv.in_channels,
                 conv.out_channels, /*is_of_images=*/true}};
}

absl::StatusOr<std::optional<Halved>> HalvedProduct(const Node& node, const GraphRewriter& rewriter,
                                                    const OperatorRegistry& registry) {
  const bool is_matrix = node.op == "slipway.GemmPacked";
  if (!is_matrix && node.op != "slipway.ConvNCHWc") return std::nullopt;
  const Tensor* const weights = rewriter.constant(node.inputs[1]);
  if (weights == nullptr || weights->dtype() != DataType::kFloat32) return std::nullopt;
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(rewriter.graph(), node, registry));
  if (is_matrix) {
    SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(view));
    return HalvedMatrix(gemm);
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(view));
  return HalvedConvolution(conv);
}

}  // namespace

absl::StatusOr<Graph> ChooseProduct(Graph graph, const PassContext& context,
                                    const ChooseHalves& choose) {
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    SLIPWAY_ASSIGN_OR_RETURN(const std::optional<Halved> halved,
                             HalvedProduct(node, rewriter, context.registry));
    if (!halved.has_value() || !choose(halved->extents)) {
      rewriter.Keep(std::move(node));
      continue;
    }
    std::vector<ValueId> inputs = node.inputs;
    inputs[1] = rewriter.Constant(absl::StrCat(rewriter.graph().values[inputs[1]].name, "_halves"),
                                  StrassenWeights(*rewriter.constant(inputs[1])));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId y, rewriter.Add(halved->op, std::move(inputs), {},
                                                           DisplayName(rewriter.graph(), node)));
    rewriter.Replace(node, y);
  }
  return std::move(rewriter).Finish();
}

}  // namespace slipway
