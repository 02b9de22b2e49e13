// How the loops of a kernel are cut, as a value that is written and read as text: what the model of the machine chose, or
// what somebody who has measured others puts in its place.
#ifndef SLIPWAY_CORE_SCHEDULES_KERNEL_SCHEDULE_H_
#define SLIPWAY_CORE_SCHEDULES_KERNEL_SCHEDULE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// Of one stage: the kind of its loops and numbers by name. What names there are and what the numbers may be is said by the
// schedules of the kind (schedule_list.h).
struct StageSchedule {
  std::string kind;  // "convolution"
  std::vector<std::pair<std::string, int>> numbers;

  friend bool operator==(const StageSchedule&, const StageSchedule&) = default;
};

// Of a kernel's stages, in the order in which they are scheduled.
using KernelSchedule = std::vector<StageSchedule>;

// One line without its end: "convolution width=6 blocks=2; expression lanes=8 tasks=4".
std::string ToString(const KernelSchedule& schedule);

// The schedule of one kernel, and the line of the text that it stands in.
struct ScheduleRecord {
  KernelSchedule schedule;
  int line = 0;  // From 1.
};
// By the kernel's name (KernelName of core/codegen/group.h).
using ScheduleRecords = std::map<std::string, ScheduleRecord>;

// Reads a record a line, "3f0c9a4410be72d1 convolution width=6 blocks=2": the kernel's name and its schedule as ToString
// writes it. "#" begins a comment, up to the end of the line. INVALID_ARGUMENT names the line and what is wrong: a text beyond
// the limits below, a name that is none, a kernel given twice.
absl::StatusOr<ScheduleRecords> ParseScheduleRecords(absl::string_view text);

// A kernel of a program as it is cut, and how else it may be: schedules as ToString writes them.
struct KernelCandidates {
  std::string kernel;  // Its name, as in records.
  std::string schedule;
  std::vector<std::string> candidates;  // Which it takes, near that one, the likeliest first.
  std::vector<std::string> steps;       // Of the program, by name, that it does; each once.
};

inline constexpr int64_t kMaxSchedulesBytes = 1 << 20;
inline constexpr int kMaxStagesOfKernel = 256;
inline constexpr int kMaxNumbersOfStage = 32;
inline constexpr int kMaxScheduleNameBytes = 32;

}  // namespace slipway

#endif  // SLIPWAY_CORE_SCHEDULES_KERNEL_SCHEDULE_H_
