#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/render.h"
#include "client/cli/render_parts.h"
#include "client/cli/wait_text.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

std::string KindText(const QueuedJob& job) {
  return job.kind.has_value() ? std::string(Name(*job.kind)) : "unknown";
}

}  // namespace

std::string RenderQueue(const Queue& queue, absl::Time now) {
  if (queue.jobs.empty()) return "nothing waits\n";
  TextTable table({"JOB", "OWNER", "KIND", "SUBJECT", ">PRIORITY", ">WAITS", "WHY"});
  for (const QueuedJob& job : queue.jobs) {
    table.Row({job.job_id, job.owner, KindText(job), job.subject, absl::StrCat(job.priority),
               FormatTime(std::max(now - job.since, absl::ZeroDuration())),
               WaitText(job.waits, job.ahead, now)});
  }
  const int64_t more = queue.waiting - static_cast<int64_t>(queue.jobs.size());
  return table.Render() + (more > 0 ? absl::StrCat("and ", more, " more\n") : "");
}

std::string RenderQueueJson(const Queue& queue) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Integer("waiting", queue.waiting);
  json.BeginArray("jobs");
  for (const QueuedJob& job : queue.jobs) {
    json.BeginObject();
    json.Text("id", job.job_id);
    json.Text("owner", job.owner);
    json.Text("kind", KindText(job));
    json.Text("subject", job.subject);
    json.Text("device", job.device);
    json.Text("target", job.target);
    json.Integer("priority", job.priority);
    json.Integer("ahead", job.ahead);
    json.Integer("since_ns", absl::ToUnixNanos(job.since));
    json.Integer("until_ns", absl::ToUnixNanos(job.until));
    WaitJson(json, "waits", job.waits);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string RenderReservations(const std::vector<Reservation>& reservations) {
  if (reservations.empty()) return "no reservations\n";
  TextTable table({"DEVICE", "FOR", "FROM", "UNTIL", "PURPOSE", "RESERVATION"});
  for (const Reservation& each : reservations) {
    table.Row({each.device, each.owner, FormatWallTime(each.from), FormatWallTime(each.until),
               each.purpose, each.id});
  }
  return table.Render();
}

std::string RenderReservationsJson(const std::vector<Reservation>& reservations) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.BeginArray("reservations");
  for (const Reservation& reservation : reservations) ReservationJson(json, "", reservation);
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string RenderReservationJson(const Reservation& reservation) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  ReservationFields(json, reservation);
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
