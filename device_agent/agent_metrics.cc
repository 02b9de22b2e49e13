#include "device_agent/agent_metrics.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "core/base/own_process.h"
#include "core/base/version.h"

namespace slipway {
namespace {

constexpr absl::string_view kKindNames[] = {"run", "benchmark", "session"};
constexpr absl::string_view kEndNames[] = {"succeeded", "failed", "stopped"};

size_t KindOf(const v1::RunAssignment& assignment) {
  if (assignment.has_session()) return 2;
  return assignment.has_benchmark() ? 1 : 0;
}

size_t EndOf(v1::RunAttemptState::State state) {
  if (state == v1::RunAttemptState::SUCCEEDED) return 0;
  return state == v1::RunAttemptState::STOPPED ? 2 : 1;
}

MetricSample Value(std::vector<MetricLabel> labels, double value) {
  return {.labels = std::move(labels), .value = value, .histogram = {}};
}

MetricFamily One(std::string name, std::string help, MetricKind kind, double value) {
  return {std::move(name), std::move(help), kind, {Value({}, value)}};
}

}  // namespace

void AgentTally::Begun() { is_busy_ = true; }

void AgentTally::Ended(const v1::RunAssignment& assignment, v1::RunAttemptState::State end,
                       absl::Duration time) {
  const size_t kind = KindOf(assignment);
  ++ended_[kind][EndOf(end)];
  times_[kind].Add(time);
  is_busy_ = false;
}

void AgentTally::Synced(const absl::Status& status, absl::Duration now) {
  // A call that the agent itself cancels to say something else is no answer, and nobody's fault.
  if (absl::IsCancelled(status)) return;
  if (status.ok()) answered_ns_ = absl::ToInt64Nanoseconds(now);
  ++syncs_[std::min(static_cast<size_t>(status.code()), kCodes - 1)];
}

std::vector<MetricFamily> AgentMetrics(const AgentTally& tally, absl::Duration now) {
  std::vector<MetricFamily> all;
  all.push_back({"slipway_agent_build_info",
                 "The agent's version; always 1.",
                 MetricKind::kGauge,
                 {Value({{"version", kVersion}}, 1)}});
  all.push_back(One("process_cpu_seconds_total", "Processor time of the agent's process.",
                    MetricKind::kCounter, absl::ToDoubleSeconds(OwnProcessorTime())));
  all.push_back(One("slipway_agent_busy", "Whether it works on an attempt.", MetricKind::kGauge,
                    tally.is_busy_ ? 1 : 0));
  const int64_t answered = tally.answered_ns_;
  if (answered >= 0) {
    all.push_back(One("slipway_agent_server_silent_seconds",
                      "Time since the server has answered it last; up to half a minute is usual.",
                      MetricKind::kGauge,
                      std::max(0.0, absl::ToDoubleSeconds(now - absl::Nanoseconds(answered)))));
  }
  MetricFamily syncs = {"slipway_agent_syncs_total",
                        "Reports to the server, by what came of them.",
                        MetricKind::kCounter,
                        {}};
  for (size_t code = 0; code < AgentTally::kCodes; ++code) {
    if (code == static_cast<size_t>(absl::StatusCode::kCancelled)) continue;
    syncs.samples.push_back(
        Value({{"code", absl::StatusCodeToString(static_cast<absl::StatusCode>(code))}},
              static_cast<double>(tally.syncs_[code])));
  }
  all.push_back(std::move(syncs));
  MetricFamily ended = {"slipway_agent_attempts_ended_total",
                        "Attempts that have ended, and how.",
                        MetricKind::kCounter,
                        {}};
  MetricFamily times = {
      "slipway_agent_attempt_seconds", "How long attempts took.", MetricKind::kHistogram, {}};
  for (size_t kind = 0; kind < AgentTally::kKinds; ++kind) {
    const std::string name(kKindNames[kind]);
    for (size_t end = 0; end < AgentTally::kEnds; ++end) {
      ended.samples.push_back(Value({{"kind", name}, {"end", std::string(kEndNames[end])}},
                                    static_cast<double>(tally.ended_[kind][end])));
    }
    times.samples.push_back(
        {.labels = {{"kind", name}}, .value = 0, .histogram = tally.times_[kind].Read()});
  }
  all.push_back(std::move(ended));
  all.push_back(std::move(times));
  return all;
}

}  // namespace slipway
