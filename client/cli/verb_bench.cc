// slipway bench: how fast a model or artifact is on a device.
#include "absl/strings/str_cat.h"
#include "client/cli/bench_fleet.h"
#include "client/cli/benchmark_context.h"
#include "client/cli/check.h"
#include "client/cli/condition_flags.h"
#include "client/cli/exit_code.h"
#include "client/cli/percent.h"
#include "client/cli/render.h"
#include "client/cli/render_profile.h"
#include "client/cli/run_flags.h"
#include "client/cli/scenario_flags.h"
#include "client/cli/trace_flag.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

namespace {

// Of calls that are hard to measure: ten seconds and more.
constexpr int64_t kSamplesForGoal = 10'000;

// What came of the goal.
std::string AboutGoal(const BenchmarkResult& result, double goal) {
  if (!result.precision_ppm.has_value()) {
    return "the device's agent knows no \"--precision-goal\" yet, and has taken all samples\n";
  }
  if (*result.precision_ppm < 0) return "too few samples to say how exactly the median is known\n";
  const double precision = static_cast<double>(*result.precision_ppm) / 1e6;
  if (precision <= goal) return "";
  return absl::StrCat("the median is known to ", FormatPercent(precision), " only, after all ",
                      result.samples_ns.size(), " samples\n");
}

}  // namespace

absl::Status Bench(Environment& environment, Arguments arguments) {
  RunFlags run_flags;
  int64_t warmup = 10;
  int64_t samples = 100;
  std::string goal;
  bool profile = false;
  ScenarioFlags scenario_flags;
  ConditionFlags condition_flags;
  CheckFlags check_flags;
  FlagSet flags("slipway bench MODEL.onnx|FILE.slip [flags]",
                "Measures a model or artifact on a device that it has for itself meanwhile, or "
                "on many.");
  flags.Add("warmup", &warmup, 0, 1'000'000, "N", "Samples dropped first.");
  flags.Add("samples", &samples, 1, 1'000'000, "N",
            absl::StrCat("Samples kept, in scenarios queries or groups of calls; at most so many "
                         "with \"--precision-goal\", then ",
                         kSamplesForGoal,
                         " where it is not given. By default 100, offline 1,000, and for a server "
                         "as many as 10 s bring and the percentile needs."));
  flags.Add("precision-goal", &goal, "PERCENT",
            "Take samples until the median is known to this share of it, such as 1%, 95 % "
            "confident.");
  scenario_flags.AddTo(flags);
  condition_flags.AddTo(flags);
  check_flags.AddTo(flags);
  flags.Add("profile", &profile,
            absl::StrCat("Time every step, and show the slowest. ", kProfileHelp));
  TraceFlag trace;
  trace.AddTo(flags);
  FleetFlags fleet;
  fleet.AddTo(flags);
  run_flags.AddTo(flags);
  BenchmarkOptions options;
  run_flags.check = [&](const std::string& path) -> absl::Status {
    SLIPWAY_RETURN_IF_ERROR(CheckFleet(
        fleet, run_flags,
        profile || check_flags.IsWanted() || trace.IsWanted() || flags.IsSet("scenario")));
    SLIPWAY_RETURN_IF_ERROR(trace.Check(run_flags.detach));
    SLIPWAY_RETURN_IF_ERROR(check_flags.Check(path, run_flags));
    SLIPWAY_ASSIGN_OR_RETURN(options.scenario, scenario_flags.Read(flags));
    if (!flags.IsSet("samples")) samples = DefaultSamples(options.scenario);
    SLIPWAY_RETURN_IF_ERROR(condition_flags.Check(options.scenario));
    options.settling = condition_flags.ReadSettling();
    if (goal.empty()) return absl::OkStatus();
    if (options.scenario.has_value() && (options.scenario->kind == ScenarioKind::kOffline ||
                                         options.scenario->kind == ScenarioKind::kServer)) {
      return WrongCall(
          "\"--precision-goal\" is for calls that follow each other: single-stream, multi-stream");
    }
    SLIPWAY_ASSIGN_OR_RETURN(options.precision_goal, ParsePercent("precision-goal", goal, 100));
    if (!flags.IsSet("samples")) samples = kSamplesForGoal;
    return absl::OkStatus();
  };
  SLIPWAY_ASSIGN_OR_RETURN(const auto path, ParseRun(environment, flags, run_flags, arguments));
  if (!path.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(options.run, OptionsOf(run_flags));
  options.warmup = static_cast<int>(warmup);
  options.samples = static_cast<int>(samples);
  options.profile = profile;
  if (fleet.is_set()) return BenchFleet(environment, run_flags, fleet, options, *path);
  Environment watched = trace.Watched(environment);
  SLIPWAY_ASSIGN_OR_RETURN(PreparedRun run, PrepareRun(watched, run_flags, *path));
  std::optional<OutputCheck> check;
  if (check_flags.IsWanted()) {
    SLIPWAY_ASSIGN_OR_RETURN(check, RunChecked(watched, check_flags, run_flags, run));
  }
  options.run = run.options;
  const auto submit = [&] {
    return run.client().SubmitBenchmark(run.artifact.digest, run.inputs, options);
  };
  SLIPWAY_ASSIGN_OR_RETURN(const auto job, FollowRun(watched, run, submit, run_flags.detach));
  if (!job.has_value()) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(trace.Write(environment, run.artifact));
  SLIPWAY_RETURN_IF_ERROR(CheckScenarioTaken(options.scenario, *job->benchmark));
  SLIPWAY_ASSIGN_OR_RETURN(BenchmarkContext context,
                           MakeBenchmarkContext(run.client(), job->id, run.subject, run.artifact));
  context.check = check;
  context.tags = job->tags;
  if (options.precision_goal > 0) {
    environment.err << AboutGoal(*job->benchmark, options.precision_goal);
  }
  environment.err << AboutSettling(options.settling, *job->benchmark);
  SLIPWAY_ASSIGN_OR_RETURN(const BenchmarkResult result, condition_flags.Apply(*job->benchmark));
  environment.out << (run_flags.json ? RenderBenchmarkJson(context, result)
                                     : RenderBenchmark(context, result));
  const std::optional<ScenarioResult>& scenario = result.scenario;
  if (scenario.has_value() && scenario->verdict == BoundVerdict::kMissed) {
    return WithExitCode(absl::FailedPreconditionError("the latency bound is not met"),
                        ExitCode::kWorkFailed);
  }
  return absl::OkStatus();
}

}  // namespace slipway::cli
