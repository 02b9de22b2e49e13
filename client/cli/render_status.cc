// What a server is doing.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/render.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

constexpr absl::string_view kKinds[] = {"compilation", "run", "benchmark", "session"};

int64_t CountOf(const ServerStatus& status, absl::string_view kind, absl::string_view state) {
  int64_t count = 0;
  for (const JobSum& sum : status.jobs) {
    if (sum.kind == kind && sum.state == state) count += sum.count;
  }
  return count;
}

std::string Plural(int64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

// "2 wait, 1 begins, 3 run".
std::string JobsText(const ServerStatus& status, absl::string_view kind) {
  return absl::StrCat(CountOf(status, kind, "queued"), " waiting, ",
                      CountOf(status, kind, "assigned"), " given away, ",
                      CountOf(status, kind, "running"), " running");
}

std::string OfText(int64_t value, int64_t limit) { return absl::StrCat(value, " of ", limit); }

std::string BytesOfText(int64_t value, int64_t limit) {
  return absl::StrCat(FormatBytes(value), " of ", FormatBytes(limit));
}

}  // namespace

std::string WhyWaiting(const WaitingSum& sum, const ServerStatus& status) {
  const int64_t there = status.devices_idle + status.devices_busy;
  switch (sum.need) {
    case WaitsFor::kWorker:
      if (status.workers_present == 0)
        return "no worker is there; one of the server's own may be starting";
      if (status.worker_places_taken >= status.worker_places) {
        return absl::StrCat("every place on a worker is taken, of ", status.worker_places);
      }
      return "the workers that have places do not compile for these targets";
    case WaitsFor::kNamedDevice:
      if (there == 0) return absl::StrCat("no device is there, ", status.devices_lost, " lost");
      return absl::StrCat("the devices they name are busy, lost or not there: ",
                          status.devices_busy, " busy, ", status.devices_lost, " lost");
    case WaitsFor::kAnyDevice:
      if (there == 0) return absl::StrCat("no device is there, ", status.devices_lost, " lost");
      if (status.devices_idle == 0) {
        return absl::StrCat("every device that is there is busy, of ", there);
      }
      return absl::StrCat("none of the ", Plural(status.devices_idle, "idle device"),
                          " can run them or is given to them");
    case WaitsFor::kUnknown:
      break;
  }
  return "this command is older than the server";
}

std::string RenderStatus(const ServerStatus& status) {
  std::string text;
  if (status.is_healthy()) {
    text = "the server does what it is asked for\n";
  } else {
    text = "the server does not begin everything it is asked for\n";
    for (const ServerRefusal& refusal : status.refusals) {
      absl::StrAppend(&text, "  ", Printable(refusal.cause), ": ", Printable(refusal.message),
                      "\n");
    }
  }
  TextTable table({"", ""});
  table.Row({"version", status.version});
  table.Row({"up for", FormatTime(status.uptime)});
  for (const absl::string_view kind : kKinds) {
    table.Row({absl::StrCat(kind, "s"), JobsText(status, kind)});
  }
  table.Row({"devices", absl::StrCat(status.devices_idle, " idle, ", status.devices_busy, " busy, ",
                                     status.devices_lost, " lost")});
  table.Row({"workers", absl::StrCat(status.workers_present, " there, ",
                                     OfText(status.worker_places_taken, status.worker_places),
                                     " places taken, ", status.workers_lost, " lost")});
  table.Row({"memory", BytesOfText(status.memory_bytes, status.memory_limit_bytes)});
  table.Row({"connections", OfText(status.connections, status.max_connections)});
  table.Row({"descriptors", OfText(status.descriptors, status.max_descriptors)});
  table.Row({"blobs", absl::StrCat(BytesOfText(status.blob_bytes, status.blob_quota_bytes), ", ",
                                   FormatBytes(status.disk_free_bytes), " free on the disk")});
  if (status.waiting_calls > 0) {
    table.Row({"calls", absl::StrCat(status.waiting_calls, " wait for a thread")});
  }
  table.Row({"log shows", status.log_level});
  absl::StrAppend(&text, table.Render("  ", false));
  for (const WaitingSum& sum : status.waiting) {
    absl::StrAppend(&text, Plural(sum.count, "job"), sum.count == 1 ? " waits for " : " wait for ",
                    sum.need == WaitsFor::kWorker || sum.need == WaitsFor::kNamedDevice ? "a " : "",
                    Name(sum.need), ", the first for ", FormatTime(sum.longest), ": ",
                    WhyWaiting(sum, status), "\n");
  }
  if (!status.waiting.empty()) text += "of each of them: slipway queue\n";
  return text;
}

std::string RenderStatusJson(const ServerStatus& status) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Bool("healthy", status.is_healthy());
  json.BeginArray("refusals");
  for (const ServerRefusal& refusal : status.refusals) {
    json.BeginObject();
    json.Text("cause", refusal.cause);
    json.Text("message", refusal.message);
    json.EndObject();
  }
  json.EndArray();
  json.Text("version", status.version);
  json.Integer("uptime_ns", absl::ToInt64Nanoseconds(status.uptime));
  json.Text("log_level", status.log_level);
  json.BeginArray("jobs");
  for (const JobSum& sum : status.jobs) {
    json.BeginObject();
    json.Text("kind", sum.kind);
    json.Text("state", sum.state);
    json.Integer("count", sum.count);
    json.EndObject();
  }
  json.EndArray();
  json.Integer("max_queued_jobs", status.max_queued_jobs);
  json.BeginArray("waiting");
  for (const WaitingSum& sum : status.waiting) {
    json.BeginObject();
    json.Text("need", Name(sum.need));
    json.Integer("count", sum.count);
    json.Integer("longest_ns", absl::ToInt64Nanoseconds(sum.longest));
    json.Text("why", WhyWaiting(sum, status));
    json.EndObject();
  }
  json.EndArray();
  const std::pair<absl::string_view, int64_t> sums[] = {
      {"devices_idle", status.devices_idle},
      {"devices_busy", status.devices_busy},
      {"devices_lost", status.devices_lost},
      {"workers_present", status.workers_present},
      {"workers_lost", status.workers_lost},
      {"worker_places", status.worker_places},
      {"worker_places_taken", status.worker_places_taken},
      {"memory_bytes", status.memory_bytes},
      {"memory_limit_bytes", status.memory_limit_bytes},
      {"connections", status.connections},
      {"max_connections", status.max_connections},
      {"descriptors", status.descriptors},
      {"max_descriptors", status.max_descriptors},
      {"waiting_calls", status.waiting_calls},
      {"blob_bytes", status.blob_bytes},
      {"blob_quota_bytes", status.blob_quota_bytes},
      {"disk_free_bytes", status.disk_free_bytes}};
  for (const auto& [name, value] : sums) json.Integer(name, value);
  json.BeginObject("counters");
  for (const auto& [name, value] : status.counters) json.Integer(name, value);
  json.EndObject();
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
