// slipway bench: how fast a model or artifact is on a device.
#include "absl/strings/str_cat.h"
#include "client/cli/benchmark_context.h"
#include "client/cli/render.h"
#include "client/cli/render_profile.h"
#include "client/cli/run_flags.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status Bench(Environment& environment, Arguments arguments) {
  RunFlags run_flags;
  int64_t warmup = 10;
  int64_t samples = 100;
  bool profile = false;
  FlagSet flags("slipway bench MODEL.onnx|FILE.slip [flags]",
                "Measures a model or artifact on a device that it has for itself meanwhile.");
  flags.Add("warmup", &warmup, 0, 1'000'000, "N", "Samples dropped first.");
  flags.Add("samples", &samples, 1, 1'000'000, "N", "Samples kept; p99 is shown from 100 on.");
  flags.Add("profile", &profile,
            absl::StrCat("Time every step, and show the slowest. ", kProfileHelp));
  run_flags.AddTo(flags);
  SLIPWAY_ASSIGN_OR_RETURN(const auto run, PrepareRun(environment, flags, run_flags, arguments));
  if (!run.has_value()) return absl::OkStatus();

  BenchmarkOptions options;
  options.run = run->options;
  options.warmup = static_cast<int>(warmup);
  options.samples = static_cast<int>(samples);
  options.profile = profile;
  const absl::StatusOr<std::string> id =
      run->client().SubmitBenchmark(run->artifact.digest, run->inputs, options);
  SLIPWAY_ASSIGN_OR_RETURN(const auto job, FollowRun(environment, *run, id, run_flags.detach));
  if (!job.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const BenchmarkContext context,
                           MakeBenchmarkContext(run->client(), *id, run->subject, run->artifact));
  environment.out << (run_flags.json ? RenderBenchmarkJson(context, *job->benchmark)
                                     : RenderBenchmark(context, *job->benchmark));
  return absl::OkStatus();
}

}  // namespace slipway::cli
