// Calls: makes gRPC calls that end: each has a deadline, carries what proves who calls, is repeated while the server is
// away, and can be stopped from another thread.
#ifndef SLIPWAY_CORE_RPC_GRPC_CALLS_H_
#define SLIPWAY_CORE_RPC_GRPC_CALLS_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/rpc/caller_proof.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/retry.h"

namespace slipway {

// Enough for one message and its answer.
inline constexpr absl::Duration kCallDeadline = absl::Seconds(30);

// Thread-safe.
class Calls {
 public:
  using Call = absl::FunctionRef<grpc::Status(grpc::ClientContext&)>;

  // `server` is HOST:PORT or unix:PATH; connects when it is first used, and again when the connection was
  // lost. `on_waiting`, if any, is told why a call that failed is going to be
  // made again, once for each time of waiting that is long enough to be noticed. `pings` say how soon it is noticed that
  // the connection leads nowhere.
  Calls(std::string server, CallerProof proof,
        std::function<void(const absl::Status&)> on_waiting = nullptr, const Pings& pings = kPings);

  // What stubs are made of.
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // Makes `call` once. The deadline is the call's; policy.until may shorten it. A deadline that passed is
  // UNAVAILABLE, which names the server. CANCELLED after policy.stop, unless the call had succeeded.
  absl::Status Once(absl::Duration deadline, const RetryPolicy& policy, Call call);

  // Repeats `attempt`, which makes calls by Once, while it ends in UNAVAILABLE and `policy` allows;
  // `progressed` is false at its start, and true from it says that the attempt got somewhere before it failed.
  absl::Status Persist(const RetryPolicy& policy,
                       absl::FunctionRef<absl::Status(bool& progressed)> attempt);

  // Both.
  absl::Status Make(absl::Duration deadline, const RetryPolicy& policy, Call call);

  // For a call that is made elsewhere: with the token, without a deadline.
  std::unique_ptr<grpc::ClientContext> NewContext() const;

  // In place of a sleep after a failure: see PauseUntilConnected.
  void Pause(absl::Duration pause, std::stop_token stop);

 private:
  void AddToken(grpc::ClientContext& context) const;

  const std::string server_;
  const CallerProof proof_;
  const std::function<void(const absl::Status&)> on_waiting_;
  const std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_CALLS_H_
