#include "server/scheduler/scheduler.h"

namespace slipway::server {

absl::optional<std::string> PickAssignment(const DeviceSnapshot& device,
                                           absl::Span<const RunCandidate> candidates,
                                           absl::Time now) {
  if (!device.present || device.attempts > 0) return absl::nullopt;
  for (const RunCandidate& candidate : candidates) {
    if (candidate.not_before > now) continue;
    if (!candidate.device.empty() && candidate.device != device.id) continue;
    if (!CheckCanRun(*candidate.program, *device.offer).ok()) continue;
    return candidate.job_id;
  }
  return absl::nullopt;
}

absl::optional<std::string> PickCompilation(const WorkerSnapshot& worker,
                                            absl::Span<const CompileCandidate> candidates,
                                            absl::Time now) {
  if (!worker.present || worker.attempts >= worker.capacity) return absl::nullopt;
  for (const CompileCandidate& candidate : candidates) {
    if (candidate.not_before > now) continue;
    const auto target = worker.targets->find(candidate.family);
    if (target == worker.targets->end() || target->second != candidate.fingerprint) continue;
    return candidate.job_id;
  }
  return absl::nullopt;
}

}  // namespace slipway::server
