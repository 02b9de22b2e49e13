#include "server/metrics/server_metrics.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "server/jobs/job_state.h"
#include "server/services/access.h"

namespace slipway::server {
namespace {

using Labels = std::vector<MetricLabel>;

MetricSample Value(Labels labels, double value) {
  return {.labels = std::move(labels), .value = value, .histogram = {}};
}
MetricSample Value(Labels labels, int64_t value) {
  return Value(std::move(labels), static_cast<double>(value));
}
MetricSample Distribution(Labels labels, const DurationHistogram& histogram) {
  return {.labels = std::move(labels), .value = 0, .histogram = histogram.Read()};
}

MetricFamily Gauge(std::string name, std::string help, std::vector<MetricSample> samples) {
  return {std::move(name), std::move(help), MetricKind::kGauge, std::move(samples)};
}
MetricFamily Gauge(std::string name, std::string help, int64_t value) {
  return Gauge(std::move(name), std::move(help), {Value({}, value)});
}
MetricFamily Counter(std::string name, std::string help, std::vector<MetricSample> samples) {
  return {std::move(name), std::move(help), MetricKind::kCounter, std::move(samples)};
}
MetricFamily Counter(std::string name, std::string help, int64_t value) {
  return Counter(std::move(name), std::move(help), {Value({}, value)});
}
MetricFamily Histogram(std::string name, std::string help, std::vector<MetricSample> samples) {
  return {std::move(name), std::move(help), MetricKind::kHistogram, std::move(samples)};
}

std::string Name(v1::Job::Kind kind) { return std::string(KindName(kind)); }

// "ServerService.GetServerInfo".
std::string Name(const AccessRow& row) {
  return std::string(absl::StripPrefix(row.method, "slipway.v1."));
}

std::string CodeName(size_t code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

void AddProcess(const MetricSources& from, std::vector<MetricFamily>& all) {
  const v1::ServerStatus& status = *from.status;
  all.push_back(Gauge("slipway_build_info", "The server's version; always 1.",
                      {Value({{"version", status.version()}}, int64_t{1})}));
  all.push_back(Gauge("slipway_uptime_seconds", "Time since the server began.",
                      {Value({}, static_cast<double>(status.uptime_ns()) * 1e-9)}));
  all.push_back(Counter("process_cpu_seconds_total", "Processor time of the server's process.",
                        {Value({}, absl::ToDoubleSeconds(from.processor_time))}));
  all.push_back(Gauge("process_open_fds", "Files and connections that the server has open.",
                      status.descriptors()));
  all.push_back(Gauge("process_max_fds", "As many it may have open.", status.max_descriptors()));
  all.push_back(Gauge("slipway_memory_bytes",
                      "Memory that the server's process has for itself, without mapped files.",
                      status.memory_bytes()));
  all.push_back(
      Gauge("slipway_memory_limit_bytes",
            "As much it may have (--memory-limit); above 80 % of it nothing new is begun.",
            status.memory_limit_bytes()));
}

void AddRefusals(const v1::ServerStatus& status, std::vector<MetricFamily>& all) {
  const google::protobuf::EnumDescriptor& causes = *v1::ServerRefusal::Cause_descriptor();
  std::vector<MetricSample> samples;
  for (int i = 0; i < causes.value_count(); ++i) {
    const auto cause = static_cast<v1::ServerRefusal::Cause>(causes.value(i)->number());
    if (cause == v1::ServerRefusal::CAUSE_UNSPECIFIED) continue;
    int64_t refuses = 0;
    for (const v1::ServerRefusal& refusal : status.refusals()) refuses |= refusal.cause() == cause;
    samples.push_back(Value({{"cause", absl::AsciiStrToLower(causes.value(i)->name())}}, refuses));
  }
  all.push_back(Gauge("slipway_refuses", "1 where the server begins nothing new for this lack.",
                      std::move(samples)));
}

void AddJobs(const MetricSources& from, std::vector<MetricFamily>& all) {
  const v1::ServerStatus& status = *from.status;
  std::vector<MetricSample> jobs;
  for (const v1::Job::Kind kind : kJobKinds) {
    for (const v1::Job::State state : {v1::Job::QUEUED, v1::Job::ASSIGNED, v1::Job::RUNNING}) {
      int64_t count = 0;
      for (const v1::JobSum& sum : status.jobs()) {
        if (sum.kind() == KindName(kind) && sum.state() == StateName(state)) count = sum.count();
      }
      jobs.push_back(
          Value({{"kind", Name(kind)}, {"state", absl::AsciiStrToLower(StateName(state))}}, count));
    }
  }
  all.push_back(Gauge("slipway_jobs", "Jobs that have not ended.", std::move(jobs)));
  std::vector<MetricSample> waiting;
  std::vector<MetricSample> longest;
  for (const auto& [need, name] : {std::pair{v1::WaitingSum::WORKER, "worker"},
                                   {v1::WaitingSum::NAMED_DEVICE, "named_device"},
                                   {v1::WaitingSum::ANY_DEVICE, "any_device"}}) {
    v1::WaitingSum found;
    for (const v1::WaitingSum& sum : status.waiting()) {
      if (sum.need() == need) found = sum;
    }
    waiting.push_back(Value({{"need", name}}, found.count()));
    longest.push_back(Value({{"need", name}}, static_cast<double>(found.longest_ns()) * 1e-9));
  }
  all.push_back(
      Gauge("slipway_waiting_jobs", "Jobs in the queue, by what they need.", std::move(waiting)));
  all.push_back(Gauge("slipway_longest_waiting_seconds",
                      "Age of the job in the queue that was accepted first, by what it needs.",
                      std::move(longest)));
  all.push_back(Gauge("slipway_max_queued_jobs", "Most jobs that may wait or run.",
                      status.max_queued_jobs()));
  std::vector<MetricSample> accepted;
  std::vector<MetricSample> ended;
  std::vector<MetricSample> waits;
  std::vector<MetricSample> attempts;
  for (const v1::Job::Kind kind : kJobKinds) {
    const JobTally::OfKind& of = from.jobs->of(kind);
    accepted.push_back(Value({{"kind", Name(kind)}}, of.accepted.load()));
    for (size_t i = 0; i < kEndStates.size(); ++i) {
      ended.push_back(
          Value({{"kind", Name(kind)}, {"state", absl::AsciiStrToLower(StateName(kEndStates[i]))}},
                of.ended[i].load()));
    }
    waits.push_back(Distribution({{"kind", Name(kind)}}, of.waits));
    attempts.push_back(Distribution({{"kind", Name(kind)}}, of.attempts));
  }
  all.push_back(Counter("slipway_jobs_accepted_total", "Jobs accepted.", std::move(accepted)));
  all.push_back(Counter("slipway_jobs_ended_total", "Jobs that ended.", std::move(ended)));
  all.push_back(Histogram("slipway_job_wait_seconds",
                          "From when a job came into the queue until a worker or device got it.",
                          std::move(waits)));
  all.push_back(Histogram("slipway_attempt_seconds",
                          "For how long a worker or device had a job, whatever came of it.",
                          std::move(attempts)));
  const v1::ServerCounters& counters = status.counters();
  all.push_back(
      Counter("slipway_attempts_lost_total",
              "Attempts whose worker or agent fell silent, restarted or did not know them.",
              counters.attempts_lost()));
  all.push_back(Counter("slipway_artifact_cache_hits_total",
                        "Compilations answered from the artifact cache.",
                        counters.artifact_cache_hits()));
  all.push_back(Counter("slipway_artifact_cache_misses_total", "Compilations given to a worker.",
                        counters.artifact_cache_misses()));
  all.push_back(Counter("slipway_compilations_coalesced_total",
                        "Compilations that joined an equal one.",
                        counters.compilations_coalesced()));
  all.push_back(Counter("slipway_kernels_total", "Kernels of all compilations.",
                        {Value({{"from", "compiler"}}, counters.kernels_compiled()),
                         Value({{"from", "cache"}}, counters.kernels_cached())}));
}

void AddFleet(const v1::ServerStatus& status, std::vector<MetricFamily>& all) {
  all.push_back(Gauge("slipway_devices", "Devices that are known.",
                      {Value({{"state", "idle"}}, status.devices_idle()),
                       Value({{"state", "busy"}}, status.devices_busy()),
                       Value({{"state", "lost"}}, status.devices_lost())}));
  all.push_back(Gauge("slipway_workers", "Workers that are known.",
                      {Value({{"state", "present"}}, status.workers_present()),
                       Value({{"state", "lost"}}, status.workers_lost())}));
  all.push_back(Gauge("slipway_worker_places",
                      "Compilations that workers which are there can have at a time, and have.",
                      {Value({{"state", "all"}}, status.worker_places()),
                       Value({{"state", "taken"}}, status.worker_places_taken())}));
}

void AddCalls(const MetricSources& from, std::vector<MetricFamily>& all) {
  std::vector<MetricSample> begun;
  std::vector<MetricSample> ended;
  std::vector<MetricSample> seconds;
  for (const AccessRow& row : kAccess) {
    const CallCounts::OfRpc& of = from.calls->of(row.rpc);
    begun.push_back(Value({{"method", Name(row)}}, of.begun.load()));
    for (size_t code = 0; code < kStatusCodes; ++code) {
      const int64_t count = of.ended[code].load();
      if (count == 0 && code != 0) continue;
      ended.push_back(Value({{"method", Name(row)}, {"code", CodeName(code)}}, count));
    }
    seconds.push_back(Distribution({{"method", Name(row)}}, of.seconds));
  }
  all.push_back(Counter("slipway_calls_total", "Calls that came.", std::move(begun)));
  all.push_back(Counter("slipway_calls_ended_total",
                        "Calls that were answered; of streams, those that were not let in.",
                        std::move(ended)));
  all.push_back(
      Histogram("slipway_call_seconds",
                "Until the answer to a call was ready; of Sync, until its report was taken "
                "in. Not of streams.",
                std::move(seconds)));
  all.push_back(Gauge("slipway_waiting_calls", "Calls that wait for a thread.",
                      from.status->waiting_calls()));
}

void AddConnections(const MetricSources& from, std::vector<MetricFamily>& all) {
  all.push_back(Gauge("slipway_connections", "Connections that are let in and open.",
                      from.status->connections()));
  all.push_back(
      Gauge("slipway_max_connections", "As many may be.", from.status->max_connections()));
  all.push_back(Counter("slipway_connections_accepted_total",
                        "Connections that came, whatever became of them.",
                        from.connections->accepted));
  std::vector<MetricSample> refused;
  for (size_t i = 0; i < kListenerRefusals; ++i) {
    refused.push_back(
        Value({{"reason", std::string(kListenerRefusalNames[i])}}, from.connections->refused[i]));
  }
  all.push_back(Counter("slipway_connections_refused_total",
                        "Connections that were not let in, or were ended.", std::move(refused)));
}

void AddStorage(const MetricSources& from, std::vector<MetricFamily>& all) {
  const v1::ServerStatus& status = *from.status;
  all.push_back(
      Gauge("slipway_blob_bytes", "Blobs, those on their way included.", status.blob_bytes()));
  all.push_back(Gauge("slipway_blob_quota_bytes", "As many are kept.", status.blob_quota_bytes()));
  all.push_back(Counter("slipway_blobs_evicted_total", "Blobs removed to make room.",
                        status.counters().blobs_evicted()));
  all.push_back(Gauge("slipway_disk_free_bytes",
                      "Of the file system that blobs lie in, what the server may still write.",
                      status.disk_free_bytes()));
  all.push_back(Histogram("slipway_store_seconds", "Time that transactions of the database took.",
                          {Distribution({}, from.store->stored)}));
  all.push_back(Counter("slipway_store_refused_total", "Transactions that the database refused.",
                        from.store->refused.load()));
}

}  // namespace

std::vector<MetricFamily> ServerMetrics(const MetricSources& sources) {
  std::vector<MetricFamily> all;
  AddProcess(sources, all);
  AddRefusals(*sources.status, all);
  AddJobs(sources, all);
  AddFleet(*sources.status, all);
  AddCalls(sources, all);
  AddConnections(sources, all);
  AddStorage(sources, all);
  return all;
}

}  // namespace slipway::server
