// slipway bench: how fast a model or artifact is on a device.
#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/benchmark_context.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/inputs.h"
#include "client/cli/model_flags.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status Bench(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  ModelFlags model_flags;
  std::vector<std::string> inputs;
  int64_t seed = 0;
  int64_t threads = 1;
  int64_t warmup = 10;
  int64_t samples = 100;
  bool profile = false;
  bool json = false;
  bool detach = false;
  FlagSet flags("slipway bench MODEL.onnx|FILE.slip [flags]",
                "Measures a model or artifact on a device that it has for itself meanwhile.");
  flags.Add("threads", &threads, 1, 1024, "N", "Threads to run on.");
  flags.Add("warmup", &warmup, 0, 1'000'000, "N", "Samples dropped first.");
  flags.Add("samples", &samples, 1, 1'000'000, "N", "Samples kept; p99 is shown from 100 on.");
  flags.Add("profile", &profile, "Time every step, and show the slowest.");
  flags.Add("input", &inputs, "NAME=FILE",
            "An input, from .npy or ONNX's .pb; repeatable. Others are random.");
  flags.Add("seed", &seed, 0, INT64_MAX, "N", "Seed of the random inputs.");
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
  BenchmarkOptions options;
  options.run.device = model_flags.device;
  options.run.seed = static_cast<uint64_t>(seed);
  options.run.threads = static_cast<int>(threads);
  options.warmup = static_cast<int>(warmup);
  options.samples = static_cast<int>(samples);
  options.profile = profile;
  const absl::StatusOr<std::string> id = client.SubmitBenchmark(artifact.digest, tensors, options);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(id.status()));
  if (detach) {
    environment.out << *id << "\n";
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, FollowJob(environment, client, *id, BaseName(path)));
  SLIPWAY_ASSIGN_OR_RETURN(const BenchmarkContext context,
                           MakeBenchmarkContext(client, *id, BaseName(path), artifact));
  environment.out << (json ? RenderBenchmarkJson(context, *job.benchmark)
                           : RenderBenchmark(context, *job.benchmark));
  return absl::OkStatus();
}

}  // namespace slipway::cli
