// Dispatcher: what waits, and why.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/target/target.h"
#include "server/jobs/job_state.h"
#include "server/jobs/shown_lease.h"
#include "server/scheduler/dispatcher.h"
#include "server/scheduler/dispatcher_section.h"

namespace slipway::server {
namespace {

constexpr absl::Duration kKnownReasons = absl::Seconds(1);

// Equal for jobs that wait for the same reason.
std::string KindOfWaiting(const WaitingJob& job) {
  return absl::StrCat(WaitingJobs::NameOfNeed(job.need), "\n", job.owner, "\n",
                      absl::ToInt64Nanoseconds(job.longest));
}

// The device, or those, that a job waits for by name or selector, if any.
absl::string_view DeviceOf(const Need& need) {
  const auto* device = std::get_if<DeviceNeed>(&need);
  return device == nullptr ? "" : absl::string_view(device->device);
}

std::string TargetOf(const JobRecord& record, const Need& need) {
  const auto* device = std::get_if<DeviceNeed>(&need);
  if (device == nullptr) return record.job().compilation().target().name();
  return device->program.target.devices.empty() ? "" : device->program.target.ToString();
}

v1::QueuedJob Show(const JobRecord& record, const Need& need, bool is_named) {
  const v1::Job& job = record.job();
  v1::QueuedJob shown;
  if (is_named) {
    shown.set_job_id(job.id());
    shown.set_subject(job.subject());
  }
  shown.set_owner(job.owner());
  shown.set_kind(LeaseKindOf(job));
  shown.set_device(std::string(DeviceOf(need)));
  shown.set_target(TargetOf(record, need));
  shown.set_priority(job.priority());
  shown.set_since_ns(record.queued_time_ns());
  if (const absl::optional<NextDeadline> deadline = DeadlineOf(record)) {
    shown.set_until_ns(absl::ToUnixNanos(deadline->time));
  }
  return shown;
}

}  // namespace

int64_t Dispatcher::QueuePosition(absl::string_view id) {
  absl::MutexLock lock(&mu_);
  return live_.waiting().PositionOf(id, live_.held());
}

absl::optional<v1::Job> Dispatcher::HolderFor(absl::string_view id) {
  absl::MutexLock lock(&mu_);
  const LiveJob* const waits = live_.Find(id);
  if (waits == nullptr || !waits->need.has_value()) return absl::nullopt;
  const absl::Duration now = parts_.clock->Monotonic();
  std::vector<std::string> will_do;
  for (const auto& [key, peer] : peers_.peers()) {
    if (Fits(*waits->need, peer.supply) && !peers_.table().IsLost(key, now)) will_do.push_back(key);
  }
  if (will_do.size() != 1) return absl::nullopt;
  const std::vector<std::string> holders = JobsHeldBy(will_do.front());
  if (holders.empty()) return absl::nullopt;
  return live_.Find(holders.front())->record.job();
}

void Dispatcher::View(const std::string& key, const RegisteredPeer& peer, FleetView& fleet) {
  const bool is_lost = peers_.table().IsLost(key, parts_.clock->Monotonic());
  const bool has_room = TakenPlaces(key) < peer.capacity && OfferFor(key) == nullptr;
  if (const auto* targets = std::get_if<TargetFingerprints>(&peer.supply)) {
    fleet.workers.push_back({.targets = targets, .is_lost = is_lost, .has_room = has_room});
    return;
  }
  DeviceView& device = fleet.devices.emplace_back(DeviceView{.supply = server::DeviceOf(peer),
                                                             .is_lost = is_lost,
                                                             .has_room = has_room,
                                                             .last_seen = peer.last_seen});
  device.standing = StandingOf(device.supply->device);
  device.reserved = reservations_.Of(device.supply->device, parts_.clock->Now());
  const std::vector<std::string> jobs = JobsHeldBy(key);
  if (!jobs.empty()) device.holder = &live_.Find(jobs.front())->record;
}

FleetView Dispatcher::ViewFleet() {
  FleetView fleet;
  for (const auto& [key, peer] : peers_.peers()) View(key, peer, fleet);
  return fleet;
}

v1::WaitReason Dispatcher::WhyWaiting(const WaitingJob& job) {
  const absl::Time wall = parts_.clock->Now();
  const auto* const wanted = std::get_if<DeviceNeed>(&job.need);
  if (wanted != nullptr && !wanted->device.empty() && !wanted->selector.has_value()) {
    const std::string& device = wanted->device;
    FleetView one;
    const std::string agent = peers_.AgentOfDevice(device);
    if (!agent.empty()) View(agent, *peers_.Find(agent), one);
    return ReasonOf(job, one, wall);
  }
  if (job.not_before > wall) return ReasonOf(job, ViewFleet(), wall);
  const absl::Duration now = parts_.clock->Monotonic();
  if (now - reasons_since_ >= kKnownReasons) {
    reasons_.clear();
    reasons_since_ = now;
  }
  const auto [known, is_new] = reasons_.try_emplace(KindOfWaiting(job));
  if (is_new) known->second = ReasonOf(job, ViewFleet(), wall);
  return known->second;
}

void Dispatcher::ShowWaiting(const Caller& caller, v1::Job* job) {
  absl::MutexLock lock(&mu_);
  job->set_queue_position(live_.waiting().PositionOf(job->id(), live_.held()));
  const WaitingJob* const waits = live_.waiting().Find(job->id());
  if (waits == nullptr) return;
  *job->mutable_wait_reason() = WhyWaiting(*waits);
  HideNames(caller, *job->mutable_wait_reason());
}

v1::ListQueueResponse Dispatcher::Queue(const Caller& caller, const v1::ListQueueRequest& request) {
  v1::ListQueueResponse response;
  // Told of what is stored alone.
  Section section(this);
  const absl::Time now = parts_.clock->Now();
  const FleetView fleet = ViewFleet();
  const WaitingJobs& waiting = live_.waiting();
  const auto is_asked_for = [&](const WaitingJob& job) {
    return (request.device().empty() || request.device() == DeviceOf(job.need)) &&
           (!request.own() || job.owner == caller.owner);
  };
  absl::flat_hash_map<std::string, v1::WaitReason> reasons;
  const auto add = [&](absl::string_view id, int64_t position) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const WaitingJob& job = *waiting.Find(id);
    if (!is_asked_for(job) || live_.Find(id)->record.is_probe()) return;
    response.set_waiting(response.waiting() + 1);
    if (response.jobs_size() == request.limit()) return;
    v1::QueuedJob& shown = *response.add_jobs();
    shown = Show(live_.Find(id)->record, job.need, MayTouch(caller, job.owner));
    shown.set_queue_position(position);
    // A pause is a job's own.
    const std::string kind = position == 0 ? std::string(id) : KindOfWaiting(job);
    const auto [reason, is_new] = reasons.try_emplace(kind);
    if (is_new) reason->second = ReasonOf(job, fleet, now);
    *shown.mutable_reason() = reason->second;
    HideNames(caller, *shown.mutable_reason());
  };
  for (const WaitingJobs::LineOrder& line : waiting.Order(live_.held())) {
    int64_t position = 0;
    for (const absl::string_view id : line.ids) add(id, ++position);
  }
  for (const absl::string_view id : waiting.Later()) add(id, 0);
  return response;
}

}  // namespace slipway::server
