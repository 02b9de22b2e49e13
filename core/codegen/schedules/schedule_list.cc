#include "core/codegen/schedules/schedule_list.h"

#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/codegen/schedules/cpu/convolution_schedule.h"
#include "core/codegen/schedules/cpu/join_schedule.h"
#include "core/codegen/schedules/cpu/loops.h"
#include "core/codegen/schedules/cpu/matrix_schedule.h"
#include "core/codegen/schedules/cpu/reduction_schedule.h"
#include "core/codegen/schedules/cpu/winograd_schedule.h"

namespace slipway {
namespace {

using Halide::Func;

bool IsCpu(const MachineDescription& machine) { return machine.vector_bytes > 0; }

template <typename Stages, void (*kSchedule)(const MachineDescription&, const Stages&, Func)>
void Typed(const MachineDescription& machine, const Anchor& anchor, Func result) {
  kSchedule(machine, std::get<Stages>(anchor.stages), result);
}

struct Row {
  AnchorKind kind;
  const char* name;  // For people.
  bool (*is_for)(const MachineDescription&);
  void (*schedule)(const MachineDescription&, const Anchor&, Func);
};

// The first row of the kind that is for the machine. Schedules for another kind of machine are a folder beside
// cpu/ and their rows here.
constexpr Row kSchedules[] = {
    {AnchorKind::kInjective, "an expression", IsCpu, Typed<InjectiveStages, ScheduleInjective>},
    {AnchorKind::kUpdated, "updates", IsCpu, Typed<UpdatedStages, ScheduleUpdated>},
    {AnchorKind::kBlockedConvolution, "a convolution of blocks", IsCpu,
     Typed<ConvolutionStages, ScheduleBlockedConvolution>},
    {AnchorKind::kDepthwiseConvolution, "a depthwise convolution", IsCpu,
     Typed<ConvolutionStages, ScheduleDepthwiseConvolution>},
    {AnchorKind::kPlainConvolution, "a convolution", IsCpu,
     Typed<ConvolutionStages, SchedulePlainConvolution>},
    {AnchorKind::kWinogradConvolution, "a convolution by Winograd's tiles", IsCpu,
     Typed<WinogradStages, ScheduleWinogradConvolution>},
    {AnchorKind::kMatrixProduct, "a matrix product", IsCpu,
     Typed<MatrixStages, ScheduleMatrixProduct>},
    {AnchorKind::kReduction, "a reduction", IsCpu, Typed<ReductionStages, ScheduleReduction>},
    {AnchorKind::kRows, "rows", IsCpu, Typed<RowStages, ScheduleRows>},
    {AnchorKind::kJoin, "joined tensors", IsCpu, Typed<JoinStages, ScheduleJoin>},
};

}  // namespace

ScheduleFunction SchedulesFor(const MachineDescription& machine) {
  return [machine](const Anchor& anchor, Func result) -> absl::Status {
    const char* name = "this";
    for (const Row& row : kSchedules) {
      if (row.kind != anchor.kind) continue;
      name = row.name;
      if (!row.is_for(machine)) continue;
      row.schedule(machine, anchor, result);
      return absl::OkStatus();
    }
    return absl::UnimplementedError(
        absl::StrCat("there is no schedule for ", name, " on this kind of machine yet"));
  };
}

}  // namespace slipway
