// Duplex: one end of a call that streams messages both ways, as bytes that are not copied.
//
// Served calls and made ones look alike to whoever uses them: a device agent takes sessions from clients that call it
// and through calls that it makes itself, and a server passes messages from one end to another.
#ifndef SLIPWAY_CORE_RPC_GRPC_DUPLEX_H_
#define SLIPWAY_CORE_RPC_GRPC_DUPLEX_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace slipway {

// Who uses an end. Called on gRPC's threads, one call at a time but for OnRoom; must not wait.
class DuplexUser {
 public:
  virtual ~DuplexUser() = default;
  // The message that ReadNext asked for.
  virtual void OnMessage(absl::Cord message) = 0;
  // After a Send that returned false: there is room again.
  virtual void OnRoom() {}
  // The other side has ended the call, it broke, or what End had to send was sent. The last that is called. Of a call
  // that was made, the status is its end.
  virtual void OnGone(const absl::Status& status) = 0;
};

// Thread-safe. No method waits. It lives until OnGone at least.
class Duplex {
 public:
  virtual ~Duplex() = default;
  // Writes a message behind those before it; messages that gather while one is written go out as one, but none behind
  // one with data. False when so much waits to be written that the sender should wait for OnRoom.
  virtual bool Send(absl::Cord message, bool has_data) = 0;
  // The next message may come; once for each.
  virtual void ReadNext() = 0;
  // Ends the call when what was sent is written: a served one with this status; a made one, when it is OK, by saying
  // that no more comes, and otherwise at once. Nothing is sent after it.
  virtual void End(const absl::Status& status) = 0;
  // Ends the call, if it has not, though what was sent may not be written: the other side may never read. A served one
  // waits for the message that is being written.
  virtual void Break() = 0;
};

using ServedDuplex = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

// For a served call: what its method returns to gRPC is put into `*reactor`.
std::shared_ptr<Duplex> ServeDuplex(std::shared_ptr<DuplexUser> user, ServedDuplex** reactor);

// Calls `method`, "/package.Service/Method". `context` is made for this call alone.
std::shared_ptr<Duplex> CallDuplex(std::shared_ptr<DuplexUser> user,
                                   const std::shared_ptr<grpc::Channel>& channel,
                                   const std::string& method,
                                   std::unique_ptr<grpc::ClientContext> context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_DUPLEX_H_
