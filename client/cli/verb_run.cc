// slipway run: a model or artifact on a device.
#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/inputs.h"
#include "client/cli/model_flags.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status Run(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  ModelFlags model_flags;
  std::vector<std::string> inputs;
  std::string output_dir;
  int64_t seed = 0;
  int64_t threads = 1;
  bool json = false;
  bool detach = false;
  FlagSet flags("slipway run MODEL.onnx|FILE.slip [flags]",
                "Runs a model or artifact on a device, and prints its outputs.");
  flags.Add("input", &inputs, "NAME=FILE",
            "An input, from .npy or ONNX's .pb; repeatable. Others are random.");
  flags.Add("output-dir", &output_dir, "DIR", "Write outputs there, as .npy files.");
  flags.Add("seed", &seed, 0, INT64_MAX, "N", "Seed of the random inputs.");
  flags.Add("threads", &threads, 1, 1024, "N", "Threads to run on.");
  model_flags.AddTo(flags, /*runs=*/true);
  flags.Add("detach", &detach, "Print the job's id and do not wait.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/true);
  SLIPWAY_ASSIGN_OR_RETURN(
      const auto names, ParseArguments(environment, flags, arguments, {"MODEL.onnx or FILE.slip"}));
  if (!names.has_value()) return absl::OkStatus();
  const std::string& path = names->front();
  SLIPWAY_RETURN_IF_ERROR(CheckFile(path));

  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  if (detach && connection->is_local()) {
    return WrongCall("\"--detach\" needs a server that stays; name it with \"--server\"");
  }
  Client& client = connection->client();
  SLIPWAY_ASSIGN_OR_RETURN(const ArtifactSummary artifact,
                           PrepareArtifact(environment, *connection, path, model_flags));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<NamedTensor> tensors, ReadInputs(inputs, artifact));
  SLIPWAY_RETURN_IF_ERROR(connection->EnsureDevice());
  RunOptions options;
  options.device = model_flags.device;
  options.seed = static_cast<uint64_t>(seed);
  options.threads = static_cast<int>(threads);
  const absl::StatusOr<std::string> id = client.SubmitRun(artifact.digest, tensors, options);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(id.status()));
  if (detach) {
    environment.out << *id << "\n";
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, FollowJob(environment, client, *id, BaseName(path)));
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<NamedTensor> outputs, client.FetchOutputs(*job.run));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<WrittenOutput> written,
                           WriteOutputs(std::move(outputs), output_dir));
  environment.out << (json ? RenderRunJson(job, written) : RenderRun(job, written));
  return absl::OkStatus();
}

}  // namespace slipway::cli
