#include "core/codegen/tensor_cores/product_kernel.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/tensor_cores/matrix_product.h"
#include "core/codegen/tensor_cores/product_text.h"
#include "core/codegen/tensor_cores/tensor_tile.h"

namespace slipway {
namespace {

KernelSchedule ScheduleOf(const TensorTile& tile) {
  return {{"product",
           {{"rows", tile.rows},
            {"columns", tile.columns},
            {"high", tile.warps_of_rows},
            {"wide", tile.warps_of_columns}}}};
}

absl::StatusOr<TensorTile> TileOf(const ScheduleRecord& record) {
  for (const TensorTile& tile : TensorTiles()) {
    if (ScheduleOf(tile) == record.schedule) return tile;
  }
  return absl::InvalidArgumentError(absl::StrCat("its schedule in line ", record.line,
                                                 ": there is no \"", ToString(record.schedule),
                                                 "\" for a product on tensor cores"));
}

// What all texts for the device begin with, those of the generator that writes the other kernels too.
std::string HeadOf(const DeviceTarget& device) {
  const bool is_first = device.level < 86;
  return absl::StrCat(".version ", is_first ? "7.0" : "7.1", "\n.target ",
                      is_first ? "sm_80" : "sm_86", "\n.address_size 64\n");
}

}  // namespace

absl::StatusOr<ScheduledKernel> MakeProductKernel(const Graph& body,
                                                  const OperatorRegistry& registry,
                                                  const DeviceTarget& device, Precision precision,
                                                  const std::string& function,
                                                  const ScheduleRecord* record) {
  SLIPWAY_RETURN_IF_ERROR(CheckHasProductsOf(device, precision));
  SLIPWAY_ASSIGN_OR_RETURN(const MatrixProduct product, DecodeProduct(body, registry));
  TensorTile tile = ChooseTensorTile(product.batch, product.m, product.n, product.k);
  if (record != nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN(tile, TileOf(*record));
  }
  ScheduledKernel made{
      ProductKernel(product, body.inputs.size(), precision, tile, absl::StrCat(function, "_0")),
      ScheduleOf(tile)};
  made.kernel.preamble = HeadOf(device);
  return made;
}

}  // namespace slipway
