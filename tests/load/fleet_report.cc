#include "tests/load/fleet_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/json_writer.h"

namespace slipway::testing {
namespace {

constexpr int64_t kSchemaVersion = 1;

double Ms(absl::Duration time) { return absl::ToDoubleMilliseconds(time); }

double PerSecond(int64_t count, absl::Duration time) {
  return time > absl::ZeroDuration() ? static_cast<double>(count) / absl::ToDoubleSeconds(time) : 0;
}

// Of the server's processor time during the load, what idle agents do not explain, by job.
double CpuUsOfJob(const FleetReport& report) {
  if (report.verdict.accepted == 0) return 0;
  double idle = 0;
  if (report.idle > absl::ZeroDuration()) {
    idle = absl::FDivDuration(report.idle_cpu, report.idle) * absl::ToDoubleSeconds(report.load);
  }
  return 1e6 * (absl::ToDoubleSeconds(report.load_cpu) - idle) /
         static_cast<double>(report.verdict.accepted);
}

double CpuUsOfIdleAgentSecond(const FleetReport& report) {
  if (report.idle <= absl::ZeroDuration() || report.agents == 0) return 0;
  return 1e6 * absl::FDivDuration(report.idle_cpu, report.idle) /
         static_cast<double>(report.agents);
}

}  // namespace

absl::Duration PercentileOf(absl::Span<const absl::Duration> sorted, double percent) {
  if (sorted.empty()) return absl::ZeroDuration();
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

std::string ReportJson(const FleetReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", kSchemaVersion);
  json.Text("transport", report.transport);
  json.Integer("agents", report.agents);
  json.Integer("agents_connected", report.agents_connected);
  json.Real("connect_seconds", absl::ToDoubleSeconds(report.connect));
  json.Real("seconds", absl::ToDoubleSeconds(report.load));
  json.Real("wanted_jobs_per_second", report.wanted_jobs_per_second);
  json.Real("jobs_per_second", PerSecond(report.verdict.accepted, report.load));
  json.Integer("accepted", report.verdict.accepted);
  json.Integer("finished", report.verdict.finished);
  json.Integer("lost", report.verdict.lost);
  json.Integer("doubled", report.verdict.doubled);
  json.Integer("unfinished", report.verdict.unfinished);
  json.Integer("worked_again", report.verdict.worked_again);
  json.Integer("refused", report.refused);
  const auto times = [&json](absl::string_view name, absl::Span<const absl::Duration> sorted) {
    json.Real(absl::StrCat(name, "_p50_ms"), Ms(PercentileOf(sorted, 50)));
    json.Real(absl::StrCat(name, "_p99_ms"), Ms(PercentileOf(sorted, 99)));
  };
  times("sync", report.sync);
  times("accept", report.times.accept);
  times("give", report.times.give);
  times("finish", report.times.finish);
  json.Integer("sync_calls", report.sync_calls);
  json.Integer("sync_failed", report.sync_failed);
  json.Integer("server_rss_mib", report.peak_rss_mib);
  json.Integers("server_rss_over_time_mib", report.rss_mib);
  json.Integer("server_database_mib", report.database_mib);
  json.Real("server_cpu_seconds", absl::ToDoubleSeconds(report.load_cpu));
  json.Real("server_cpu_us_per_job", CpuUsOfJob(report));
  json.Real("server_cpu_us_per_idle_agent_second", CpuUsOfIdleAgentSecond(report));
  json.Real("simulation_cpu_seconds", absl::ToDoubleSeconds(report.own_cpu));
  if (report.recovered.has_value()) {
    json.Real("recovered_seconds", absl::ToDoubleSeconds(*report.recovered));
    json.Bool("recovered", report.has_recovered);
  }
  json.BeginArray("complaints");
  for (const std::string& complaint : report.verdict.complaints) json.Text("", complaint);
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string ReportText(const FleetReport& report) {
  const FleetVerdict& verdict = report.verdict;
  std::string text =
      absl::StrFormat("%d of %d agents over %s, there after %.1f s\n", report.agents_connected,
                      report.agents, report.transport, absl::ToDoubleSeconds(report.connect));
  absl::StrAppendFormat(&text,
                        "%d jobs accepted in %.1f s: %.1f a second of %.1f wanted; %d finished, %d "
                        "lost, %d doubled, %d unfinished, %d worked on again, %d times refused\n",
                        verdict.accepted, absl::ToDoubleSeconds(report.load),
                        PerSecond(verdict.accepted, report.load), report.wanted_jobs_per_second,
                        verdict.finished, verdict.lost, verdict.doubled, verdict.unfinished,
                        verdict.worked_again, report.refused);
  const auto times = [&text](const char* what, absl::Span<const absl::Duration> sorted) {
    absl::StrAppendFormat(&text, "%-7s p50 %8.1f ms, p99 %8.1f ms, max %8.1f ms\n", what,
                          Ms(PercentileOf(sorted, 50)), Ms(PercentileOf(sorted, 99)),
                          Ms(PercentileOf(sorted, 100)));
  };
  times("sync", report.sync);
  times("accept", report.times.accept);
  times("give", report.times.give);
  times("finish", report.times.finish);
  absl::StrAppendFormat(&text, "%d calls of Sync, %d failed\n", report.sync_calls,
                        report.sync_failed);
  absl::StrAppendFormat(
      &text,
      "server: %d MiB at most, database %d MiB; %.1f s of processor time, %.0f us a job and %.1f "
      "us a second of an idle agent; the simulation %.1f s\n",
      report.peak_rss_mib, report.database_mib, absl::ToDoubleSeconds(report.load_cpu),
      CpuUsOfJob(report), CpuUsOfIdleAgentSecond(report), absl::ToDoubleSeconds(report.own_cpu));
  absl::StrAppend(&text, "server's memory over time, MiB: ", absl::StrJoin(report.rss_mib, " "),
                  "\n");
  if (report.recovered.has_value()) {
    absl::StrAppendFormat(&text, "%s %.1f s after the end of the server's process\n",
                          report.has_recovered ? "all agents back" : "NOT all agents back",
                          absl::ToDoubleSeconds(*report.recovered));
  }
  for (const std::string& complaint : verdict.complaints) absl::StrAppend(&text, complaint, "\n");
  return text;
}

int ReportExitCode(const FleetReport& report) {
  const bool is_good =
      report.verdict.lost == 0 && report.verdict.doubled == 0 && report.has_recovered;
  return is_good ? 0 : 1;
}

}  // namespace slipway::testing
