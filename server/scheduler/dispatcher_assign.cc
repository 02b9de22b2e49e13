// Dispatcher: giving waiting jobs to peers.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/compile_key.h"
#include "core/base/utf8.h"
#include "core/wire/status_proto.h"
#include "server/jobs/job_state.h"
#include "server/limits.h"
#include "server/scheduler/dispatcher.h"
#include "server/scheduler/scheduler.h"

namespace slipway::server {
namespace {

// What an attempt may take: the job's run deadline, or what is left of its total one.
absl::Duration AttemptDeadline(const v1::Job& job, absl::Time now) {
  const absl::Time end =
      absl::FromUnixNanos(job.create_time_ns()) + absl::Nanoseconds(job.deadlines().total_ns());
  return std::max(absl::Milliseconds(1),
                  std::min(absl::Nanoseconds(job.deadlines().run_ns()), end - now));
}

constexpr size_t kMaxLineBytes = 512;

// The last line that says anything, as messages carry it.
std::string LastLine(absl::string_view text) {
  text = absl::StripTrailingAsciiWhitespace(text);
  const size_t end = text.rfind('\n');
  const std::string line = ToUtf8(
      absl::StripAsciiWhitespace(end == absl::string_view::npos ? text : text.substr(end + 1)));
  return std::string(Utf8Prefix(line, kMaxLineBytes));
}

}  // namespace

void Dispatcher::Schedule() {
  live_.Release(parts_.clock->Now());
  // Whoever came free looks for work; work that came looks for whoever is free.
  for (const std::string& peer : std::exchange(to_fill_, {})) {
    if (Fill(peer)) {
      free_.Put(peer, peers_.Find(peer)->supply);
    } else {
      free_.Erase(peer);
    }
  }
  for (const Need& need : live_.TakeEntered()) {
    absl::optional<std::string> peer = free_.Next(need, "");
    while (peer.has_value() && live_.waiting().IsWanted(need)) {
      if (!Fill(*peer)) free_.Erase(*peer);
      peer = free_.Next(need, *peer);
    }
  }
}

bool Dispatcher::Fill(const std::string& key) {
  const RegisteredPeer* peer = peers_.Find(key);
  if (peer == nullptr || peers_.table().IsLost(key, parts_.clock->Monotonic())) return false;
  if (OfferFor(key) != nullptr) return false;
  const DeviceSupply* const device = DeviceOf(*peer);
  const Opening opening = device == nullptr ? Opening() : OpeningOfDevice(device->device);
  if (opening.is_closed) return false;
  for (int taken = TakenPlaces(key); taken < peer->capacity; ++taken) {
    const absl::optional<std::string> job =
        live_.waiting().Pick(peer->supply, live_.held(), opening);
    if (!job.has_value()) return true;
    Assign(*job, key);
  }
  return false;
}

int Dispatcher::TakenPlaces(const std::string& key) {
  absl::btree_set<std::string> attempts = peers_.Find(key)->active;
  for (std::string& attempt : live_.AttemptsOf(key)) attempts.insert(std::move(attempt));
  return static_cast<int>(attempts.size());
}

void Dispatcher::Assign(const std::string& job_id, const std::string& peer) {
  const absl::Time now = parts_.clock->Now();
  const JobRecord& record = live_.Find(job_id)->record;
  // Those that share the attempt may have more time.
  const std::vector<std::string> group = live_.JobsOfGroup(record.compilation().group());
  absl::Duration deadline = AttemptDeadline(record.job(), now);
  for (const std::string& id : group) {
    deadline = std::max(deadline, AttemptDeadline(live_.Find(id)->record.job(), now));
  }
  if (record.has_compilation()) {
    counters_.set_artifact_cache_misses(counters_.artifact_cache_misses() + 1);
  }
  const DeviceSupply* device = DeviceOf(*peers_.Find(peer));
  Transit(job_id,
          Assigned{.attempt_id = parts_.ids->Next(now),
                   .holder = peer,
                   .assignee = device != nullptr ? device->device : std::string(IdOfKey(peer)),
                   .instance_id = peers_.table().Find(peer)->instance_id,
                   .deadline = deadline});
  for (const std::string& id : group) {
    if (id != job_id) JoinGroup(id);
  }
}

void Dispatcher::RekeyCompilations(const TargetFingerprints& targets) {
  for (const std::string& id : live_.QueuedCompilations()) {
    const auto target = targets.find(std::get<CompilerNeed>(*live_.Find(id)->need).family);
    if (target != targets.end()) Rekey(id, target->second);
  }
}

void Dispatcher::Rekey(const std::string& job_id, const std::string& fingerprint) {
  const JobRecord& record = live_.Find(job_id)->record;
  if (record.compilation().fingerprint() == fingerprint) return;
  const absl::StatusOr<std::string> key = CompileKey(record.job().compilation(), fingerprint);
  if (!key.ok()) return;  // Checked when it was accepted; its queue deadline ends it otherwise.
  CompilationFacts facts;
  facts.set_compile_key(*key);
  facts.set_fingerprint(fingerprint);
  if (!record.compilation().group().empty()) facts.set_group(*key);
  Transit(job_id, Rekeyed{std::move(facts)});
}

void Dispatcher::GiveUpCompilations(const std::vector<std::string>& job_ids) {
  if (failed_starts_ < kMaxFailedStarts || job_ids.empty()) return;
  // Families and fingerprints.
  absl::btree_set<std::pair<std::string, std::string>> there;
  for (const auto& [key, peer] : peers_.peers()) {
    const auto* targets = std::get_if<TargetFingerprints>(&peer.supply);
    if (targets == nullptr || peers_.table().IsLost(key, parts_.clock->Monotonic())) continue;
    there.insert(targets->begin(), targets->end());
  }
  for (const std::string& id : job_ids) {
    const LiveJob& job = *live_.Find(id);
    const auto& need = std::get<CompilerNeed>(*job.need);
    if (there.contains({need.family, need.fingerprint})) continue;
    const auto other = there.lower_bound({need.family, ""});
    if (other != there.end() && other->first == need.family) {
      Rekey(id, other->second);
      continue;
    }
    const std::string last_line = LastLine(last_words_);
    const absl::Status status = absl::UnavailableError(absl::StrCat(
        "nobody compiles for '", job.record.job().compilation().target().name(),
        "': of the server's own workers ", failed_starts_,
        " in a row have ended before they were ready, the last so: ", failed_start_,
        last_line.empty() ? "" : absl::StrCat(", saying '", last_line, "'"),
        "; mend what --worker of the server names, which is tried again twice a minute, or start a "
        "slipway-compile-worker with --server elsewhere, and compile again then"));
    Transit(id, GivenUp{ToProto(status, last_words_)});
  }
}

void Dispatcher::JoinGroup(const std::string& job_id) {
  const LiveJob* job = live_.Find(job_id);
  if (job == nullptr || !job->record.has_compilation() ||
      job->record.job().state() != v1::Job::QUEUED) {
    return;
  }
  for (const std::string& id : live_.JobsOfGroup(job->record.compilation().group())) {
    const JobRecord other = live_.Find(id)->record;
    if (!other.has_lease()) continue;
    Transit(job_id, Joined{.lease = other.lease(),
                           .assignee = other.job().assignee(),
                           .attempts = other.job().attempts()});
    counters_.set_compilations_coalesced(counters_.compilations_coalesced() + 1);
    if (other.job().state() == v1::Job::RUNNING) {
      Transit(job_id, Started{other.lease().id()});
    }
    return;
  }
}

}  // namespace slipway::server
