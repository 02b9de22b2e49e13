// How the two ends of a connection prove themselves to each other: TLS 1.3 with certificates of the server's own authority
// (core/identity), or not at all.
#ifndef SLIPWAY_CORE_RPC_GRPC_CREDENTIALS_H_
#define SLIPWAY_CORE_RPC_GRPC_CREDENTIALS_H_

#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/rpc/caller_proof.h"

namespace slipway {

// Of a caller, for all of the proof but its token: to who bears one of `names` (certificate_authority.h), whatever his address. The channel's
// arguments need ApplyNames as well.
std::shared_ptr<grpc::ChannelCredentials> CallerCredentials(const CallerProof& proof,
                                                            std::vector<std::string> names);

// gRPC asks for one name, and logs that another one comes.
void ApplyNames(const std::vector<std::string>& names, grpc::ChannelArguments& arguments);

// The names of the server that the proof is for, and of the agent of a device of its: of who joined by the name that the device's id
// begins with (server/services/access.h), or of the server's own user, whose agents may have any.
std::vector<std::string> ServerNames();
std::vector<std::string> AgentNames(absl::string_view device);

// Whether the identity of this id (identity_id.h), or with the empty one who has no certificate, may connect; called on gRPC's threads.
using MayConnect = std::function<bool(absl::string_view identity)>;

// Of a server: with the identity of that file, whose authority signed callers' certificates; read anew when it changes. A caller without
// a certificate, unless the server `takes_tokens`, or with one of an identity that may not connect, gets no further than TLS.
std::shared_ptr<grpc::ServerCredentials> ServerCredentialsFor(const std::string& identity_file,
                                                              MayConnect may_connect,
                                                              bool takes_tokens);

// Whose certificate a call's connection was made with; empty when with none.
std::string CallerIdentity(const grpc::AuthContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_CREDENTIALS_H_
