#include "client/cli/run_flags.h"

#include <utility>

#include "client/cli/arguments.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/inputs.h"
#include "client/cli/precision.h"
#include "client/cli/tag_flags.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

void RunFlags::AddTo(FlagSet& flags) {
  flags.Add("input", &inputs, "NAME=FILE",
            "An input, from .npy or ONNX's .pb; repeatable. Others are random.");
  flags.Add("seed", &seed, 0, INT64_MAX, "N", "Seed of the random inputs.");
  flags.Add("threads", &threads, 1, 1024, "N", "Threads to run on.");
  flags.Add("loop-turns", &loop_turns, 0, INT64_MAX, "N",
            "Turns all loops of a call may make together; 0: 16,777,216.");
  flags.AddBytes("dynamic-bytes", &dynamic_bytes, 0, INT64_MAX,
                 "Memory for buffers of sizes found out while running; 0: what the device has.");
  model.AddTo(flags, /*runs=*/true);
  flags.Add("detach", &detach, "Print the job's id and do not wait.");
  flags.Add("json", &json, "Print JSON.");
  connection.AddTo(flags, /*can_be_local=*/true);
}

absl::StatusOr<std::optional<std::string>> ParseRun(Environment& environment, FlagSet& flags,
                                                    const RunFlags& run, Arguments arguments) {
  SLIPWAY_ASSIGN_OR_RETURN(
      const auto names, ParseArguments(environment, flags, arguments, {"MODEL.onnx or FILE.slip"}));
  if (!names.has_value()) return std::nullopt;
  const std::string& path = names->front();
  SLIPWAY_RETURN_IF_ERROR(CheckFile(path));
  SLIPWAY_RETURN_IF_ERROR(CheckModelFlags(run.model));
  if (run.check) SLIPWAY_RETURN_IF_ERROR(run.check(path));
  return path;
}

absl::StatusOr<RunOptions> OptionsOf(const RunFlags& run) {
  RunOptions options;
  SLIPWAY_ASSIGN_OR_RETURN(options.tags, TagsOf(run.model.tags));
  options.priority = static_cast<int>(run.model.priority);
  options.seed = static_cast<uint64_t>(run.seed);
  options.threads = static_cast<int>(run.threads);
  options.loop_turns = run.loop_turns;
  options.dynamic_bytes = run.dynamic_bytes;
  return options;
}

absl::StatusOr<PreparedRun> PrepareRun(Environment& environment, const RunFlags& run,
                                       const std::string& path) {
  PreparedRun prepared;
  prepared.path = path;
  prepared.subject = BaseName(path);
  SLIPWAY_ASSIGN_OR_RETURN(prepared.connection, Connection::Open(environment, run.connection));
  if (run.detach && prepared.connection->is_local()) {
    return WrongCall("\"--detach\" needs a server that stays; name it with \"--server\"");
  }
  SLIPWAY_ASSIGN_OR_RETURN(prepared.artifact,
                           PrepareArtifact(environment, *prepared.connection, path, run.model));
  SLIPWAY_ASSIGN_OR_RETURN(prepared.inputs, ReadInputs(run.inputs, prepared.artifact));
  SLIPWAY_RETURN_IF_ERROR(prepared.connection->EnsureDevice(prepared.artifact.target));
  SLIPWAY_ASSIGN_OR_RETURN(prepared.options, OptionsOf(run));
  // An artifact has a name of its own, whatever its file is called.
  SLIPWAY_ASSIGN_OR_RETURN(const bool is_slip, IsSlip(path));
  if (!is_slip) prepared.options.name = prepared.subject;
  prepared.options.device = run.model.device;
  return prepared;
}

absl::StatusOr<std::optional<Job>> FollowRun(
    Environment& environment, const PreparedRun& run,
    absl::FunctionRef<absl::StatusOr<std::string>()> submit, bool detach) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string id, SubmitJob(environment, run.subject, submit));
  if (detach) {
    environment.out << id << "\n";
    return std::nullopt;
  }
  return FollowJob(environment, run.client(), id, run.subject);
}

}  // namespace slipway::cli
