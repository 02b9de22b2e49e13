// How an identity is renewed by its own means; see renewal.h.
#ifndef SLIPWAY_CORE_RPC_GRPC_RENEWAL_H_
#define SLIPWAY_CORE_RPC_GRPC_RENEWAL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/rpc/grpc_calls.h"

namespace slipway {

// When the identity in that file is to be renewed: when a third of its time is left. Errors of ReadIdentity.
absl::StatusOr<absl::Time> RenewalTime(const std::string& identity_file);

// Gets a certificate for a new key, by `calls` that prove the old one, and puts both in the file's place. Errors of the call and of WriteIdentity.
absl::Status Renew(Calls& calls, const std::string& identity_file);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_RENEWAL_H_
