#include "client/cli/progress.h"

#include "absl/strings/str_cat.h"
#include "client/cli/wait_text.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

absl::string_view Verb(JobKind kind) {
  switch (kind) {
    case JobKind::kCompilation:
      return "compile";
    case JobKind::kRun:
      return "run";
    case JobKind::kBenchmark:
      return "benchmark";
    case JobKind::kSession:
      return "session";
  }
  return "";
}

}  // namespace

ProgressText Describe(const Job& job, absl::string_view subject, absl::Time now) {
  ProgressText text;
  text.stage = absl::StrCat(Verb(job.kind), " ", Printable(subject), ": ");
  if (job.state != JobState::kRunning) {
    absl::StrAppend(&text.stage, Name(job.state));
    if (job.state == JobState::kQueued && job.attempts > 0) {
      absl::StrAppend(&text.stage, " again, after ", job.attempts,
                      job.attempts == 1 ? " attempt" : " attempts");
    }
    if (job.state == JobState::kQueued && job.ahead > 0) {
      absl::StrAppend(&text.stage, ", ", job.ahead, " ahead");
    }
    if (job.waits.has_value()) {
      text.detail = absl::StrCat("(", WaitText(*job.waits, /*ahead=*/0, now), ")");
    }
    return text;
  }
  absl::StrAppend(&text.stage,
                  job.progress.stage.empty() ? "running" : Printable(job.progress.stage));
  if (job.progress.total > 0) {
    text.detail = absl::StrCat(job.progress.done, " of ", job.progress.total);
  } else if (job.progress.done > 0) {
    text.detail = absl::StrCat(job.progress.done);
  }
  return text;
}

void Progress::Show(const ProgressText& text) {
  if (is_terminal_) {
    err_ << "\r\x1b[K" << text.stage << (text.detail.empty() ? "" : " ") << text.detail
         << std::flush;
    is_shown_ = true;
  } else if (text.stage != stage_) {
    err_ << text.stage << std::endl;
  }
  stage_ = text.stage;
}

void Progress::Clear() {
  if (is_shown_) err_ << "\r\x1b[K" << std::flush;
  is_shown_ = false;
}

}  // namespace slipway::cli
