#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cli/render.h"
#include "client/cli/render_parts.h"
#include "client/cli/wait_text.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

// What the job is about: the model, or the artifact's short name where the server does not tell.
std::string Subject(const Job& job) {
  if (!job.subject.empty()) return job.subject;
  if (job.kind == JobKind::kCompilation) return job.model;
  if (job.kind == JobKind::kSession) return job.purpose;
  return job.artifact.hex().substr(0, 12);
}

std::string Took(const Job& job) {
  if (job.start_time == absl::InfinitePast() || job.end_time == absl::InfinitePast()) return "-";
  return FormatTime(job.end_time - job.start_time);
}

std::string Place(const Job& job) { return job.assignee.empty() ? job.device : job.assignee; }

std::vector<std::string> Cells(const Job& job, bool with_owners) {
  std::vector<std::string> cells = {job.id,
                                    std::string(Name(job.kind)),
                                    std::string(Name(job.state)),
                                    FormatWallTime(job.create_time),
                                    Took(job),
                                    Place(job),
                                    Subject(job)};
  if (with_owners) cells.insert(cells.begin() + 1, job.owner);
  return cells;
}

void JobJson(JsonWriter& json, const Job& job) {
  const auto time = [&json](absl::string_view name, absl::Time value) {
    value == absl::InfinitePast() ? json.Null(name) : json.Integer(name, absl::ToUnixNanos(value));
  };
  json.Text("id", job.id);
  json.Text("owner", job.owner);
  json.Text("request_id", job.request_id);
  json.Text("kind", Name(job.kind));
  json.Text("state", Name(job.state));
  json.Integer("revision", job.revision);
  json.Text("subject", Subject(job));
  TagsJson(json, job.tags);
  if (job.kind == JobKind::kCompilation) {
    json.Text("model", job.model);
    json.Text("target", job.target);
  } else if (job.kind == JobKind::kSession) {
    json.Text("device", job.device);
    json.Text("target", job.target);
    json.Text("purpose", job.purpose);
  } else {
    json.Text("device", job.device);
    json.Text("artifact_digest", job.artifact.hex());
  }
  json.Integer("priority", job.priority);
  if (job.state == JobState::kQueued) json.Integer("ahead", job.ahead);
  if (job.waits.has_value()) WaitJson(json, "waits", *job.waits);
  json.Integer("attempts", job.attempts);
  json.Text("assignee", job.assignee);
  time("create_time_ns", job.create_time);
  time("start_time_ns", job.start_time);
  time("end_time_ns", job.end_time);
  if (job.state == JobState::kFailed) {
    json.BeginObject("error");
    json.Text("code", absl::StatusCodeToString(job.error.code()));
    json.Text("message", job.error.message());
    json.Text("log", job.error_log);
    json.EndObject();
  }
}

}  // namespace

std::string RenderJobs(const std::vector<Job>& jobs, bool with_owners) {
  if (jobs.empty()) return "no jobs\n";
  const bool with_tags =
      std::any_of(jobs.begin(), jobs.end(), [](const Job& job) { return !job.tags.empty(); });
  std::vector<std::string> titles = {"JOB", "KIND", "STATE", "ACCEPTED", ">TOOK", "ON", "SUBJECT"};
  if (with_owners) titles.insert(titles.begin() + 1, "OWNER");
  if (with_tags) titles.push_back("TAGS");
  TextTable table(titles);
  for (const Job& job : jobs) {
    std::vector<std::string> cells = Cells(job, with_owners);
    if (with_tags) cells.push_back(TagsText(job.tags));
    table.Row(std::move(cells));
  }
  return table.Render();
}

std::string RenderJobLine(const Job& job, bool with_owners) {
  // As wide as what is in them mostly is, so that lines that come one by one line up.
  constexpr int kWidths[] = {26, 11, 9, 23, 8, 16};
  std::vector<std::string> cells = Cells(job, /*with_owners=*/false);
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const int width = i < std::size(kWidths) ? kWidths[i] : 0;
    absl::StrAppendFormat(&line, "%s%-*s", i == 0 ? "" : "  ", width, Printable(cells[i]));
  }
  if (with_owners) absl::StrAppend(&line, "  of ", Printable(job.owner));
  if (!job.tags.empty()) absl::StrAppend(&line, "  ", Printable(TagsText(job.tags)));
  return absl::StrCat(line, "\n");
}

std::string RenderJobsJson(const std::vector<Job>& jobs) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.BeginArray("jobs");
  for (const Job& job : jobs) {
    json.BeginObject();
    JobJson(json, job);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string RenderJob(const Job& job, absl::Time now) {
  TextTable table({"", ""});
  table.Row({"job", job.id});
  table.Row({"kind", std::string(Name(job.kind))});
  table.Row({"state", absl::StrCat(Name(job.state), job.state == JobState::kQueued && job.ahead > 0
                                                        ? absl::StrCat(", ", job.ahead, " ahead")
                                                        : "")});
  if (job.waits.has_value()) table.Row({"because", WaitText(*job.waits, job.ahead, now)});
  if (job.priority != 0) table.Row({"priority", absl::StrCat(job.priority)});
  if (job.kind == JobKind::kRun || job.kind == JobKind::kBenchmark) {
    table.Row({"model", job.subject.empty() ? "-" : job.subject});
  }
  if (job.kind == JobKind::kCompilation) {
    table.Row({"model", job.model});
    table.Row({"target", job.target});
  } else {
    if (job.kind == JobKind::kSession) {
      table.Row({"purpose", job.purpose});
    } else {
      table.Row({"artifact", job.artifact.hex()});
    }
    table.Row({"device asked for", job.device.empty() ? "any" : job.device});
  }
  if (!job.tags.empty()) table.Row({"tags", TagsText(job.tags)});
  if (!job.request_id.empty()) table.Row({"request", job.request_id});
  table.Row({"attempts", absl::StrCat(job.attempts)});
  if (!job.assignee.empty()) table.Row({"on", job.assignee});
  table.Row({"accepted", FormatWallTime(job.create_time)});
  table.Row({"began", FormatWallTime(job.start_time)});
  table.Row({"ended", FormatWallTime(job.end_time)});
  if (!job.progress.stage.empty()) {
    table.Row({"progress",
               absl::StrCat(job.progress.stage, " ", job.progress.done, "/", job.progress.total)});
  }
  if (job.state == JobState::kFailed) {
    table.Row({"error", absl::StrCat(absl::StatusCodeToString(job.error.code()), ": ",
                                     job.error.message())});
  }
  std::string text = table.Render("", false);
  if (!job.error_log.empty()) {
    absl::StrAppend(&text, "the end of the log:\n");
    for (const absl::string_view line :
         absl::StrSplit(absl::StripSuffix(job.error_log, "\n"), '\n')) {
      absl::StrAppend(&text, "  ", Printable(line), "\n");
    }
  }
  return text;
}

std::string RenderJobJson(const Job& job) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  JobJson(json, job);
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
