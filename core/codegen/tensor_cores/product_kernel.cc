#include "core/codegen/tensor_cores/product_kernel.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/tensor_cores/kernel_text.h"
#include "core/codegen/tensor_cores/matrix_product.h"
#include "core/codegen/tensor_cores/product_text.h"
#include "core/codegen/tensor_cores/tensor_tile.h"

namespace slipway {
namespace {

// Of the hundred and more by which a product may be divided.
constexpr size_t kMostCandidates = 16;

KernelSchedule ScheduleOf(const ProductDivision& division) {
  const TensorTile& tile = division.tile;
  return {{tile.is_of_warp_groups ? "warp-group-product" : "product",
           {{"rows", tile.rows},
            {"columns", tile.columns},
            {"high", tile.warps_of_rows},
            {"wide", tile.warps_of_columns},
            {"parts", division.parts}}}};
}

absl::StatusOr<ProductDivision> DivisionOf(const ScheduleRecord& record, const TensorGpu& gpu,
                                           const MatrixProduct& product, int number_bytes) {
  for (const TensorTile& tile : TensorTiles()) {
    if (!gpu.Has(tile)) continue;
    for (int parts = 1; parts <= kMostParts; ++parts) {
      const ProductDivision division{tile, parts};
      if (ScheduleOf(division) != record.schedule) continue;
      const int64_t elements = product.batch * product.m * product.n;
      if (CanDivide(division, elements, product.k, number_bytes)) return division;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("its schedule in line ", record.line,
                                                 ": there is no \"", ToString(record.schedule),
                                                 "\" for a product on tensor cores"));
}

}  // namespace

absl::StatusOr<ScheduledKernel> MakeProductKernel(const Graph& body,
                                                  const OperatorRegistry& registry,
                                                  const TensorGpu& gpu, Precision precision,
                                                  const std::string& function,
                                                  const ScheduleRecord* record) {
  SLIPWAY_ASSIGN_OR_RETURN(const MatrixProduct product, DecodeProduct(body, registry));
  SLIPWAY_RETURN_IF_ERROR(CheckFactors(product, precision));
  const int bytes = FindNumberForm(precision)->bytes;
  const std::vector<ProductDivision> divisions =
      RankDivisions(gpu, product.batch, product.m, product.n, product.k, bytes);
  ProductDivision division = divisions.front();
  if (record != nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN(division, DivisionOf(*record, gpu, product, bytes));
  }
  ScheduledKernel made{
      ProductKernel(product, body.inputs.size(), precision, division, absl::StrCat(function, "_0")),
      ScheduleOf(division),
      {}};
  for (const ProductDivision& other : divisions) {
    if (made.candidates.size() == kMostCandidates) break;
    if (other != division) made.candidates.push_back(ScheduleOf(other));
  }
  return made;
}

}  // namespace slipway
