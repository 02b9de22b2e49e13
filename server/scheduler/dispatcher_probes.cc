// Dispatcher: whether devices are sound. Probes are jobs of the server's own, in memory alone: nobody waits for one, and a
// server that starts anew makes another. What becomes of others' attempts counts too.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "core/wire/status_proto.h"
#include "server/health/blame.h"
#include "server/health/probe_program.h"
#include "server/jobs/job_state.h"
#include "server/limits.h"
#include "server/names.h"
#include "server/scheduler/dispatcher.h"

namespace slipway::server {
namespace {

// How an attempt ended by an event, and what was said; nothing when it has not ended.
struct End {
  AttemptEnd end;
  absl::Status status;
};
absl::optional<End> EndBy(const JobEvent& event) {
  if (std::holds_alternative<AttemptSucceeded>(event)) {
    return End{AttemptEnd::kSucceeded, absl::OkStatus()};
  }
  if (const auto* failed = std::get_if<AttemptFailed>(&event)) {
    return End{failed->retriable ? AttemptEnd::kRefused : AttemptEnd::kFailed,
               FromProto(failed->error)};
  }
  if (const auto* lost = std::get_if<AttemptLost>(&event)) {
    return End{lost->counted ? AttemptEnd::kLost : AttemptEnd::kStopped,
               absl::AbortedError(lost->why)};
  }
  const auto* passed = std::get_if<DeadlinePassed>(&event);
  if (passed != nullptr && passed->kind == DeadlineKind::kRun) {
    return End{AttemptEnd::kOverdue, absl::DeadlineExceededError("it did not end an attempt")};
  }
  return absl::nullopt;
}

// The shortest call that was measured.
absl::Duration ShortestCall(const v1::BenchmarkResult& result) {
  if (result.samples_ns().empty()) return absl::ZeroDuration();
  const int64_t shortest =
      *std::min_element(result.samples_ns().begin(), result.samples_ns().end());
  return absl::Nanoseconds(shortest) / std::max<int64_t>(1, result.iterations_per_sample());
}

// From 0 to 1, another one for each name: devices that came together are not probed together.
double SpreadOf(const std::string& device) {
  return static_cast<double>(absl::HashOf(device) % 1024) / 1024;
}

}  // namespace

absl::optional<StandingEvent> Dispatcher::JudgeAttempt(const JobRecord& record,
                                                       const JobEvent& event) {
  if (record.is_probe() || !record.has_lease() || HeldKindOf(record) != HeldKind::kDevice) {
    return absl::nullopt;
  }
  const absl::optional<End> end = EndBy(event);
  if (!end.has_value()) return absl::nullopt;
  switch (BlameFor(end->end, end->status.code())) {
    case Blame::kNobody:
      return absl::nullopt;
    case Blame::kPraise: {
      const DeviceStanding* const standing = StandingOf(record.job().assignee());
      if (standing == nullptr || standing->failures() == 0) return absl::nullopt;
      return DeviceWorked{};
    }
    case Blame::kDevice:
      break;
  }
  return DeviceFailed{.job = record.job().id(),
                      .why = std::string(end->status.message()),
                      .limit = options_.quarantine_after};
}

absl::Duration Dispatcher::ProbeDueAt(const std::string& device, const LastProbe& last) {
  const DeviceStanding* const standing = StandingOf(device);
  if (standing != nullptr && standing->state() == DeviceStanding::DRAINED) {
    return absl::InfiniteDuration();
  }
  const absl::Duration every = options_.probe_every;
  if (standing != nullptr &&
      (standing->state() == DeviceStanding::QUARANTINED || standing->failures() > 0)) {
    return last.at + std::min(every, kProbeDoubtedEvery);
  }
  return last.at + every * (last.is_first ? 1 + SpreadOf(device) : 1);
}

void Dispatcher::LookForProbes() {
  const absl::Duration now = parts_.clock->Monotonic();
  if (!MakesProbes() || now < next_probes_) return;
  next_probes_ = now + std::min(options_.probe_every, kLookForProbesEvery);
  std::vector<std::pair<absl::Duration, std::string>> due;
  for (const auto& [key, peer] : peers_.peers()) {
    const DeviceSupply* const device = DeviceOf(peer);
    if (device == nullptr || peers_.table().IsLost(key, now)) continue;
    const LastProbe last = probed_.try_emplace(device->device, LastProbe{.at = now}).first->second;
    const absl::Duration at = ProbeDueAt(device->device, last);
    // A device that takes only what was compiled here takes no probe.
    if (at > now || device->offer.is_compiled_only || TakenPlaces(key) > 0 ||
        probing_.contains(device->device)) {
      continue;
    }
    due.emplace_back(at, device->device);
  }
  std::sort(due.begin(), due.end());
  for (const auto& [at, device] : due) {
    if (probing_.size() >= static_cast<size_t>(kMaxProbes)) return;
    StartProbe(device, /*measures=*/false);
  }
}

void Dispatcher::StartProbe(const std::string& device, bool measures) {
  const DeviceSupply& supply = *DeviceOf(*peers_.Find(peers_.AgentOfDevice(device)));
  absl::optional<ProbePrograms::Program> program = parts_.probes->For(supply.offer.target);
  if (!program.has_value()) return;
  program->run.set_device(device);
  const absl::Time now = parts_.clock->Now();
  JobRecord record;
  record.set_is_probe(true);
  record.set_queued_time_ns(absl::ToUnixNanos(now));
  *record.mutable_run() = program->facts;
  v1::Job& job = *record.mutable_job();
  job.set_id(parts_.ids->Next(now));
  job.set_owner(kServerOwner);
  job.set_state(v1::Job::QUEUED);
  job.set_revision(NextRevision());
  job.set_create_time_ns(absl::ToUnixNanos(now));
  job.mutable_deadlines()->set_queue_ns(absl::ToInt64Nanoseconds(kProbeQueueDeadline));
  job.mutable_deadlines()->set_run_ns(absl::ToInt64Nanoseconds(kProbeRunDeadline));
  job.mutable_deadlines()->set_total_ns(
      absl::ToInt64Nanoseconds(kProbeQueueDeadline + kProbeRunDeadline));
  if (measures) {
    v1::BenchmarkSpec& benchmark = *job.mutable_benchmark();
    *benchmark.mutable_run() = std::move(program->run);
    benchmark.set_warmup(1);
    benchmark.set_samples(kProbeSamples);
  } else {
    *job.mutable_run() = std::move(program->run);
  }
  probing_[device] = job.id();
  live_.Put(std::move(record));
}

void Dispatcher::ProbeEnded(const JobRecord& ended) {
  const v1::Job& job = ended.job();
  const bool measured = job.has_benchmark();
  const std::string device = measured ? job.benchmark().run().device() : job.run().device();
  probing_.erase(device);
  probed_[device] = {.at = parts_.clock->Monotonic(), .is_first = false};
  if (peers_.AgentOfDevice(device).empty()) return;
  absl::Status status;
  absl::Duration call;
  if (job.state() == v1::Job::SUCCEEDED && !measured) {
    status = CheckProbeOutputs(job.run_result());
    if (status.ok()) return StartProbe(device, /*measures=*/true);
  } else if (job.state() == v1::Job::SUCCEEDED) {
    call = ShortestCall(job.benchmark_result());
    const DeviceStanding* const standing = StandingOf(device);
    if (standing != nullptr) status = JudgeCall(*standing, call);
  } else {
    // One that never began, was cancelled, or found the machine taken says nothing.
    if (job.state() != v1::Job::FAILED || job.attempts() == 0) return;
    status = FromProto(job.error());
    if (BlameForProbe(measured, status.code()) == Blame::kNobody) return;
  }
  const StandingEvent event =
      status.ok() ? StandingEvent(ProbePassed{call})
                  : ProbeFailed{std::string(status.message()), options_.quarantine_after};
  MoveStanding(device, event).IgnoreError();
}

void Dispatcher::ShowHealth(v1::Device* device) {
  v1::Health& shown = *device->mutable_health();
  const DeviceStanding* const standing = StandingOf(device->description().id());
  if (standing == nullptr) return;
  shown.set_failures(standing->failures());
  shown.set_passes(standing->passes());
  shown.set_probe_end_ns(standing->probe_end_ns());
  shown.set_probe_error(standing->probe_error());
  shown.set_probe_call_ns(standing->probe_call_ns());
  shown.set_usual_call_ns(
      absl::ToInt64Nanoseconds(UsualCall(*standing).value_or(absl::ZeroDuration())));
}

}  // namespace slipway::server
