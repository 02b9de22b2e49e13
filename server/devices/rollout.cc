#include "server/devices/rollout.h"

namespace slipway::server {

RolloutPlan PlanRollout(const v1::AgentOffer& offer, absl::Span<const RolloutAgent> agents) {
  RolloutPlan plan;
  v1::AgentRollout& rollout = plan.rollout;
  *rollout.mutable_offer() = offer;
  std::vector<const RolloutAgent*> waiting;
  for (const RolloutAgent& agent : agents) {
    const v1::AgentUpdate& update = agent.update;
    if (update.binary().sha256() == offer.binary().sha256()) {
      rollout.set_updated(rollout.updated() + 1);
    } else if (update.failed() == offer.id()) {
      rollout.set_failed(rollout.failed() + 1);
      rollout.set_failed_device(agent.device);
      rollout.set_failure(update.failure());
    } else if (update.taking() == offer.id() || (agent.was_told && !agent.is_lost)) {
      rollout.set_under_way(rollout.under_way() + 1);
      plan.told.push_back(agent.key);
    } else {
      rollout.set_waiting(rollout.waiting() + 1);
      if (!agent.is_lost) waiting.push_back(&agent);
    }
  }
  rollout.set_halted(rollout.failed() >= offer.max_failures());
  if (rollout.halted()) return plan;
  for (const RolloutAgent* agent : waiting) {
    if (rollout.under_way() >= offer.at_once()) break;
    rollout.set_under_way(rollout.under_way() + 1);
    rollout.set_waiting(rollout.waiting() - 1);
    plan.told.push_back(agent->key);
  }
  return plan;
}

}  // namespace slipway::server
