// Whether a selector means anything to whom a session is asked of.
#ifndef SLIPWAY_CLIENT_SESSION_GRPC_SELECTOR_CHECK_H_
#define SLIPWAY_CLIENT_SESSION_GRPC_SELECTOR_CHECK_H_

#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "core/rpc/caller_proof.h"

namespace slipway {

// OK for an id. INVALID_ARGUMENT as Selector::Parse; FAILED_PRECONDITION when a server answers that knows devices by their ids alone. Who does not
// answer, or is no server but an agent, is not judged: opening the session says more.
absl::Status CheckSelector(const std::string& device, const std::string& address,
                           const CallerProof& proof, std::stop_token stop);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_GRPC_SELECTOR_CHECK_H_
