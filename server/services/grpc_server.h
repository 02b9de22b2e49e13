// GrpcServer: the listening server with all services.
#ifndef SLIPWAY_SERVER_SERVICES_GRPC_SERVER_H_
#define SLIPWAY_SERVER_SERVICES_GRPC_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/rpc/grpc_credentials.h"
#include "core/rpc/grpc_listener.h"
#include "server/audit/audit_log.h"
#include "server/change_hub.h"
#include "server/handlers/environment.h"
#include "server/handlers/status.h"
#include "server/scheduler/dispatcher.h"
#include "server/services/admission.h"
#include "server/services/call_counts.h"
#include "server/timer_queue.h"
#include "server/work_pool.h"

namespace slipway::server {

// Serves from construction to destruction.
class GrpcServer {
 public:
  struct Options {
    std::string listen;  // "HOST:PORT" or "unix:PATH"; port 0 takes a free one.
    // The server's (core/identity/identity_file.h): it is called over TLS, by those whom env->identities knows. Empty: by
    // everybody who reaches it.
    std::string identity_file;
    // For who calls the server by the name in its address; no certificate: for nobody. Without authorities, callers are those of
    // the server's own, and else given identities (core/identity/given_identity.h).
    ServerFiles given;
    // Whether those who show a token may come without a certificate.
    bool takes_tokens = false;
    std::string own_worker;  // The secret of this server's own workers; empty: there are none.
    ListenerOptions listener;
  };
  // Parts must outlive the server.
  struct Parts {
    const Environment* env = nullptr;
    ChangeHub* hub = nullptr;
    TimerQueue* timers = nullptr;
    WorkPool* pool = nullptr;
    WorkPool* peer_pool = nullptr;  // For calls of agents and workers.
    AuditLog* audit = nullptr;
  };
  // UNAVAILABLE when the address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const Parts& parts,
                                                           const Options& options);
  virtual ~GrpcServer() = default;

  // Ends the connections of those who were revoked, soon. Thread-safe.
  virtual void EndUnwelcome() = 0;
  // What this alone knows of what the server does. Thread-safe, as the next.
  virtual FrontSums Front() const = 0;
  virtual const CallCounts& calls() const = 0;
  // GrpcListener::accepted and Knock.
  virtual int64_t accepted() const = 0;
  virtual void Knock() const = 0;

  // What clients connect to: as `listen`, with the port taken.
  virtual const std::string& address() const = 0;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_GRPC_SERVER_H_
