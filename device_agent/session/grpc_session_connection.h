// GrpcSessionConnection: a session's connection over one end of a call, whoever made it.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_GRPC_SESSION_CONNECTION_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_GRPC_SESSION_CONNECTION_H_

#include <grpcpp/alarm.h>

#include <atomic>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/rpc/grpc_duplex.h"
#include "device_agent/session/session_connection.h"
#include "device_agent/session/session_entrance.h"

namespace slipway {

class GrpcSessionConnection final : public SessionConnection,
                                    public DuplexUser,
                                    public std::enable_shared_from_this<GrpcSessionConnection> {
 public:
  // What comes first goes to `entrance`, which outlives the call. `gone`, if any, is told the call's end.
  explicit GrpcSessionConnection(SessionEntrance* entrance,
                                 std::function<void(const absl::Status&)> gone = nullptr)
      : entrance_(entrance), gone_(std::move(gone)) {}
  // Call once, before anything else. Who has said nothing after `patience` is ended in DEADLINE_EXCEEDED.
  void Begin(std::shared_ptr<Duplex> duplex, absl::Duration patience = absl::InfiniteDuration());

  void Attached(std::shared_ptr<SessionHost> host) override;
  void Send(absl::Cord message, bool has_data) override;
  void ReadNext() override;
  void End(const absl::Status& status) override;
  // Ends it though what was sent may not be written.
  void Break();

 private:
  void OnMessage(absl::Cord message) override;
  void OnGone(const absl::Status& status) override;
  std::shared_ptr<Duplex> duplex() const;
  void AwaitFirst(absl::Duration patience);

  SessionEntrance* const entrance_;
  const std::function<void(const absl::Status&)> gone_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<Duplex> duplex_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<SessionHost> host_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> has_spoken_{false};
  grpc::Alarm alarm_;  // Until the first message.
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_GRPC_SESSION_CONNECTION_H_
