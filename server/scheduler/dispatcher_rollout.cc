// Dispatcher: which agents are told of what is offered to them.

#include <string>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "server/devices/rollout.h"
#include "server/peers/protocol.h"
#include "server/scheduler/dispatcher.h"
#include "server/scheduler/dispatcher_section.h"

namespace slipway::server {
namespace {

// So that a fleet which comes back at once is planned for once.
constexpr absl::Duration kPlanWithin = absl::Seconds(1);

}  // namespace

bool Dispatcher::Offer::IsFor(const RegisteredPeer& agent) const {
  const v1::AgentOffer& offer = record->offer();
  if (!agent.update.has_value() || agent.update->platform() != offer.platform()) return false;
  if (offer.selector().empty()) return true;
  if (!selector.has_value()) return agent.description.id() == offer.selector();
  return selector->Matches(*DeviceOf(agent)->attributes);
}

std::vector<RolloutAgent> Dispatcher::AgentsFor(const Offer& offer) {
  std::vector<RolloutAgent> agents;
  for (const auto& [key, peer] : peers_.peers()) {
    if (DeviceOf(peer) == nullptr || !offer.IsFor(peer)) continue;
    const std::shared_ptr<const AgentOfferRecord> told = OfferFor(key);
    agents.push_back(
        {.key = key,
         .device = peer.description.id(),
         .update = *peer.update,
         .is_lost = peers_.table().IsLost(key, parts_.clock->Monotonic()),
         .was_told = told != nullptr && told->offer().id() == offer.record->offer().id()});
  }
  return agents;
}

void Dispatcher::PlanRolloutsSoon() {
  if (offers_.empty() && told_.empty()) return;
  next_plan_ = std::min(next_plan_, parts_.clock->Monotonic() + kPlanWithin);
}

void Dispatcher::PlanRollouts() {
  next_plan_ = absl::InfiniteDuration();
  if (offers_.empty() && told_.empty()) return;
  absl::flat_hash_map<std::string, std::shared_ptr<const AgentOfferRecord>> told;
  for (const Offer& offer : offers_) {
    for (std::string& key : PlanRollout(offer.record->offer(), AgentsFor(offer)).told) {
      told[std::move(key)] = offer.record;
    }
  }
  const auto tell_changes = [this](const auto& from, const auto& to)
                                ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
                                  for (const auto& [key, record] : from) {
                                    const auto it = to.find(key);
                                    if (it != to.end() && it->second == record) continue;
                                    changed_.push_back(key);
                                    if (peers_.Find(key) != nullptr) to_fill_.insert(key);
                                  }
                                };
  tell_changes(told_, told);
  tell_changes(told, told_);
  told_ = std::move(told);
}

std::shared_ptr<const AgentOfferRecord> Dispatcher::OfferFor(absl::string_view peer) {
  const auto it = told_.find(peer);
  return it == told_.end() ? nullptr : it->second;
}

std::string Dispatcher::DesiredVersionOf(absl::string_view peer,
                                         std::vector<std::string> attempts) {
  const std::shared_ptr<const AgentOfferRecord> offer = OfferFor(peer);
  return DesiredVersion(std::move(attempts), log_level_of_peers_,
                        offer == nullptr ? "" : offer->offer().id());
}

void Dispatcher::SetOffers(const std::vector<AgentOfferRecord>& offers) {
  Section section(this);
  // One that stays is the same object, so that who was told of it is not told again.
  std::vector<Offer> next;
  for (const AgentOfferRecord& record : offers) {
    Offer& offer = next.emplace_back();
    for (const Offer& known : offers_) {
      if (known.record->offer().id() == record.offer().id()) offer = known;
    }
    if (offer.record != nullptr) continue;
    offer.record = std::make_shared<const AgentOfferRecord>(record);
    if (IsSelector(record.offer().selector())) {
      offer.selector = *Selector::Parse(record.offer().selector());
    }
    Log(LogLevel::kInfo, "agents are offered a binary",
        {{"platform", record.offer().platform()},
         {"version", record.offer().version()},
         {"binary", record.offer().binary().sha256()},
         {"by", record.offer().by()}});
  }
  offers_ = std::move(next);
  PlanRollouts();
  Schedule();
}

std::vector<v1::AgentRollout> Dispatcher::Rollouts() {
  Section section(this);
  std::vector<v1::AgentRollout> rollouts;
  for (const Offer& offer : offers_) {
    rollouts.push_back(PlanRollout(offer.record->offer(), AgentsFor(offer)).rollout);
  }
  return rollouts;
}

}  // namespace slipway::server
