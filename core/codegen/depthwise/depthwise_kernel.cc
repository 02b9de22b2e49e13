#include "core/codegen/depthwise/depthwise_kernel.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/depthwise/depthwise_text.h"
#include "core/codegen/depthwise/depthwise_tile.h"
#include "core/codegen/ptx_head.h"
#include "core/codegen/tensor_cores/matrix_product.h"
#include "core/codegen/tensor_cores/tensor_core_kernel.h"

namespace slipway {
namespace {

KernelSchedule ScheduleOf(const DepthwiseTile& tile) {
  return {{"depthwise", {{"rows", tile.rows}, {"columns", tile.columns}}}};
}

absl::StatusOr<DepthwiseTile> TileOf(const ScheduleRecord& record) {
  for (const DepthwiseTile& tile : DepthwiseTiles()) {
    if (ScheduleOf(tile) == record.schedule) return tile;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "its schedule in line ", record.line, ": there is no \"", ToString(record.schedule),
      "\" for a convolution whose channels have a window each"));
}

}  // namespace

absl::StatusOr<ScheduledKernel> MakeDepthwiseKernel(const Graph& body,
                                                    const OperatorRegistry& registry,
                                                    const DeviceTarget& device,
                                                    const std::string& function,
                                                    const ScheduleRecord* record) {
  SLIPWAY_RETURN_IF_ERROR(CheckTakesTemplates(device));
  SLIPWAY_ASSIGN_OR_RETURN(const MatrixProduct product, DecodeDepthwise(body, registry));
  if (product.k > kMostDepthwiseElements) {
    return absl::UnimplementedError(absl::StrCat("a window of ", product.k, " elements"));
  }
  DepthwiseTile tile = ChooseDepthwiseTile(GpuOf(device), product);
  if (record != nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN(tile, TileOf(*record));
  }
  ScheduledKernel made{
      DepthwiseKernel(product, body.inputs.size(), tile, absl::StrCat(function, "_0")),
      ScheduleOf(tile),
      {}};
  for (const DepthwiseTile& other : DepthwiseTiles()) {
    if (!(other == tile)) made.candidates.push_back(ScheduleOf(other));
  }
  made.kernel.preamble = PtxHead(device);
  return made;
}

}  // namespace slipway
