// Calls: makes gRPC calls that end: each has a deadline, is repeated while the server is away, and can be
// interrupted from another thread.
#ifndef SLIPWAY_CLIENT_GRPC_CALLS_H_
#define SLIPWAY_CLIENT_GRPC_CALLS_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace slipway {

// How a call is to be made.
struct CallOptions {
  // Of one try. Without one a stream may last for ever, as a watch does.
  absl::Duration deadline = absl::Seconds(30);
  // How long a server that cannot be reached is tried again; zero: one try.
  absl::Duration retry_for;
  // Whether Interrupt ends it.
  bool interruptible = true;
};

// Thread-safe.
class Calls {
 public:
  // `channel` is what the calls are made over; `server` is for messages. An empty `token` is not sent.
  // `on_waiting`, if any, is told why a call that failed is going to be made again, the first time.
  Calls(std::shared_ptr<grpc::Channel> channel, std::string server, std::string token,
        std::function<void(const absl::Status&)> on_waiting)
      : channel_(std::move(channel)),
        server_(std::move(server)),
        token_(std::move(token)),
        on_waiting_(std::move(on_waiting)) {}

  // Makes `call` with a fresh context until it ends in something else than UNAVAILABLE, or the time is up.
  // `progressed`, when given, tells that the last try got somewhere, so that the time starts anew. A deadline
  // that passed becomes UNAVAILABLE. UNAVAILABLE names the server.
  absl::Status Make(const CallOptions& options,
                    absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call,
                    const bool* progressed = nullptr);

  // From now on interruptible calls return CANCELLED, those in flight too.
  void Interrupt();
  bool interrupted() const { return interrupt_.stop_requested(); }

 private:
  absl::Status MakeOnce(const CallOptions& options,
                        absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call);

  const std::shared_ptr<grpc::Channel> channel_;
  const std::string server_;
  const std::string token_;
  const std::function<void(const absl::Status&)> on_waiting_;
  std::stop_source interrupt_;  // Stopped under the lock, lest a call begin unseen.
  absl::Mutex mu_;
  absl::flat_hash_set<grpc::ClientContext*> active_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_GRPC_CALLS_H_
