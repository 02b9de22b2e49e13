// The list of all schedules: who computes which kind of anchor on which machine.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_SCHEDULE_LIST_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_SCHEDULE_LIST_H_

#include <halide14/Halide.h>

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/codegen/anchor.h"
#include "core/schedules/kernel_schedule.h"
#include "core/target/machine_description.h"

namespace slipway {

// Schedules the stages of one kernel, one after the other: each as the model of the machine chooses by the anchor's kind and
// numbers, or as a record says. The same stages, machine and record make the same loops.
class KernelScheduler {
 public:
  // `record` must outlive this; null: the model alone.
  explicit KernelScheduler(const MachineDescription& machine,
                           const ScheduleRecord* record = nullptr)
      : machine_(machine), record_(record) {}

  // A ScheduleFunction, by reference. INVALID_ARGUMENT names the record's line where its stage is of another kind, or a number
  // cannot be.
  absl::Status operator()(const Anchor& anchor, Halide::Func result);

  // When all stages are scheduled: INVALID_ARGUMENT where the record has more.
  absl::Status CheckAllUsed() const;
  // What was chosen or said, of the stages so far.
  const KernelSchedule& used() const { return used_; }
  // Others that the kernel takes: used() but for one stage (candidates.h), of the stages' likeliest ones first.
  std::vector<KernelSchedule> Candidates() const;

 private:
  absl::Status WrongRecord(absl::string_view what) const;
  // The record's for the next stage, of this kind.
  absl::StatusOr<const StageSchedule*> NextOfRecord(absl::string_view kind) const;

  const MachineDescription machine_;
  const ScheduleRecord* const record_;
  KernelSchedule used_;
  std::vector<std::vector<StageSchedule>> others_;  // Of each stage of used_.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_SCHEDULE_LIST_H_
