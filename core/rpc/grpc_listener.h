// GrpcListener: lets connections in to a gRPC server.
//
// gRPC's own listening stops for good once the process has run out of descriptors, and it takes memory for every connection
// from its first moment. Here a connection costs its socket until it has sent something, and connections are counted:
// some descriptors are always left for files.
#ifndef SLIPWAY_CORE_RPC_GRPC_LISTENER_H_
#define SLIPWAY_CORE_RPC_GRPC_LISTENER_H_

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/rpc/connection_table.h"

namespace slipway {

struct ListenerOptions {
  ConnectionLimits connections;  // That have sent something.
  // That have not. When there are more, the one that came first is closed: whoever means it sends at once.
  int most_silent = 1024;
  // A connection that has sent nothing for this long is closed.
  absl::Duration silence = absl::Seconds(10);
};

// What a process with this limit on descriptors (descriptor_limit.h) may let in: three quarters of it, and no more than
// `most`. From one address of another machine, a quarter of that.
ListenerOptions ListenerOptionsFor(int descriptor_limit, int most);

// Lets in from Start to destruction. Those let in stay with the server.
class GrpcListener {
 public:
  // Listens, and makes `builder` a server that takes connections from this. Errors of ListenAt.
  static absl::StatusOr<std::unique_ptr<GrpcListener>> Listen(
      const std::string& address, const ListenerOptions& options, grpc::ServerBuilder& builder,
      std::shared_ptr<grpc::ServerCredentials> credentials);
  virtual ~GrpcListener() = default;

  // To be called once, when the server runs.
  virtual void Start() = 0;

  // What clients connect to: as given, with the port taken.
  virtual const std::string& address() const = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_LISTENER_H_
