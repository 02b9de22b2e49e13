// GrpcListener: lets connections in to a gRPC server.
//
// gRPC's own listening stops for good once the process has run out of descriptors, and it takes memory for every connection
// from its first moment. Here a connection costs its socket until it has sent something, and connections are counted:
// some descriptors are always left for files. Where callers prove themselves by TLS, what they send first is looked at before
// gRPC gets it (client_hello.h), and who proves nothing is ended soon (unproven_connections.h).
#ifndef SLIPWAY_CORE_RPC_GRPC_LISTENER_H_
#define SLIPWAY_CORE_RPC_GRPC_LISTENER_H_

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <climits>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/files.h"
#include "core/rpc/call_flood.h"
#include "core/rpc/connection_table.h"
#include "core/rpc/listener_counts.h"

namespace slipway {

struct ListenerOptions {
  ConnectionLimits connections;  // That have sent something.
  // That have not, or wait until gRPC can take them. When there are more, one is closed, of the address that has most of them the one that came
  // first: whoever means it sends at once.
  int most_silent = 1024;
  // A connection that has sent nothing for this long is closed.
  absl::Duration silence = absl::Seconds(10);

  // Whether another connection may be let in; null: it may. Called on the listener's thread, shall not wait.
  std::function<bool()> may_take;

  // Callers must prove themselves by TLS: connections that do not begin so are closed.
  bool is_tls = false;
  // With that: connections from which no call has come. Each is ended after `proof`, the first one earlier where there are more.
  int most_unproven = 1'000;
  absl::Duration proof = absl::Seconds(10);
  // With that: connections at a time of all who have proven to be the same.
  int most_of_identity = INT_MAX;
  // With that: told of callers who flood it with calls (call_flood.h), when their connections are ended, on the listener's thread; shall not wait
  // long. `identity` is empty for who has shown no certificate, `address` is one of those he called from, as grpc::ServerContext::peer tells.
  // Null: nobody is looked at.
  std::function<void(absl::string_view identity, absl::string_view address)> on_flood;
  CallFloodLimits flood;
  // Whoever did is not let in for so long.
  absl::Duration flood_ban = absl::Minutes(1);
  // With that: whether who has proven to be `identity` may stay. Null: everybody.
  std::function<bool(absl::string_view identity)> may_stay;
  // With that: takes connections that are made for joining (kJoinProtocol), and where they come from, as GrpcPeerOf tells; called on the
  // listener's thread, shall not wait. Null: they are closed.
  std::function<void(UniqueFd, std::string origin)> on_join;

  // With that: another HOST:PORT to listen at, where proxies pass connections on, each after a header that says where it comes from
  // (proxy_header.h): what is counted by address is counted by that. Empty: none.
  std::string proxied_address;
  // The machines of these proxies, as MachineOf tells them; connections of others are closed unread.
  std::vector<std::string> proxies;
};

// What a process with this limit on descriptors (descriptor_limit.h) may let in: three quarters of it, and no more than
// `most`. From one address of another machine, a quarter of that; as many of those let in may be unproven. Three quarters may be one
// identity's, so that others always have the rest.
ListenerOptions ListenerOptionsFor(int descriptor_limit, int most);

// Lets in from Start to Stop. Those let in stay with the server.
class GrpcListener {
 public:
  // Listens, and makes `builder` a server that takes connections from this. Over TLS, those who call it by another name than
  // kServerCertificateName get the credentials `by_other_names`, if there are any. Errors of ListenAt.
  static absl::StatusOr<std::unique_ptr<GrpcListener>> Listen(
      const std::string& address, const ListenerOptions& options, grpc::ServerBuilder& builder,
      std::shared_ptr<grpc::ServerCredentials> credentials,
      std::shared_ptr<grpc::ServerCredentials> by_other_names = nullptr);
  virtual ~GrpcListener() = default;

  // To be called once, when the server runs.
  virtual void Start() = 0;

  // Nobody is let in after this. To be called before the server is shut down; the destructor does it, too.
  virtual void Stop() = 0;

  // A call of `identity` came from there, as grpc::ServerContext::peer tells: its connection is proven. RESOURCE_EXHAUSTED when the identity,
  // which may be empty, has too many: the connection ends when that has been answered. Thread-safe.
  virtual absl::Status LetInCall(absl::string_view grpc_peer, absl::string_view identity) = 0;

  // Whether the identity has flooded the server with calls, and may not come back yet. The empty one did when somebody of this machine has who has
  // no certificate: of others, the address is not let in. Thread-safe.
  virtual bool IsBanned(absl::string_view identity) = 0;

  // Where the connection comes from of which grpc::ServerContext::peer says so: what a proxy has said of it, else the same. Thread-safe.
  virtual std::string OriginOf(absl::string_view grpc_peer) const = 0;

  // Ends the connections of those who may not stay any more, `after` that. Thread-safe; returns at once.
  virtual void EndUnwelcome(absl::Duration after) = 0;

  // Connections so far that came from whomever, and whatever became of them. Thread-safe.
  virtual int64_t accepted() const = 0;
  // What is known of all connections. Looks at each that is held. Thread-safe.
  virtual ListenerCounts counts() = 0;
  // Connects to each socket that this listens at, says nothing and leaves. Thread-safe; does not wait.
  virtual void Knock() const = 0;

  // What clients connect to: as given, with the port taken.
  virtual const std::string& address() const = 0;
  // What proxies connect to; empty where there are none.
  virtual const std::string& proxied_address() const = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_LISTENER_H_
