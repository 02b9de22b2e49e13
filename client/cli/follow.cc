#include "client/cli/follow.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/cli/exit_code.h"
#include "client/cli/progress.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

constexpr size_t kShownLogLines = 20;

void ShowLogEnd(Environment& environment, const Job& job) {
  if (job.error_log.empty()) return;
  std::vector<absl::string_view> lines =
      absl::StrSplit(absl::StripSuffix(job.error_log, "\n"), '\n');
  if (lines.size() > kShownLogLines) lines.erase(lines.begin(), lines.end() - kShownLogLines);
  environment.err << "the end of the log of job " << job.id << ":\n";
  for (const absl::string_view line : lines) environment.err << "  " << Printable(line) << "\n";
}

absl::Status Cancel(Client& client, const std::string& job_id) {
  const absl::StatusOr<Job> job = client.CancelJob(job_id);
  if (!job.ok()) {
    return Annotate(job.status(), absl::StrCat("interrupted, and job \"", job_id,
                                               "\" may still run; cancel it later"));
  }
  return absl::CancelledError(
      job->state == JobState::kSucceeded || job->state == JobState::kFailed
          ? absl::StrCat("interrupted; job \"", job_id, "\" had already ended")
          : absl::StrCat("interrupted; job \"", job_id, "\" is cancelled"));
}

}  // namespace

absl::StatusOr<Job> FollowJob(Environment& environment, Client& client, const std::string& job_id,
                              absl::string_view subject) {
  absl::StatusOr<Job> job;
  {
    Progress progress(environment);
    job = client.Wait(job_id, [&](const Job& now) {
      if (environment.job_log != nullptr) environment.job_log->Saw(now, absl::Now());
      if (!now.ended()) progress.Show(Describe(now, subject, absl::Now()));
    });
  }
  if (absl::IsCancelled(job.status())) return Cancel(client, job_id);
  SLIPWAY_RETURN_IF_ERROR_WITH(job.status(), absl::StrCat("job \"", job_id, "\""));
  if (job->state == JobState::kCancelled) {
    return absl::CancelledError(absl::StrCat("job \"", job_id, "\" was cancelled"));
  }
  if (job->state == JobState::kFailed) {
    ShowLogEnd(environment, *job);
    const bool nobody_took_it = job->attempts == 0 && job->kind != JobKind::kCompilation &&
                                absl::IsDeadlineExceeded(job->error);
    return WithExitCode(Annotate(job->error, absl::StrCat("\"", subject, "\"")),
                        nobody_took_it ? ExitCode::kUnreachable : ExitCode::kWorkFailed);
  }
  return job;
}

absl::StatusOr<std::string> SubmitJob(Environment& environment, const std::string& subject,
                                      absl::FunctionRef<absl::StatusOr<std::string>()> submit) {
  const absl::Time begin = absl::Now();
  absl::StatusOr<std::string> id = submit();
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(id.status()));
  if (environment.job_log != nullptr) {
    environment.job_log->Submitted(*id, subject, begin, absl::Now());
  }
  return id;
}

absl::Status RefusedRequest(const absl::Status& status) {
  if (absl::IsInvalidArgument(status)) return WithExitCode(status, ExitCode::kWrongCall);
  if (absl::IsNotFound(status)) return WithExitCode(status, ExitCode::kUnreachable);
  return status;
}

}  // namespace slipway::cli
