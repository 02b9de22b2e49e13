// slipway results: what came of a job that has ended.
#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/benchmark_context.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/inputs.h"
#include "client/cli/job_of.h"
#include "client/cli/render.h"
#include "client/cli/tensor_summary.h"
#include "client/cli/verbs.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

absl::Status CompilationResults(Environment& environment, Client& client, const Job& job,
                                const std::string& folder, bool json) {
  const absl::Duration took = job.end_time - job.create_time;
  environment.out << (json ? RenderCompilationJson(job, took) : RenderCompilation(job, took));
  if (folder.empty()) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(folder));
  const std::string path = JoinPath(folder, FileNameFor(job.model) + ".slip");
  SLIPWAY_RETURN_IF_ERROR(client.ExportArtifact(job.compilation->artifact, path));
  if (!json) environment.out << "wrote " << path << "\n";
  return absl::OkStatus();
}

absl::Status RunResults(Environment& environment, Client& client, const Job& job,
                        const std::string& folder, bool json) {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<NamedTensor> outputs, client.FetchOutputs(*job.run));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<WrittenOutput> written,
                           WriteOutputs(std::move(outputs), folder));
  environment.out << (json ? RenderRunJson(job, written) : RenderRun(job, written));
  return absl::OkStatus();
}

absl::Status BenchmarkResults(Environment& environment, Client& client, const Job& job,
                              const std::string& folder, bool json) {
  SLIPWAY_ASSIGN_OR_RETURN(const ArtifactSummary artifact, client.DescribeArtifact(job.artifact));
  SLIPWAY_ASSIGN_OR_RETURN(BenchmarkContext context,
                           MakeBenchmarkContext(client, job.id, artifact.name, artifact));
  context.tags = job.tags;
  const std::string as_json = RenderBenchmarkJson(context, *job.benchmark);
  environment.out << (json ? as_json : RenderBenchmark(context, *job.benchmark));
  if (folder.empty()) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(folder));
  const std::string path = JoinPath(folder, "benchmark.json");
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(path, as_json, /*durable=*/false));
  if (!json) environment.out << "wrote " << path << "\n";
  return absl::OkStatus();
}

}  // namespace

absl::Status Results(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  std::string output_dir;
  bool json = false;
  FlagSet flags("slipway results ID [flags]",
                "Shows what came of a job, and writes it to files: a run's outputs, a "
                "compilation's artifact,\na benchmark's JSON.");
  flags.Add("output-dir", &output_dir, "DIR", "Write files there.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {"ID"}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  Client& client = connection->client();
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, JobOf(client.GetJob(names->front())));
  if (job.state == JobState::kFailed) {
    return Annotate(job.error, absl::StrCat("job \"", job.id, "\" failed"));
  }
  if (job.state != JobState::kSucceeded) {
    return absl::FailedPreconditionError(
        absl::StrCat("job \"", job.id, "\" has no results: it is ", Name(job.state)));
  }
  switch (job.kind) {
    case JobKind::kCompilation:
      return CompilationResults(environment, client, job, output_dir, json);
    case JobKind::kRun:
      return RunResults(environment, client, job, output_dir, json);
    case JobKind::kBenchmark:
      return BenchmarkResults(environment, client, job, output_dir, json);
    case JobKind::kSession:
      return absl::FailedPreconditionError(
          absl::StrCat("job \"", job.id, "\" is a session, of which nothing is kept"));
  }
  return absl::InternalError("no such kind of job");
}

}  // namespace slipway::cli
