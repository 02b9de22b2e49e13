#include "server/workers/worker_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/limits.h"
#include "server/names.h"
#include "server/peers/protocol.h"

namespace slipway::server {
namespace {

constexpr int kMaxCapacity = 1'000;

}  // namespace

WorkerRegistry::WorkerRegistry(absl::Duration silence) : peers_("worker", silence) {}

absl::StatusOr<ReportKind> WorkerRegistry::Report(const v1::WorkerState& state,
                                                  absl::string_view address, absl::Time wall,
                                                  absl::Duration now) {
  SLIPWAY_RETURN_IF_ERROR(CheckPeerId("worker_id", state.worker_id()));
  SLIPWAY_RETURN_IF_ERROR(CheckReportHeader({.instance_id = state.instance_id(),
                                             .version = state.version(),
                                             .applied_version = state.applied_version(),
                                             .min_protocol = state.min_protocol(),
                                             .max_protocol = state.max_protocol(),
                                             .attempts = state.attempts_size(),
                                             .park_ns = state.park_ns()}));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(TargetFingerprints targets, TargetFingerprintsOf(state),
                                absl::StrCat("worker '", state.worker_id(), "'"));
  if (state.capacity() < 1 || state.capacity() > kMaxCapacity) {
    return absl::InvalidArgumentError(absl::StrCat("worker '", state.worker_id(), "' has capacity ",
                                                   state.capacity(), "; 1 to ", kMaxCapacity,
                                                   " wanted"));
  }
  if (Find(state.worker_id()) == nullptr && workers_.size() >= kMaxPeers) {
    return absl::ResourceExhaustedError(
        absl::StrCat("this server knows ", workers_.size(), " workers and takes no more"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(ReportKind kind, peers_.Take({.id = state.worker_id(),
                                                         .instance_id = state.instance_id(),
                                                         .sequence = state.sequence(),
                                                         .address = std::string(address)},
                                                        now));
  if (kind == ReportKind::kOutdated) return kind;
  RegisteredWorker& worker = workers_[state.worker_id()];
  worker.targets = std::move(targets);
  worker.capacity = state.capacity();
  worker.last_seen = wall;
  worker.active.clear();
  for (const v1::CompileAttemptState& attempt : state.attempts()) {
    if (attempt.state() == v1::CompileAttemptState::RUNNING)
      worker.active.insert(attempt.attempt_id());
  }
  return kind;
}

const RegisteredWorker* WorkerRegistry::Find(absl::string_view id) const {
  auto it = workers_.find(id);
  return it == workers_.end() ? nullptr : &it->second;
}

void WorkerRegistry::ForgetUnseenSince(absl::Time time, absl::Duration now) {
  for (auto it = workers_.begin(); it != workers_.end();) {
    if (it->second.last_seen < time && peers_.IsLost(it->first, now)) {
      peers_.Forget(it->first);
      it = workers_.erase(it);
    } else {
      ++it;
    }
  }
}

void WorkerRegistry::Forget(absl::string_view id) {
  peers_.Forget(id);
  auto it = workers_.find(id);
  if (it != workers_.end()) workers_.erase(it);
}

}  // namespace slipway::server
