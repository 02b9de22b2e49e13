// What administrators offer agents: binaries to run in place of theirs.
#ifndef SLIPWAY_SERVER_HANDLERS_AGENT_OFFERS_H_
#define SLIPWAY_SERVER_HANDLERS_AGENT_OFFERS_H_

#include "absl/status/status.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "server/caller.h"
#include "server/handlers/environment.h"

namespace slipway::server {

absl::Status OfferAgent(const Caller& caller, const Environment& env,
                        const v1::OfferAgentRequest& request, v1::AgentOffer* response);
absl::Status ListAgentOffers(const Environment& env, v1::ListAgentOffersResponse* response);
absl::Status WithdrawAgentOffer(const Environment& env,
                                const v1::WithdrawAgentOfferRequest& request,
                                v1::AgentOffer* response);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_AGENT_OFFERS_H_
