// SessionRelays: passes the messages of sessions on between clients and agents, both of which call the server.
#ifndef SLIPWAY_SERVER_SERVICES_SESSION_RELAY_H_
#define SLIPWAY_SERVER_SERVICES_SESSION_RELAY_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "core/rpc/grpc_duplex.h"
#include "server/change_hub.h"
#include "server/handlers/environment.h"
#include "server/jobs/job_record.pb.h"
#include "server/services/calls.h"
#include "server/timer_queue.h"
#include "server/work_pool.h"

namespace slipway::server {

class SessionRelay;

// The session of that ticket, for a caller who may speak for the device that has it. NOT_FOUND when it has ended, too;
// PERMISSION_DENIED.
absl::StatusOr<JobRecord> FindSessionOfDevice(const Caller& caller, const Environment& env,
                                              const std::string& session, absl::string_view ticket);

// Thread-safe. No thread waits for a session: messages go on where they come in.
class SessionRelays : public std::enable_shared_from_this<SessionRelays> {
 public:
  // Not owned; outlive whatever a relay still does.
  struct Parts {
    WorkPool* pool = nullptr;
    const Environment* env = nullptr;
    ChangeHub* hub = nullptr;
    TimerQueue* timers = nullptr;
  };
  SessionRelays(const Calls* calls, Parts parts)
      : calls_(*calls), audit_(calls->audit()), parts_(parts) {}

  // When the server begins: sessions that wait in line leave it if their clients do not come back in time.
  absl::Status Recover();

  // Calls of SessionService.Open and AgentService.Attach.
  ServedDuplex* Open(grpc::CallbackServerContext* context);
  ServedDuplex* Attach(grpc::CallbackServerContext* context);

  // When nobody is there any more.
  void Forget(const SessionRelay& relay);

 private:
  // The relay of a session, made if there is none.
  std::shared_ptr<SessionRelay> Find(const std::string& session);

  const Calls& calls_;
  const CallAudit audit_;
  const Parts parts_;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<SessionRelay>> relays_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_SESSION_RELAY_H_
