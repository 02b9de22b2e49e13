// slipway report: a job that has ended, as one HTML file.
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/verbs.h"
#include "client/report/report.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"

namespace slipway::cli {
namespace {

// What the history has of a benchmark whose job is kept no longer.
Job JobFromHistory(const HistoryEntry& entry) {
  Job job;
  job.id = entry.id;
  job.owner = entry.owner;
  job.kind = JobKind::kBenchmark;
  job.state = JobState::kSucceeded;
  job.subject = entry.model;
  job.tags = entry.tags;
  job.artifact = entry.artifact;
  job.assignee = entry.device.id;
  job.create_time = entry.create_time;
  job.end_time = entry.end_time;
  job.benchmark = entry.result;
  return job;
}

absl::StatusOr<std::optional<HistoryEntry>> FindHistory(Client& client, const std::string& id) {
  absl::StatusOr<HistoryEntry> entry = client.GetHistoryEntry(id);
  // Results of other kinds have none, nor has a server from before it.
  if (absl::IsNotFound(entry.status()) || absl::IsUnimplemented(entry.status())) {
    return std::nullopt;
  }
  SLIPWAY_RETURN_IF_ERROR(entry.status());
  return *std::move(entry);
}

absl::StatusOr<Report> Collect(Client& client, const std::string& id) {
  Report report = {.written = absl::Now()};
  absl::StatusOr<Job> job = client.GetJob(id);
  if (absl::IsInvalidArgument(job.status())) {
    return WithExitCode(job.status(), ExitCode::kWrongCall);
  }
  if (!job.ok() && !absl::IsNotFound(job.status())) return job.status();
  if (!job.ok() || job->kind == JobKind::kBenchmark) {
    SLIPWAY_ASSIGN_OR_RETURN(report.history, FindHistory(client, id));
  }
  if (!job.ok()) {
    if (!report.history.has_value()) return WithExitCode(job.status(), ExitCode::kWrongCall);
    job = JobFromHistory(*report.history);
  }
  report.job = *std::move(job);
  if (!report.job.ended()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job \"", id, "\" has not ended: it is ", Name(report.job.state)));
  }
  const Digest& digest =
      report.job.compilation.has_value() ? report.job.compilation->artifact : report.job.artifact;
  SLIPWAY_ASSIGN_OR_RETURN(const ServerInfo info, client.Info());
  report.versions = {{"command", kVersion}, {"server", info.version}};
  if (digest != Digest()) {
    const absl::StatusOr<ArtifactSummary> artifact = client.DescribeArtifact(digest);
    if (artifact.ok()) {
      for (const auto& [name, version] : artifact->tools) {
        report.versions.emplace_back(absl::StrCat("compiled by ", name), version);
      }
      report.artifact = *artifact;
    } else if (!absl::IsNotFound(artifact.status())) {
      return artifact.status();
    }
  }
  report.subject = !report.job.subject.empty()   ? report.job.subject
                   : !report.job.model.empty()   ? report.job.model
                   : report.artifact.has_value() ? report.artifact->name
                                                 : report.job.id;
  return report;
}

}  // namespace

absl::Status WriteReport(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  std::string output;
  FlagSet flags("slipway report ID --output FILE.html [flags]",
                "Writes all that is known of a job that has ended, by its id, to one HTML file to "
                "read and to mail:\nof a benchmark its samples, percentiles, steps, memory and "
                "device; it fetches nothing and runs no script.");
  flags.Add("output", &output, "FILE", "Write it there; -o is short for it.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {"ID"}));
  if (!names.has_value()) return absl::OkStatus();
  if (output.empty()) return WrongCall("\"--output\" is missing: name the file to write");
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(const Report report, Collect(connection->client(), names->front()));
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(output, RenderReport(report), /*durable=*/false));
  environment.out << "wrote " << output << "\n";
  return absl::OkStatus();
}

}  // namespace slipway::cli
