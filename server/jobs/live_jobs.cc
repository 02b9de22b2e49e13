#include "server/jobs/live_jobs.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "core/target/target.h"
#include "core/wire/digest_proto.h"

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

ProgramNeeds NeedsOf(const RunFacts& facts) {
  ProgramNeeds needs{.abi = static_cast<uint32_t>(std::max(1, facts.abi())),
                     .format = static_cast<uint32_t>(std::max(1, facts.format()))};
  absl::StatusOr<Target> target = ParseTarget(facts.target());
  if (target.ok()) needs.target = *std::move(target);
  return needs;
}

}  // namespace

void LiveJobs::Put(JobRecord record) {
  const std::string id = record.job().id();
  if (IsTerminal(record.job().state())) return Forget(id);
  auto it = jobs_.find(id);
  if (it != jobs_.end()) Unindex(it->second.record);
  if (it == jobs_.end()) {
    it = jobs_.emplace(id, LiveJob{}).first;
    if (record.has_run()) {
      it->second.program = NeedsOf(record.run());
    }
    if (record.has_compilation()) {
      const auto target = ParseTarget(record.job().compilation().target().name());
      if (target.ok()) it->second.family = FamilyOf(*target);
    }
  }
  it->second.record = std::move(record);
  Index(it->second.record);
}

void LiveJobs::Index(const JobRecord& record) {
  const std::string& id = record.job().id();
  size_bytes_ += static_cast<int64_t>(record.ByteSizeLong());
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
    (record.has_compilation() ? queued_compilations_ : queued_runs_).insert(id);
    if (record.not_before_ns() > 0) {
      delayed_.insert({absl::FromUnixNanos(record.not_before_ns()), id});
    }
  } else {
    by_attempt_[record.attempt().id()].insert(id);
    by_holder_[record.attempt().holder()].insert(record.attempt().id());
  }
}

void LiveJobs::Unindex(const JobRecord& record) {
  const std::string& id = record.job().id();
  size_bytes_ -= static_cast<int64_t>(record.ByteSizeLong());
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
    queued_compilations_.erase(id);
    queued_runs_.erase(id);
    delayed_.erase({absl::FromUnixNanos(record.not_before_ns()), id});
  } else {
    Erase(by_attempt_, record.attempt().id(), id);
    // Others may share the attempt.
    if (!by_attempt_.contains(record.attempt().id())) {
      Erase(by_holder_, record.attempt().holder(), record.attempt().id());
    }
  }
}

void LiveJobs::Forget(absl::string_view id) {
  auto it = jobs_.find(id);
  if (it == jobs_.end()) return;
  Unindex(it->second.record);
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

absl::optional<absl::Time> LiveJobs::NextNotBefore(absl::Time now) const {
  for (auto it = delayed_.lower_bound({now, ""}); it != delayed_.end(); ++it) {
    if (it->first > now) return it->first;
  }
  return absl::nullopt;
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
