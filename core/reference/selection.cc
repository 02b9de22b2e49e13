#include "core/operators/selection.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/kernels/selection.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status TopK(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const TopKView top, DecodeTopK(view));
  parameters.Add(top.axis);
  parameters.Add(top.largest);
  return absl::OkStatus();
}

absl::Status Pieces(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const PiecesView pieces, DecodePieces(view));
  parameters.Add(pieces.flat);
  parameters.Add(pieces.axis);
  return absl::OkStatus();
}

absl::Status Unique(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_RETURN_IF_ERROR(Pieces(view, parameters));
  parameters.Add(view.Int("sorted") != 0);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterSelectionKernels(KernelColumn& kernels) {
  const std::pair<const char*, CallableKernel> rows[] = {
      {"Compress",
       {"slipway_Compress", slipway_Compress, Pieces, "slipway_Compress_count",
        slipway_Compress_count}},
      {"NonZero",
       {"slipway_NonZero", slipway_NonZero, nullptr, "slipway_NonZero_count",
        slipway_NonZero_count}},
      {"TopK", {"slipway_TopK", slipway_TopK, TopK, "slipway_TopK_count", slipway_TopK_count}},
      {"Unique",
       {"slipway_Unique", slipway_Unique, Unique, "slipway_Unique_count", slipway_Unique_count}},
  };
  for (const auto& [op, kernel] : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return absl::OkStatus();
}

}  // namespace slipway
