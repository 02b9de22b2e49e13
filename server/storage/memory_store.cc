#include "server/storage/memory_store.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/history/history_entry.h"
#include "server/jobs/job_contents.h"
#include "server/jobs/job_state.h"
#include "server/limits.h"

namespace slipway::server {

absl::StatusOr<std::vector<JobStore::Outcome>> MemoryStore::Commit(absl::Span<const Change> group) {
  std::vector<Outcome> outcomes;
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  for (const Change& change : group) {
    const v1::Job& job = change.record.job();
    Outcome& outcome = outcomes.emplace_back();
    if (change.replaces == 0) {
      const auto [request, is_new] =
          database_.requests_.try_emplace({job.owner(), job.request_id()}, job.id());
      if (is_new) {
        database_.jobs_[job.id()] = change.record;
        continue;
      }
      const JobRecord& earlier = database_.jobs_.at(request->second);
      outcome.status = CheckSameWork(earlier, change.record.work_digest());
      if (outcome.status.ok()) outcome.earlier = earlier;
      continue;
    }
    const auto it = database_.jobs_.find(job.id());
    if (it == database_.jobs_.end() || it->second.job().revision() != change.replaces) {
      outcome.status = ChangedMeanwhile(job.id());
      continue;
    }
    v1::Job spec;
    MoveSpec(*it->second.mutable_job(), spec);
    if (IsTerminal(job.state()) && static_cast<int64_t>(spec.ByteSizeLong()) > kMaxKeptSpecBytes) {
      ClearContents(spec);
    }
    it->second = change.record;
    MoveSpec(spec, *it->second.mutable_job());
    if (!change.entry.has_value()) continue;
    v1::HistoryEntry& entry = database_.history_[job.id()] = *change.entry;
    CompleteEntry(job.benchmark_result(), &entry);
  }
  return outcomes;
}

absl::StatusOr<int64_t> MemoryStore::ReserveRevisions(int64_t count) {
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  for (const auto& [id, record] : database_.jobs_) {
    database_.last_revision_ = std::max(database_.last_revision_, record.job().revision());
  }
  database_.last_revision_ += count;
  return database_.last_revision_ - count + 1;
}

absl::StatusOr<JobRecord> MemoryStore::Get(absl::string_view id) const {
  absl::MutexLock lock(&database_.mu_);
  const auto it = database_.jobs_.find(std::string(id));
  if (it == database_.jobs_.end()) return NoSuchJob(id);
  return it->second;
}

absl::StatusOr<absl::optional<JobRecord>> MemoryStore::FindRequest(
    absl::string_view owner, absl::string_view request_id) const {
  absl::MutexLock lock(&database_.mu_);
  const auto it = database_.requests_.find({std::string(owner), std::string(request_id)});
  if (it == database_.requests_.end()) return absl::optional<JobRecord>();
  return absl::optional<JobRecord>(database_.jobs_.at(it->second));
}

absl::StatusOr<JobPage> MemoryStore::List(const JobFilter& filter, const PageLimits& limits) const {
  PageFiller<v1::Job> filler(limits);
  absl::MutexLock lock(&database_.mu_);
  for (auto it = database_.jobs_.rbegin(); it != database_.jobs_.rend(); ++it) {
    v1::Job job = it->second.job();
    if (!filter.of_everybody && job.owner() != filter.owner) continue;
    if (!filter.before_id.empty() && job.id() >= filter.before_id) continue;
    if (!filler.Look(job.id())) break;
    if (!Matches(filter, job)) continue;
    ClearContents(job);
    if (!filler.Add(std::move(job))) break;
  }
  return std::move(filler).Take();
}

absl::StatusOr<std::vector<JobRecord>> MemoryStore::ListLive() const {
  std::vector<JobRecord> live;
  absl::MutexLock lock(&database_.mu_);
  for (const auto& [id, record] : database_.jobs_) {
    if (!IsTerminal(record.job().state())) live.push_back(record);
  }
  return live;
}

absl::Status MemoryStore::ForEachEndedSince(absl::Time time,
                                            absl::FunctionRef<void(const EndedJob&)> tell) const {
  absl::MutexLock lock(&database_.mu_);
  for (const auto& [id, record] : database_.jobs_) {
    if (!IsTerminal(record.job().state())) continue;
    const EndedJob job = EndedJobOf(record);
    if (job.end >= time) tell(job);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MemoryStore::DeleteEndedBefore(absl::Time time) {
  int64_t deleted = 0;
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  for (auto it = database_.jobs_.begin(); it != database_.jobs_.end();) {
    const v1::Job& job = it->second.job();
    if (IsTerminal(job.state()) && absl::FromUnixNanos(job.end_time_ns()) < time) {
      database_.requests_.erase({job.owner(), job.request_id()});
      it = database_.jobs_.erase(it);
      ++deleted;
    } else {
      ++it;
    }
  }
  return deleted;
}

absl::StatusOr<int64_t> MemoryStore::DeleteEndedBeyond(int64_t max_bytes) {
  int64_t deleted = 0;
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  std::vector<const JobRecord*> ended;
  for (const auto& [id, record] : database_.jobs_) {
    if (IsTerminal(record.job().state())) ended.push_back(&record);
  }
  std::sort(ended.begin(), ended.end(), [](const JobRecord* a, const JobRecord* b) {
    return a->job().end_time_ns() > b->job().end_time_ns();
  });
  std::map<std::string, int64_t> bytes_of;
  for (const JobRecord* record : ended) {
    const v1::Job& job = record->job();
    bytes_of[job.owner()] += static_cast<int64_t>(record->ByteSizeLong());
    if (bytes_of[job.owner()] <= max_bytes) continue;
    database_.requests_.erase({job.owner(), job.request_id()});
    database_.jobs_.erase(std::string(job.id()));
    ++deleted;
  }
  return deleted;
}

absl::Status MemoryStore::SaveDevice(const v1::Device& device) {
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  database_.devices_[device.description().id()] = KeptOf(device);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Device>> MemoryStore::LoadDevices() const {
  std::vector<v1::Device> devices;
  absl::MutexLock lock(&database_.mu_);
  for (const auto& [id, device] : database_.devices_) devices.push_back(device);
  return devices;
}

absl::Status MemoryStore::DeleteDevice(absl::string_view id) {
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  database_.devices_.erase(std::string(id));
  return absl::OkStatus();
}

absl::Status MemoryStore::PutStanding(const DeviceStanding& standing, int64_t replaces) {
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  const auto it = database_.standings_.find(standing.device());
  const int64_t stored = it == database_.standings_.end() ? 0 : it->second.revision();
  if (stored != replaces) return StandingChangedMeanwhile(standing.device());
  database_.standings_[standing.device()] = standing;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DeviceStanding>> MemoryStore::LoadStandings() const {
  std::vector<DeviceStanding> standings;
  absl::MutexLock lock(&database_.mu_);
  for (const auto& [device, standing] : database_.standings_) standings.push_back(standing);
  return standings;
}

absl::Status MemoryStore::DeleteStanding(absl::string_view device) {
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  database_.standings_.erase(std::string(device));
  return absl::OkStatus();
}

absl::Status MemoryStore::PutReservation(const ReservationRecord& record) {
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  database_.reservations_[record.reservation().id()] = record;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ReservationRecord>> MemoryStore::LoadReservations() const {
  std::vector<ReservationRecord> records;
  absl::MutexLock lock(&database_.mu_);
  for (const auto& [id, record] : database_.reservations_) records.push_back(record);
  return records;
}

absl::Status MemoryStore::DeleteReservation(absl::string_view id) {
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  database_.reservations_.erase(std::string(id));
  return absl::OkStatus();
}

absl::Status MemoryStore::SaveIdentity(const v1::IdentityRecord& record) {
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  database_.identities_[record.id()] = record;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::IdentityRecord>> MemoryStore::LoadIdentities() const {
  std::vector<v1::IdentityRecord> records;
  absl::MutexLock lock(&database_.mu_);
  for (const auto& [id, record] : database_.identities_) records.push_back(record);
  return records;
}

absl::Status MemoryStore::DeleteIdentity(absl::string_view id) {
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  database_.identities_.erase(std::string(id));
  return absl::OkStatus();
}

absl::StatusOr<Page<v1::HistoryEntry>> MemoryStore::ListHistory(const HistoryFilter& filter,
                                                                const PageLimits& limits,
                                                                bool with_samples) const {
  PageFiller<v1::HistoryEntry> filler(limits);
  absl::MutexLock lock(&database_.mu_);
  for (auto it = database_.history_.rbegin(); it != database_.history_.rend(); ++it) {
    v1::HistoryEntry entry = it->second;
    if (!filter.of_everybody && entry.owner() != filter.owner) continue;
    if (!filter.before_id.empty() && entry.id() >= filter.before_id) continue;
    if (!filler.Look(entry.id())) break;
    if (!Matches(filter, entry)) continue;
    if (!with_samples) entry.mutable_result()->clear_samples_ns();
    if (!filler.Add(std::move(entry))) break;
  }
  return std::move(filler).Take();
}

absl::StatusOr<v1::HistoryEntry> MemoryStore::GetHistoryEntry(absl::string_view id) const {
  absl::MutexLock lock(&database_.mu_);
  const auto it = database_.history_.find(std::string(id));
  if (it == database_.history_.end()) return NoSuchEntry(id);
  return it->second;
}

absl::StatusOr<int64_t> MemoryStore::DropHistoryBeyond(int64_t max_entries, int64_t max_bytes) {
  absl::MutexLock lock(&database_.mu_);
  if (!database_.failure_.ok()) return database_.failure_;
  struct Kept {
    int64_t entries = 0;
    int64_t bytes = 0;
  };
  std::map<std::string, Kept> kept_of;
  std::vector<std::string> dropped;
  for (auto it = database_.history_.rbegin(); it != database_.history_.rend(); ++it) {
    Kept& kept = kept_of[it->second.owner()];
    kept.bytes += static_cast<int64_t>(it->second.ByteSizeLong());
    if (++kept.entries > max_entries || kept.bytes > max_bytes) dropped.push_back(it->first);
  }
  for (const std::string& id : dropped) database_.history_.erase(id);
  return static_cast<int64_t>(dropped.size());
}

}  // namespace slipway::server
