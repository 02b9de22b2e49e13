#include "core/codegen/rows/row_kernel.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/ptx_head.h"
#include "core/codegen/rows/normalized_rows.h"
#include "core/codegen/rows/row_division.h"
#include "core/codegen/rows/row_text.h"
#include "core/codegen/tensor_cores/tensor_core_kernel.h"

namespace slipway {
namespace {

KernelSchedule ScheduleOf(const RowDivision& division) {
  KernelSchedule schedule = {{"warp-rows", {{"warps", division.warps}}}};
  if (division.parts > 1) schedule[0].numbers.push_back({"parts", division.parts});
  return schedule;
}

absl::StatusOr<RowDivision> DivisionOf(const ScheduleRecord& record, int64_t size,
                                       RowLayout layout) {
  for (const RowDivision& division : RowDivisions(size, layout)) {
    if (ScheduleOf(division) == record.schedule) return division;
  }
  return absl::InvalidArgumentError(absl::StrCat("its schedule in line ", record.line,
                                                 ": there is no \"", ToString(record.schedule),
                                                 "\" for rows of ", size, " numbers"));
}

}  // namespace

absl::StatusOr<ScheduledKernel> MakeRowKernel(const Graph& body, const OperatorRegistry& registry,
                                              const DeviceTarget& device,
                                              const std::string& function,
                                              const ScheduleRecord* record) {
  SLIPWAY_RETURN_IF_ERROR(CheckTakesTemplates(device));
  SLIPWAY_ASSIGN_OR_RETURN(const NormalizedRows rows, DecodeNormalizedRows(body, registry));
  const RowLayout layout = rows.turned.has_value() ? RowLayout::kTurned : RowLayout::kTogether;
  RowDivision division = ChooseRowDivision(GpuOf(device), rows.rows, rows.size, layout);
  if (record != nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN(division, DivisionOf(*record, rows.size, layout));
  }
  ScheduledKernel made{RowKernel(rows, body.inputs.size(), division, absl::StrCat(function, "_0")),
                       ScheduleOf(division),
                       {}};
  for (const RowDivision& other : RowDivisions(rows.size, layout)) {
    if (!(other == division)) made.candidates.push_back(ScheduleOf(other));
  }
  made.kernel.preamble = PtxHead(device);
  return made;
}

}  // namespace slipway
