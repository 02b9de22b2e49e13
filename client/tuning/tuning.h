// Tune: finds for each kernel of a model the schedule that is fastest on a device, by measuring.
//
// All kernels are tuned at a time: a trial is a program that has another schedule for each kernel that still has one to try (ScheduleSearch),
// and one run of it with its steps timed says what came of all of them. Programs are timed in turns with the one that stands so far, A B B A and
// B A A B, loaded anew each round, since what a machine does meanwhile, and where memory comes to lie, change times by more than schedules do; of each step
// the least time counts (KernelTimes). What is better by kLeastGain and by more than the noise in two measurements stands. In the end the program as
// the compiler makes it and the one that was found are timed in turns; kernels that are not faster there, too, lose their schedules, and all do if the
// program is slower.
#ifndef SLIPWAY_CLIENT_TUNING_TUNING_H_
#define SLIPWAY_CLIENT_TUNING_TUNING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/comparison.h"
#include "client/tuning/schedule_search.h"
#include "client/types.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/schedules/kernel_schedule.h"

namespace slipway {

// Kernels that take less of the program's time are left as they are.
inline constexpr double kLeastShare = 0.005;
// What a schedule has to bring, as a share, to take the place of another.
inline constexpr double kLeastGain = 0.02;

// Whole programs that differ by less, as a share, count as equally fast.
inline constexpr double kWholeMargin = 0.005;

struct TuningOptions {
  absl::Duration limit = absl::Minutes(10);  // No trial begins so long after the first or later.
};

// A model, compiled.
struct ScheduledProgram {
  Digest artifact;
  std::vector<KernelCandidates> kernels;
};

// What compiles, and the device that measures.
class TuningBench {
 public:
  virtual ~TuningBench() = default;
  // The model with its kernels cut by these, others as the compiler chooses.
  virtual absl::StatusOr<ScheduledProgram> Compile(const KernelSchedules& schedules) = 0;
  // Loads both anew, the first of `order` first, and times their steps in this order: the steps of a call for each.
  virtual absl::StatusOr<std::vector<std::vector<StepTime>>> TimeSteps(
      const Digest& a, const Digest& b, absl::Span<const Side> order) = 0;
  // Which of two programs is faster, by kWholeMargin.
  virtual absl::StatusOr<Comparison> Compare(const Digest& a, const Digest& b) = 0;
};

struct TunedKernel {
  std::string kernel;
  std::string step;  // The first of those it does,
  int steps = 0;     // and how many there are.
  std::string default_schedule;
  std::string schedule;   // What stands; the default one where nothing is faster.
  double default_ns = 0;  // Of all its steps in a call, by the default one,
  double ns = 0;          // and by what stands.
  int tried = 0;          // Candidates.
};

struct TuningResult {
  std::vector<TunedKernel> kernels;  // Those that were tuned, those that take longest first.
  double default_ns =
      0;          // Of all steps of a call, also of what was not tuned, as the compiler makes them,
  double ns = 0;  // and as they are now.
  int trials = 0;
  int dropped = 0;           // Candidates that could not be compiled or run.
  bool is_complete = false;  // Nothing is left to try.
  // Of the whole program against that of the compiler's choice; absent where all stands as the compiler chose. Of a program that
  // turned out to be slower it is what was found of it, and `kernels` has nothing that was changed.
  std::optional<Comparison> whole;
};

// What is told of it meanwhile.
class TuningObserver {
 public:
  virtual ~TuningObserver() = default;
  // What is done, for people: "trial 12", "31 kernels".
  virtual void Show(const std::string& stage, const std::string& detail) = 0;
  // A candidate that could not be compiled or run.
  virtual void Dropped(const std::string& kernel, const std::string& schedule,
                       const absl::Status& why) = 0;
  // All kernels that are tuned, whenever other schedules stand than before. An error ends the tuning.
  virtual absl::Status Keep(const std::vector<TunedKernel>& kernels) = 0;
};

// Begins with the schedules of `begin`, which may have some of kernels that the model has not. A candidate that cannot be compiled or run is
// dropped, others of the same trial are tried without it. Errors: UNIMPLEMENTED where the compiler does not tell what there is to
// try; of the bench where not even what stands can be compiled or run, and those for which trying on is useless: UNAVAILABLE (server or device went
// away), CANCELLED, UNAUTHENTICATED, PERMISSION_DENIED; of Keep. What was kept by then stands.
absl::StatusOr<TuningResult> Tune(TuningBench& bench, const KernelSchedules& begin,
                                  const TuningOptions& options, const Clock& clock,
                                  TuningObserver& observer);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_TUNING_TUNING_H_
