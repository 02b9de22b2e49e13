// Schedules near one that the model of the machine has chosen: what is worth measuring where the model may be wrong. A pure function of
// the schedule and of what its numbers may be; which numbers are moved, and in which order, is a table in candidates.cc.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CANDIDATES_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CANDIDATES_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "core/codegen/schedules/parameters.h"
#include "core/schedules/kernel_schedule.h"

namespace slipway {

// Schedules of the same kind with other numbers, each once, the likeliest first; none where there is nothing to move. Each is a
// whole record that SetParameters takes: a number that no more fits one that was moved before it is the largest one below that
// does, or the smallest there is. `parameters` is asked as SetParameters asks it, of numbers as `chosen` has them, which they have again afterwards.
std::vector<StageSchedule> CandidatesNear(const StageSchedule& chosen,
                                          absl::FunctionRef<Parameters()> parameters);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CANDIDATES_H_
