#include "server/jobs/job_writer.h"

#include <utility>

namespace slipway::server {

JobWriter::JobWriter(JobStore* jobs, DeviceStore* devices, Overtaken overtaken, const Clock* clock,
                     StandingOvertaken standing_overtaken)
    : jobs_(*jobs),
      devices_(*devices),
      overtaken_(std::move(overtaken)),
      standing_overtaken_(std::move(standing_overtaken)),
      clock_(*clock) {}

absl::StatusOr<JobWriter::Created> JobWriter::Create(JobRecord record) {
  NewJob job{.record = std::move(record), .end = absl::nullopt};
  absl::MutexLock lock(&mu_);
  waiting_.new_jobs.push_back(&job);
  while (!job.end.has_value()) {
    if (is_writing_) {
      written_.Wait(&mu_);
    } else {
      WriteGroup().IgnoreError();  // `end` has it.
    }
  }
  return *std::move(job.end);
}

void JobWriter::Put(JobStore::Change change) {
  absl::MutexLock lock(&mu_);
  ++entered_;
  const std::string id = change.record.job().id();
  const auto [it, is_new] = waiting_.changes.try_emplace(id);
  if (!is_new) change.replaces = it->second.replaces;
  it->second = std::move(change);
}

void JobWriter::PutDevice(const v1::Device& device) {
  absl::MutexLock lock(&mu_);
  ++entered_;
  waiting_.devices[device.description().id()] = device;
}

void JobWriter::DeleteDevice(const std::string& id) {
  absl::MutexLock lock(&mu_);
  ++entered_;
  waiting_.devices[id] = absl::nullopt;
}

void JobWriter::PutStanding(const DeviceStanding& standing, int64_t replaces) {
  absl::MutexLock lock(&mu_);
  ++entered_;
  const auto [it, is_new] = waiting_.standings.try_emplace(standing.device());
  it->second = {.standing = standing, .replaces = is_new ? replaces : it->second.replaces};
}

void JobWriter::PutReservation(const ReservationRecord& record) {
  absl::MutexLock lock(&mu_);
  ++entered_;
  waiting_.reservations[record.reservation().id()] = record;
}

void JobWriter::DeleteReservation(const std::string& id) {
  absl::MutexLock lock(&mu_);
  ++entered_;
  waiting_.reservations[id] = absl::nullopt;
}

void JobWriter::Drop(absl::string_view id) {
  absl::MutexLock lock(&mu_);
  waiting_.changes.erase(std::string(id));
}

JobWriter::Mark JobWriter::entered() const {
  absl::MutexLock lock(&mu_);
  return entered_;
}

absl::Status JobWriter::Flush(Mark mark) {
  absl::MutexLock lock(&mu_);
  while (stored_ < mark) {
    if (is_writing_) {
      written_.Wait(&mu_);
      continue;
    }
    const absl::Status status = WriteGroup();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status JobWriter::refusal() const {
  absl::MutexLock lock(&mu_);
  return refusal_;
}

void JobWriter::TryStore() {
  {
    absl::MutexLock lock(&mu_);
    if (stored_ < entered_) return;  // The next flush tells.
  }
  const absl::Status status = jobs_.ReserveRevisions(1).status();
  absl::MutexLock lock(&mu_);
  refusal_ = status;
}

absl::Status JobWriter::WriteGroup() {
  is_writing_ = true;
  Group group = std::exchange(waiting_, Group{});
  const Mark mark = entered_;
  mu_.Unlock();
  std::vector<absl::StatusOr<Created>> ends;
  const absl::Duration began = clock_.Monotonic();
  absl::Status status = WriteJobs(group, ends);
  if (status.ok()) status = WriteDevices(group);
  if (status.ok()) {
    tally_.stored.Add(clock_.Monotonic() - began);
  } else {
    tally_.refused.fetch_add(1, std::memory_order_relaxed);
  }
  mu_.Lock();
  refusal_ = status;
  if (status.ok()) stored_ = mark;
  for (size_t i = 0; i < group.new_jobs.size(); ++i) {
    if (i < ends.size()) {
      group.new_jobs[i]->end = std::move(ends[i]);
    } else {
      group.new_jobs[i]->end = status;  // The group failed before they were stored.
    }
  }
  // What was entered meanwhile is newer, but replaces what is stored still.
  for (auto& [id, change] : group.changes) {
    const int64_t replaces = change.replaces;
    const auto [it, is_new] = waiting_.changes.try_emplace(id);
    if (is_new) it->second = std::move(change);
    it->second.replaces = replaces;
  }
  waiting_.devices.insert(group.devices.begin(), group.devices.end());
  waiting_.reservations.insert(group.reservations.begin(), group.reservations.end());
  for (auto& [device, change] : group.standings) {
    const auto [it, is_new] = waiting_.standings.try_emplace(device, change);
    it->second.replaces = change.replaces;
  }
  is_writing_ = false;
  written_.SignalAll();
  return status;
}

absl::Status JobWriter::WriteJobs(Group& group, std::vector<absl::StatusOr<Created>>& ends) {
  if (group.changes.empty() && group.new_jobs.empty()) return absl::OkStatus();
  std::vector<JobStore::Change> changes;
  for (auto& [id, change] : group.changes) changes.push_back(std::move(change));
  for (NewJob* job : group.new_jobs) changes.push_back({.record = std::move(job->record)});
  absl::StatusOr<std::vector<JobStore::Outcome>> outcomes = jobs_.Commit(changes);
  auto change = changes.begin();
  if (!outcomes.ok()) {
    for (auto& [id, waiting] : group.changes) waiting = std::move(*change++);
    return outcomes.status();
  }
  auto outcome = outcomes->begin();
  for (auto it = group.changes.begin(); it != group.changes.end(); ++change, ++outcome) {
    if (outcome->status.ok()) {
      it = group.changes.erase(it);
    } else {
      (it++)->second = std::move(*change);
    }
  }
  for (; change != changes.end(); ++change, ++outcome) {
    if (!outcome->status.ok()) {
      ends.push_back(std::move(outcome->status));
    } else if (outcome->earlier.has_value()) {
      ends.push_back(Created{*std::move(outcome->earlier), true});
    } else {
      ends.push_back(Created{std::move(change->record), false});
    }
  }
  return TellOvertaken(group);
}

absl::Status JobWriter::TellOvertaken(Group& group) {
  while (!group.changes.empty()) {
    const std::string id = group.changes.begin()->first;
    absl::StatusOr<JobRecord> stored = jobs_.Get(id);
    if (!stored.ok() && !absl::IsNotFound(stored.status())) return stored.status();
    group.changes.erase(group.changes.begin());
    overtaken_(id, stored.ok() ? absl::make_optional(*std::move(stored)) : absl::nullopt);
  }
  return absl::OkStatus();
}

absl::Status JobWriter::WriteDevices(Group& group) {
  while (!group.devices.empty()) {
    const auto& [id, device] = *group.devices.begin();
    const absl::Status status =
        device.has_value() ? devices_.SaveDevice(*device) : devices_.DeleteDevice(id);
    if (!status.ok()) return status;
    group.devices.erase(group.devices.begin());
  }
  while (!group.standings.empty()) {
    const absl::Status status = WriteStanding(group.standings.begin()->second);
    if (!status.ok()) return status;
    group.standings.erase(group.standings.begin());
  }
  while (!group.reservations.empty()) {
    const auto& [id, record] = *group.reservations.begin();
    const absl::Status status =
        record.has_value() ? devices_.PutReservation(*record) : devices_.DeleteReservation(id);
    if (!status.ok()) return status;
    group.reservations.erase(group.reservations.begin());
  }
  return absl::OkStatus();
}

absl::Status JobWriter::WriteStanding(const StandingChange& change) {
  const absl::Status status = devices_.PutStanding(change.standing, change.replaces);
  if (!absl::IsAborted(status)) return status;
  absl::StatusOr<std::vector<DeviceStanding>> stored = devices_.LoadStandings();
  if (!stored.ok()) return stored.status();
  for (DeviceStanding& standing : *stored) {
    if (standing.device() == change.standing.device()) standing_overtaken_(std::move(standing));
  }
  return absl::OkStatus();
}

}  // namespace slipway::server
