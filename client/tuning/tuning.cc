#include "client/tuning/tuning.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tuning/kernel_times.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr Side kA = Side::kA;
constexpr Side kB = Side::kB;
constexpr std::array<Side, 4> kOrders[] = {{kA, kB, kB, kA}, {kB, kA, kA, kB}};

constexpr int kRounds = 3;       // Of a measurement in a trial,
constexpr int kFinalRounds = 6;  // and in the end.
// What a schedule has to bring there: that it is faster was measured before.
constexpr double kLeastFinalGain = 0.005;

// Whether trying something else is useless.
bool EndsTuning(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsCancelled(status) ||
         absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status);
}

std::vector<std::string> CandidatesOf(const ScheduledProgram& program, const std::string& kernel) {
  for (const KernelCandidates& each : program.kernels) {
    if (each.kernel == kernel) return each.candidates;
  }
  return {};
}

class Tuner {
 public:
  Tuner(TuningBench& bench, KernelSchedules begin, const TuningOptions& options, const Clock& clock,
        TuningObserver& observer)
      : bench_(bench),
        begin_(std::move(begin)),
        limit_(options.limit),
        clock_(clock),
        observer_(observer),
        search_({}) {}

  absl::StatusOr<TuningResult> Tune() {
    SLIPWAY_RETURN_IF_ERROR(Begin());
    const absl::Duration end = clock_.Monotonic() + limit_;
    while (true) {
      const KernelSchedules next = search_.Next();
      result_.is_complete = next.empty();
      if (next.empty() || clock_.Monotonic() >= end) break;
      observer_.Show(absl::StrCat("trial ", result_.trials + 1),
                     absl::StrCat(next.size(), " kernels"));
      SLIPWAY_RETURN_IF_ERROR(Try(next));
    }
    SLIPWAY_RETURN_IF_ERROR(Confirm());
    return std::move(result_);
  }

 private:
  absl::Status Begin() {
    observer_.Show("beginning", "");
    SLIPWAY_ASSIGN_OR_RETURN(default_, bench_.Compile({}));
    if (default_.kernels.empty()) {
      return absl::UnimplementedError(
          "the compiler does not tell how else kernels may be cut; it is older than this command");
    }
    standing_ = default_;
    if (!begin_.empty()) {
      SLIPWAY_ASSIGN_OR_RETURN(standing_, bench_.Compile(begin_));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const TimesInTurns times, Measure(default_, standing_, kRounds));
    result_.default_ns = times.WholeNs(kA);
    result_.ns = times.WholeNs(kB);
    std::vector<KernelCandidates> searched;
    for (size_t i = 0; i < default_.kernels.size(); ++i) {
      const KernelCandidates& kernel = default_.kernels[i];
      const KernelTimes of_kernel = times.Of(kernel.kernel);
      if (of_kernel.a_ns < kLeastShare * result_.default_ns || of_kernel.b_ns <= 0) continue;
      // The same kernels in the same order, however they are cut.
      for (const KernelCandidates& now : standing_.kernels) {
        if (now.kernel != kernel.kernel) continue;
        searched.push_back(now);
        result_.kernels.push_back({.kernel = kernel.kernel,
                                   .step = kernel.steps.empty() ? "" : kernel.steps.front(),
                                   .steps = static_cast<int>(kernel.steps.size()),
                                   .default_schedule = kernel.schedule,
                                   .schedule = now.schedule,
                                   .default_ns = of_kernel.a_ns,
                                   .ns = of_kernel.b_ns});
        break;
      }
    }
    std::stable_sort(
        result_.kernels.begin(), result_.kernels.end(),
        [](const TunedKernel& a, const TunedKernel& b) { return a.default_ns > b.default_ns; });
    search_ = ScheduleSearch(searched);
    return absl::OkStatus();
  }

  absl::StatusOr<TimesInTurns> Measure(const ScheduledProgram& a, const ScheduledProgram& b,
                                       int rounds) {
    const KernelOfStep kernel_of(a.kernels);
    TimesInTurns times;
    for (int round = 0; round < rounds; ++round) {
      const auto& order = kOrders[round % std::size(kOrders)];
      SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::vector<StepTime>> blocks,
                               bench_.TimeSteps(a.artifact, b.artifact, order));
      times.AddRound(order, blocks, kernel_of);
    }
    return times;
  }

  // What stands: what `begin_` has, also of kernels that are not tuned, and what was found.
  KernelSchedules Standing() const {
    KernelSchedules standing = begin_;
    for (const TunedKernel& kernel : result_.kernels) {
      if (kernel.schedule == kernel.default_schedule) {
        standing.erase(kernel.kernel);
      } else {
        standing[kernel.kernel] = kernel.schedule;
      }
    }
    return standing;
  }

  TunedKernel& Tuned(const std::string& name) {
    return *std::find_if(result_.kernels.begin(), result_.kernels.end(),
                         [&](const TunedKernel& kernel) { return kernel.kernel == name; });
  }

  void Drop(const std::string& kernel) {
    search_.Drop(kernel);
    ++Tuned(kernel).tried;
  }

  // Tries these at a time. What fails with some of them is tried with the half of them, down to a single one, which is dropped.
  absl::Status Try(const KernelSchedules& candidates) {
    ++result_.trials;
    const absl::StatusOr<Trial> trial = Run(candidates);
    if (trial.ok()) return Decide(candidates, *trial);
    if (EndsTuning(trial.status())) return trial.status();
    if (candidates.size() == 1) {
      const auto& [kernel, schedule] = *candidates.begin();
      SLIPWAY_RETURN_IF_ERROR_WITH(CheckStanding(), "what stood before fails, too");
      ++result_.dropped;
      observer_.Dropped(kernel, schedule, trial.status());
      Drop(kernel);
      return absl::OkStatus();
    }
    const auto middle = std::next(candidates.begin(), static_cast<int64_t>(candidates.size() / 2));
    SLIPWAY_RETURN_IF_ERROR(Try({candidates.begin(), middle}));
    return Try({middle, candidates.end()});
  }

  // Whether a failure is the candidate's, and not that of the compiler or the device.
  absl::Status CheckStanding() {
    SLIPWAY_ASSIGN_OR_RETURN(standing_, bench_.Compile(Standing()));
    return Measure(standing_, standing_, 1).status();
  }

  struct Trial {
    ScheduledProgram program;
    std::map<std::string, KernelTimes> better;  // By the kernel's name.
  };

  absl::StatusOr<Trial> Run(const KernelSchedules& candidates) {
    KernelSchedules schedules = Standing();
    for (const auto& [kernel, schedule] : candidates) schedules[kernel] = schedule;
    Trial trial;
    SLIPWAY_ASSIGN_OR_RETURN(trial.program, bench_.Compile(schedules));
    SLIPWAY_ASSIGN_OR_RETURN(const TimesInTurns first, Measure(standing_, trial.program, kRounds));
    for (const auto& [kernel, schedule] : candidates) {
      const KernelTimes times = first.Of(kernel);
      if (IsBetter(times, kLeastGain)) trial.better.emplace(kernel, times);
    }
    if (trial.better.empty()) return trial;
    // Of so many some are better by chance: once more.
    SLIPWAY_ASSIGN_OR_RETURN(const TimesInTurns second, Measure(standing_, trial.program, kRounds));
    for (auto each = trial.better.begin(); each != trial.better.end();) {
      each->second = second.Of(each->first);
      each = IsBetter(each->second, kLeastGain) ? std::next(each) : trial.better.erase(each);
    }
    return trial;
  }

  absl::Status Decide(const KernelSchedules& candidates, const Trial& trial) {
    for (const auto& [kernel, schedule] : candidates) {
      const auto found = trial.better.find(kernel);
      if (found == trial.better.end()) {
        Drop(kernel);
        continue;
      }
      search_.Take(kernel, CandidatesOf(trial.program, kernel));
      TunedKernel& tuned = Tuned(kernel);
      ++tuned.tried;
      tuned.schedule = schedule;
      tuned.ns *= found->second.b_ns / found->second.a_ns;
    }
    if (trial.better.empty()) return absl::OkStatus();
    SLIPWAY_RETURN_IF_ERROR(observer_.Keep(result_.kernels));
    if (trial.better.size() < candidates.size()) return CompileStanding();
    standing_ = trial.program;
    return absl::OkStatus();
  }

  // All of whose kernels were compiled before.
  absl::Status CompileStanding() {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(standing_, bench_.Compile(Standing()), "what was found");
    return absl::OkStatus();
  }

  bool StandsAsChosen() const {
    return std::all_of(
        result_.kernels.begin(), result_.kernels.end(),
        [](const TunedKernel& kernel) { return kernel.schedule == kernel.default_schedule; });
  }

  void Revert(TunedKernel& kernel) {
    kernel.schedule = kernel.default_schedule;
    kernel.ns = kernel.default_ns;
  }

  absl::Status Confirm() {
    if (StandsAsChosen()) {
      for (TunedKernel& kernel : result_.kernels) Revert(kernel);
      if (Standing().empty()) result_.ns = result_.default_ns;
      return observer_.Keep(result_.kernels);
    }
    observer_.Show("confirming", "");
    SLIPWAY_ASSIGN_OR_RETURN(const TimesInTurns times, Measure(default_, standing_, kFinalRounds));
    bool is_reverted = false;
    for (TunedKernel& kernel : result_.kernels) {
      const KernelTimes of_kernel = times.Of(kernel.kernel);
      const bool is_changed = kernel.schedule != kernel.default_schedule;
      kernel.default_ns = is_changed ? of_kernel.a_ns : std::min(of_kernel.a_ns, of_kernel.b_ns);
      kernel.ns = is_changed ? of_kernel.b_ns : kernel.default_ns;
      if (!is_changed || IsBetter(of_kernel, kLeastFinalGain)) continue;
      Revert(kernel);
      is_reverted = true;
    }
    result_.default_ns = times.WholeNs(kA);
    result_.ns = times.WholeNs(kB);
    SLIPWAY_RETURN_IF_ERROR(observer_.Keep(result_.kernels));
    if (is_reverted) {
      SLIPWAY_RETURN_IF_ERROR(CompileStanding());
      if (StandsAsChosen()) {
        result_.ns = result_.default_ns;
        return absl::OkStatus();
      }
    }
    observer_.Show("comparing the whole program", "");
    SLIPWAY_ASSIGN_OR_RETURN(result_.whole, bench_.Compare(default_.artifact, standing_.artifact));
    if (result_.whole->verdict != Verdict::kWorse) return absl::OkStatus();
    for (TunedKernel& kernel : result_.kernels) Revert(kernel);
    result_.ns = result_.default_ns;
    return observer_.Keep(result_.kernels);
  }

  TuningBench& bench_;
  const KernelSchedules begin_;
  const absl::Duration limit_;
  const Clock& clock_;
  TuningObserver& observer_;
  ScheduleSearch search_;
  ScheduledProgram default_;   // As the compiler chooses.
  ScheduledProgram standing_;  // With what stands.
  TuningResult result_;
};

}  // namespace

absl::StatusOr<TuningResult> Tune(TuningBench& bench, const KernelSchedules& begin,
                                  const TuningOptions& options, const Clock& clock,
                                  TuningObserver& observer) {
  return Tuner(bench, begin, options, clock, observer).Tune();
}

}  // namespace slipway
