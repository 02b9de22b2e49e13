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

// gRPC asks for one name, and logs that another one comes; for a given authority, the name is that in the address.
void ApplyNames(const CallerProof& proof, const std::vector<std::string>& names,
                grpc::ChannelArguments& arguments);

// The names of the server that the proof is for, and of the agent of a device of its: of who joined by the name that the device's id
// begins with (server/services/access.h), or of the server's own user, whose agents may have any.
std::vector<std::string> ServerNames();
std::vector<std::string> AgentNames(absl::string_view device);

// What a server proves itself with, and what it holds callers against, in PEM.
struct ServerFiles {
  // All three are in an identity file.
  static ServerFiles Of(const std::string& identity_file) {
    return {.certificate = identity_file, .key = identity_file, .authorities = identity_file};
  }

  std::string certificate;  // With those between it and its authority.
  std::string key;
  std::string authorities;  // Of callers.
};

// Whether he may connect of whose certificate this URI says who he is (kSlipwayUriPrefix), or with the empty one who has no
// certificate; called on gRPC's threads.
using MayConnect = std::function<bool(absl::string_view uri)>;

// Of a server; files are read anew when they change. A caller without a certificate, unless the server `takes_tokens`, or with one that
// says nothing of that kind, or what may not connect, gets no further than TLS.
std::shared_ptr<grpc::ServerCredentials> ServerCredentialsFor(const ServerFiles& files,
                                                              MayConnect may_connect,
                                                              bool takes_tokens);

// The id of the record that the certificate of a call's connection names, or a given identity has; empty when it was made with none.
std::string CallerIdentity(const grpc::AuthContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_CREDENTIALS_H_
