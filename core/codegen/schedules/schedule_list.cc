#include "core/codegen/schedules/schedule_list.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/schedules/candidates.h"
#include "core/codegen/schedules/cpu/convolution_schedule.h"
#include "core/codegen/schedules/cpu/join_schedule.h"
#include "core/codegen/schedules/cpu/loops.h"
#include "core/codegen/schedules/cpu/matrix_schedule.h"
#include "core/codegen/schedules/cpu/reduction_schedule.h"
#include "core/codegen/schedules/cpu/strassen_schedule.h"
#include "core/codegen/schedules/cpu/winograd_schedule.h"
#include "core/codegen/schedules/gpu/thread_schedule.h"
#include "core/codegen/schedules/parameters.h"

namespace slipway {
namespace {

using Halide::Func;

bool IsCpu(const MachineDescription& machine) { return machine.vector_bytes > 0; }
bool IsGpu(const MachineDescription& machine) { return machine.max_threads_per_block > 0; }

// A stage as it is scheduled, and how else it may be.
struct ScheduledStage {
  StageSchedule used;
  std::vector<StageSchedule> others;
};

// Chooses for an anchor and a machine, as `record`, unless it is null, says, and carries it out. Errors of SetParameters alone.
using Schedule = absl::Status (*)(const MachineDescription&, const Anchor&, Func,
                                  const StageSchedule* record, ScheduledStage& stage);

template <typename Stages, typename Choice,
          Choice (*kChoose)(const MachineDescription&, const Stages&),
          Parameters (*kParameters)(const MachineDescription&, const Stages&, Choice&),
          void (*kSchedule)(const MachineDescription&, const Stages&, const Choice&, Func)>
absl::Status Chosen(const MachineDescription& machine, const Anchor& anchor, Func result,
                    const StageSchedule* record, ScheduledStage& stage) {
  const auto& stages = std::get<Stages>(anchor.stages);
  Choice choice = kChoose(machine, stages);
  const auto parameters = [&] { return kParameters(machine, stages, choice); };
  if (record != nullptr) SLIPWAY_RETURN_IF_ERROR(SetParameters(*record, parameters));
  stage.used.numbers = NumbersOf(parameters());
  stage.others = CandidatesNear(stage.used, parameters);
  kSchedule(machine, stages, choice, result);
  return absl::OkStatus();
}

// Where there is nothing to choose.
template <typename Stages, void (*kSchedule)(const MachineDescription&, const Stages&, Func)>
absl::Status Fixed(const MachineDescription& machine, const Anchor& anchor, Func result,
                   const StageSchedule* record, ScheduledStage&) {
  if (record != nullptr) {
    SLIPWAY_RETURN_IF_ERROR(SetParameters(*record, [] { return Parameters(); }));
  }
  kSchedule(machine, std::get<Stages>(anchor.stages), result);
  return absl::OkStatus();
}

// On a GPU, where the one thing to choose is how many instances are a group.
template <typename Stages,
          void (*kSchedule)(const MachineDescription&, const Stages&, const ThreadSchedule&, Func)>
constexpr Schedule Threads =
    Chosen<Stages, ThreadSchedule, ChooseThreads<Stages>, ThreadParametersOf<Stages>, kSchedule>;

struct Row {
  AnchorKind kind;
  const char* name;  // StageSchedule::kind
  bool (*is_for)(const MachineDescription&);
  Schedule schedule;
};

// The first row of the kind that is for the machine. Schedules for another kind of machine are a folder beside
// cpu/ and their rows here.
constexpr Row kSchedules[] = {
    {AnchorKind::kInjective, "expression", IsCpu,
     Chosen<InjectiveStages, InjectiveSchedule, ChooseInjective, InjectiveParameters,
            ScheduleInjective>},
    {AnchorKind::kUpdated, "updates", IsCpu, Fixed<UpdatedStages, ScheduleUpdated>},
    {AnchorKind::kBlockedConvolution, "convolution", IsCpu,
     Chosen<ConvolutionStages, ConvolutionSchedule, ChooseBlockedConvolution,
            BlockedConvolutionParameters, ScheduleBlockedConvolution>},
    {AnchorKind::kDepthwiseConvolution, "depthwise-convolution", IsCpu,
     Chosen<ConvolutionStages, ConvolutionSchedule, ChooseDepthwiseConvolution,
            DepthwiseConvolutionParameters, ScheduleDepthwiseConvolution>},
    {AnchorKind::kPlainConvolution, "plain-convolution", IsCpu,
     Chosen<ConvolutionStages, ConvolutionSchedule, ChoosePlainConvolution,
            PlainConvolutionParameters, SchedulePlainConvolution>},
    {AnchorKind::kWinogradConvolution, "winograd-convolution", IsCpu,
     Chosen<WinogradStages, WinogradSchedule, ChooseWinogradConvolution,
            WinogradConvolutionParameters, ScheduleWinogradConvolution>},
    {AnchorKind::kMatrixProduct, "product", IsCpu,
     Chosen<MatrixStages, ProductSchedule, ChooseMatrixProduct, MatrixProductParameters,
            ScheduleMatrixProduct>},
    {AnchorKind::kStrassenProduct, "strassen-product", IsCpu,
     Chosen<StrassenStages, StrassenSchedule, ChooseStrassenProduct, StrassenProductParameters,
            ScheduleStrassenProduct>},
    {AnchorKind::kReduction, "reduction", IsCpu, Fixed<ReductionStages, ScheduleReduction>},
    {AnchorKind::kRows, "rows", IsCpu, Fixed<RowStages, ScheduleRows>},
    {AnchorKind::kJoin, "join", IsCpu, Fixed<JoinStages, ScheduleJoin>},
    {AnchorKind::kInjective, "expression", IsGpu,
     Threads<InjectiveStages, ScheduleInjectiveThreads>},
    {AnchorKind::kUpdated, "updates", IsGpu, Threads<UpdatedStages, ScheduleUpdatedThreads>},
    {AnchorKind::kPlainConvolution, "plain-convolution", IsGpu,
     Threads<ConvolutionStages, ScheduleConvolutionThreads>},
    {AnchorKind::kMatrixProduct, "product", IsGpu, Threads<MatrixStages, ScheduleProductThreads>},
    {AnchorKind::kReduction, "reduction", IsGpu,
     Threads<ReductionStages, ScheduleReductionThreads>},
    {AnchorKind::kRows, "rows", IsGpu, Threads<RowStages, ScheduleRowThreads>},
    {AnchorKind::kJoin, "join", IsGpu, Threads<JoinStages, ScheduleJoinThreads>},
};

}  // namespace

absl::Status KernelScheduler::WrongRecord(absl::string_view what) const {
  return absl::InvalidArgumentError(
      absl::StrCat("its schedule in line ", record_->line, ": ", what));
}

absl::StatusOr<const StageSchedule*> KernelScheduler::NextOfRecord(absl::string_view kind) const {
  if (record_ == nullptr) return nullptr;
  const size_t index = used_.size();
  if (index >= record_->schedule.size()) {
    return WrongRecord(absl::StrCat("stage ", index + 1, ", \"", kind, "\", is missing"));
  }
  const StageSchedule& stage = record_->schedule[index];
  if (stage.kind == kind) return &stage;
  return WrongRecord(absl::StrCat("stage ", index + 1, " is \"", stage.kind,
                                  "\", that of the kernel is \"", kind, "\""));
}

absl::Status KernelScheduler::operator()(const Anchor& anchor, Func result) {
  const char* name = "this";
  for (const Row& row : kSchedules) {
    if (row.kind != anchor.kind) continue;
    name = row.name;
    if (!row.is_for(machine_)) continue;
    SLIPWAY_ASSIGN_OR_RETURN(const StageSchedule* record, NextOfRecord(row.name));
    ScheduledStage stage{.used = {.kind = row.name, .numbers = {}}, .others = {}};
    const absl::Status status = row.schedule(machine_, anchor, result, record, stage);
    if (!status.ok()) return WrongRecord(status.message());
    used_.push_back(std::move(stage.used));
    others_.push_back(std::move(stage.others));
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat("there is no schedule for loops of the kind \"",
                                               name, "\" on this kind of machine yet"));
}

absl::Status KernelScheduler::CheckAllUsed() const {
  if (record_ == nullptr || record_->schedule.size() == used_.size()) return absl::OkStatus();
  return WrongRecord(
      absl::StrCat("it has ", record_->schedule.size(), " stages, the kernel ", used_.size()));
}

std::vector<KernelSchedule> KernelScheduler::Candidates() const {
  size_t most = 0;
  for (const std::vector<StageSchedule>& others : others_) most = std::max(most, others.size());
  std::vector<KernelSchedule> candidates;
  for (size_t rank = 0; rank < most; ++rank) {
    for (size_t stage = 0; stage < others_.size(); ++stage) {
      if (rank >= others_[stage].size()) continue;
      candidates.push_back(used_);
      candidates.back()[stage] = others_[stage][rank];
    }
  }
  return candidates;
}

}  // namespace slipway
