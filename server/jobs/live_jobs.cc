#include "server/jobs/live_jobs.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "core/target/target.h"
#include "core/wire/digest_proto.h"
#include "server/jobs/job_filter.h"

namespace slipway::server {
namespace {

using Ids = LiveJobs::Ids;

void Erase(absl::btree_map<std::string, Ids>& index, const std::string& key,
           const std::string& id) {
  auto it = index.find(key);
  if (it == index.end()) return;
  it->second.erase(id);
  if (it->second.empty()) index.erase(it);
}

std::vector<std::string> Read(const absl::btree_map<std::string, Ids>& index,
                              absl::string_view key) {
  auto it = index.find(key);
  if (it == index.end()) return {};
  return std::vector<std::string>(it->second.begin(), it->second.end());
}

absl::optional<Need> NeedOfDevice(const std::string& device, ProgramNeeds program) {
  absl::StatusOr<DeviceNeed> need = ReadDeviceNeed(device, std::move(program));
  if (!need.ok()) return absl::nullopt;
  return *std::move(need);
}

absl::optional<Need> NeedOf(const JobRecord& record) {
  const v1::Job& job = record.job();
  if (record.has_compilation()) {
    const absl::StatusOr<Target> target = ParseTarget(job.compilation().target().name());
    if (!target.ok()) return absl::nullopt;
    return CompilerNeed{FamilyOf(*target), record.compilation().fingerprint()};
  }
  if (job.has_session()) {
    ProgramNeeds program{.is_session = true};
    if (!job.session().target().empty()) {
      absl::StatusOr<Target> target = ParseTarget(job.session().target());
      if (!target.ok()) return absl::nullopt;
      program.target = *std::move(target);
    }
    return NeedOfDevice(job.session().device(), std::move(program));
  }
  const RunFacts& facts = record.run();
  absl::StatusOr<Target> target = ParseTarget(facts.target());
  if (!target.ok()) return absl::nullopt;
  return NeedOfDevice(job.has_benchmark() ? job.benchmark().run().device() : job.run().device(),
                      {.target = *std::move(target),
                       .abi = static_cast<uint32_t>(std::max(1, facts.abi())),
                       .format = static_cast<uint32_t>(std::max(1, facts.format())),
                       .is_compiled_here = facts.compiled(),
                       .benchmark = facts.benchmark()});
}

NeedKind KindOf(const Need& need) {
  if (std::holds_alternative<CompilerNeed>(need)) return NeedKind::kWorker;
  const DeviceNeed& device = std::get<DeviceNeed>(need);
  return device.device.empty() || device.selector.has_value() ? NeedKind::kAnyDevice
                                                              : NeedKind::kNamedDevice;
}

bool Waits(const LiveJob& job) {
  return job.record.job().state() == v1::Job::QUEUED && job.need.has_value();
}

// What a need is made of that can change while its job lives.
bool HasSameCompiler(const JobRecord& a, const JobRecord& b) {
  return a.compilation().fingerprint() == b.compilation().fingerprint();
}

}  // namespace

void LiveJobs::Put(JobRecord record) {
  const std::string id = record.job().id();
  if (IsTerminal(record.job().state())) return Forget(id);
  auto it = jobs_.find(id);
  if (it != jobs_.end()) Unindex(it->second);
  if (it == jobs_.end()) {
    it = jobs_.emplace(id, LiveJob{.record = {}, .need = NeedOf(record)}).first;
  } else if (!HasSameCompiler(it->second.record, record)) {
    it->second.need = NeedOf(record);
  }
  it->second.record = std::move(record);
  Index(it->second);
}

int64_t LiveJobs::CountOf(v1::Job::Kind kind, v1::Job::State state) const {
  const auto found = sums_.find({kind, state});
  return found == sums_.end() ? 0 : found->second;
}

std::string LiveJobs::FirstWaitingFor(NeedKind need) const {
  if (WaitingFor(need) == 0) return "";
  for (const auto& [id, job] : jobs_) {
    if (Waits(job) && KindOf(*job.need) == need) return id;
  }
  return "";
}

void LiveJobs::Sum(const LiveJob& job, int sign) {
  const v1::Job& record = job.record.job();
  const auto sum = sums_.try_emplace({KindOf(record), record.state()}, 0).first;
  if ((sum->second += sign) == 0) sums_.erase(sum);
  if (Waits(job)) waiting_for_[static_cast<size_t>(KindOf(*job.need))] += sign;
}

int64_t LiveJobs::bytes_of_owner(absl::string_view owner) const {
  const auto found = bytes_of_owner_.find(std::string(owner));
  return found == bytes_of_owner_.end() ? 0 : found->second;
}

void LiveJobs::SumHeld(const JobRecord& record, int sign) {
  if (!record.has_lease() && record.held_ns() == 0) return;
  const std::pair<std::string, HeldKind> key(record.job().owner(), HeldKindOf(record));
  HeldSum& sum = held_time_[key];
  sum.before += sign * absl::Nanoseconds(record.held_ns());
  if (record.has_lease()) {
    sum.holding += sign;
    sum.since += sign * absl::Nanoseconds(record.lease().begin_time_ns());
  }
  if (sum.holding == 0 && sum.before == absl::ZeroDuration()) held_time_.erase(key);
}

absl::Duration LiveJobs::HeldTime(absl::string_view owner, HeldKind kind, absl::Time now) const {
  const auto found = held_time_.find({std::string(owner), kind});
  if (found == held_time_.end()) return absl::ZeroDuration();
  const HeldSum& sum = found->second;
  const absl::Duration holding = sum.holding * (now - absl::UnixEpoch()) - sum.since;
  // The clock may have been set back meanwhile.
  return sum.before + std::max(holding, absl::ZeroDuration());
}

void LiveJobs::Index(const LiveJob& job) {
  const JobRecord& record = job.record;
  Sum(job, +1);
  SumHeld(record, +1);
  const std::string& id = record.job().id();
  const auto bytes = static_cast<int64_t>(record.ByteSizeLong());
  size_bytes_ += bytes;
  bytes_of_owner_[record.job().owner()] += bytes;
  if (absl::optional<server::NextDeadline> due = DeadlineOf(record))
    deadlines_.insert({due->time, id});
  if (record.has_compilation()) {
    const std::string& group = record.compilation().group();
    if (group.empty()) {
      ++ungrouped_compilations_;
    } else {
      by_group_[group].insert(id);
    }
  }
  if (record.job().state() == v1::Job::QUEUED) {
    if (!job.need.has_value()) return;
    waiting_.Put({.id = id,
                  .owner = record.job().owner(),
                  .priority = record.job().priority(),
                  .need = *job.need,
                  .not_before = absl::FromUnixNanos(record.not_before_ns()),
                  .longest = absl::Nanoseconds(record.job().deadlines().run_ns())});
  } else {
    ++held_[record.job().owner()];
    by_attempt_[record.lease().id()].insert(id);
    by_holder_[record.lease().holder()].insert(record.lease().id());
  }
}

void LiveJobs::Unindex(const LiveJob& job) {
  const JobRecord& record = job.record;
  Sum(job, -1);
  SumHeld(record, -1);
  const std::string& id = record.job().id();
  const auto bytes = static_cast<int64_t>(record.ByteSizeLong());
  size_bytes_ -= bytes;
  const auto of_owner = bytes_of_owner_.find(record.job().owner());
  if ((of_owner->second -= bytes) == 0) bytes_of_owner_.erase(of_owner);
  if (absl::optional<server::NextDeadline> due = DeadlineOf(record))
    deadlines_.erase({due->time, id});
  if (record.has_compilation()) {
    const std::string& group = record.compilation().group();
    if (group.empty()) {
      --ungrouped_compilations_;
    } else {
      Erase(by_group_, group, id);
    }
  }
  if (record.job().state() == v1::Job::QUEUED) {
    waiting_.Erase(id);
  } else {
    const auto held = held_.find(record.job().owner());
    if (--held->second == 0) held_.erase(held);
    Erase(by_attempt_, record.lease().id(), id);
    // Others may share the attempt.
    if (!by_attempt_.contains(record.lease().id())) {
      Erase(by_holder_, record.lease().holder(), record.lease().id());
    }
  }
}

void LiveJobs::Forget(absl::string_view id) {
  auto it = jobs_.find(id);
  if (it == jobs_.end()) return;
  Unindex(it->second);
  jobs_.erase(it);
}

const LiveJob* LiveJobs::Find(absl::string_view id) const {
  auto it = jobs_.find(id);
  return it == jobs_.end() ? nullptr : &it->second;
}

std::vector<std::string> LiveJobs::JobsOfAttempt(absl::string_view attempt_id) const {
  return Read(by_attempt_, attempt_id);
}

std::vector<std::string> LiveJobs::AttemptsOf(absl::string_view holder) const {
  return Read(by_holder_, holder);
}

std::vector<std::string> LiveJobs::Holders() const {
  std::vector<std::string> holders;
  for (const auto& [holder, attempts] : by_holder_) holders.push_back(holder);
  return holders;
}

std::vector<std::string> LiveJobs::JobsOfGroup(absl::string_view group) const {
  return Read(by_group_, group);
}

int LiveJobs::CompilationsWanted() const {
  return static_cast<int>(by_group_.size() + ungrouped_compilations_);
}

absl::optional<LiveJobs::Due> LiveJobs::NextDeadline() const {
  if (deadlines_.empty()) return absl::nullopt;
  return Due{deadlines_.begin()->first, deadlines_.begin()->second};
}

std::vector<std::string> LiveJobs::QueuedCompilations() const {
  std::vector<std::string> ids;
  for (const auto& [id, job] : jobs_) {
    if (job.record.has_compilation() && waiting_.Contains(id)) ids.push_back(id);
  }
  return ids;
}

absl::flat_hash_set<Digest> LiveJobs::NeededBlobs() const {
  absl::flat_hash_set<Digest> needed;
  for (const auto& [id, job] : jobs_) {
    for (const v1::Digest& digest : job.record.blobs()) {
      absl::StatusOr<Digest> parsed = FromProto(digest);
      if (parsed.ok()) needed.insert(*std::move(parsed));
    }
  }
  return needed;
}

}  // namespace slipway::server
