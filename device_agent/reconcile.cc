#include "device_agent/reconcile.h"

#include <algorithm>
#include <set>

namespace slipway {
namespace {

constexpr absl::Duration kLongestAway = absl::Minutes(1);

}  // namespace

bool IsActive(const v1::RunAttemptState& attempt) {
  return attempt.state() == v1::RunAttemptState::PREPARING ||
         attempt.state() == v1::RunAttemptState::RUNNING;
}

bool IsAtStake(const HeldAttempts& held, bool was_at_stake) {
  if (held.empty()) return false;
  return was_at_stake || std::any_of(held.begin(), held.end(),
                                     [](const auto& held) { return IsActive(held.second); });
}

absl::Duration TimeAway(const absl::Status& status, const HeldAttempts& held,
                        const v1::DesiredAgentState& desired, double share) {
  if (!absl::IsUnavailable(status) || !held.empty()) return absl::ZeroDuration();
  const absl::Duration all = absl::Nanoseconds(desired.return_within_ns());
  return std::clamp(all, absl::ZeroDuration(), kLongestAway) * share;
}

AgentActions Reconcile(const HeldAttempts& held, const v1::DesiredAgentState& desired,
                       const v1::AgentUpdate* update) {
  AgentActions actions;
  std::set<std::string> wanted;
  for (const v1::RunAssignment& assignment : desired.attempts()) {
    wanted.insert(assignment.attempt_id());
  }
  bool is_busy = false;
  for (const auto& [id, attempt] : held) {
    is_busy = is_busy || IsActive(attempt);
    if (wanted.count(id) > 0) continue;
    (IsActive(attempt) ? actions.stop : actions.forget).push_back(id);
  }
  for (int i = 0; i < desired.attempts_size() && !is_busy; ++i) {
    if (held.count(desired.attempts(i).attempt_id()) > 0) continue;
    actions.start.push_back(i);
    is_busy = true;
  }
  actions.takes_offer = update != nullptr && desired.has_offer() &&
                        desired.offer().id() != update->failed() &&
                        actions.forget.size() == held.size() && desired.attempts().empty();
  return actions;
}

}  // namespace slipway
