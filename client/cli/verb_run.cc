// slipway run: a model or artifact on a device.
#include "client/cli/check.h"
#include "client/cli/inputs.h"
#include "client/cli/render.h"
#include "client/cli/run_flags.h"
#include "client/cli/trace_flag.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status Run(Environment& environment, Arguments arguments) {
  RunFlags run_flags;
  std::string output_dir;
  FlagSet flags("slipway run MODEL.onnx|FILE.slip [flags]",
                "Runs a model or artifact on a device, and prints its outputs.");
  flags.Add("output-dir", &output_dir, "DIR", "Write outputs there, as .npy files.");
  CheckFlags check_flags;
  check_flags.AddTo(flags);
  run_flags.AddTo(flags);
  TraceFlag trace;
  trace.AddTo(flags);
  run_flags.check = [&](const std::string& path) -> absl::Status {
    SLIPWAY_RETURN_IF_ERROR(trace.Check(run_flags.detach));
    return check_flags.Check(path, run_flags);
  };
  SLIPWAY_ASSIGN_OR_RETURN(const auto path, ParseRun(environment, flags, run_flags, arguments));
  if (!path.has_value()) return absl::OkStatus();
  Environment watched = trace.Watched(environment);
  SLIPWAY_ASSIGN_OR_RETURN(const PreparedRun run, PrepareRun(watched, run_flags, *path));

  SLIPWAY_ASSIGN_OR_RETURN(
      const auto job,
      FollowRun(
          watched, run,
          [&] { return run.client().SubmitRun(run.artifact.digest, run.inputs, run.options); },
          run_flags.detach));
  if (!job.has_value()) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(trace.Write(environment, run.artifact));
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<NamedTensor> outputs, run.client().FetchOutputs(*job->run));
  std::optional<OutputCheck> check;
  if (check_flags.IsWanted()) {
    SLIPWAY_ASSIGN_OR_RETURN(check,
                             CheckAgainstModel(environment, check_flags, run_flags, run, outputs));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<WrittenOutput> written,
                           WriteOutputs(std::move(outputs), output_dir));
  environment.out << (run_flags.json ? RenderRunJson(*job, written, check)
                                     : RenderRun(*job, written, check));
  return check.has_value() ? RefuseWrong(*check) : absl::OkStatus();
}

}  // namespace slipway::cli
