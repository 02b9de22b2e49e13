// What every gRPC method does first and last: check who calls, go to a thread that may wait, convert the status.
#ifndef SLIPWAY_SERVER_SERVICES_CALLS_H_
#define SLIPWAY_SERVER_SERVICES_CALLS_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/rpc/grpc_status.h"
#include "server/services/admission.h"
#include "server/work_pool.h"

namespace slipway::server {

// Thread-safe. Both parts must outlive all calls.
class Calls {
 public:
  Calls(const Admission* admission, WorkPool* pool) : admission_(*admission), pool_(*pool) {}

  absl::Status Admit(const grpc::CallbackServerContext& context) const {
    const auto& metadata = context.client_metadata();
    const auto it = metadata.find("authorization");
    if (it == metadata.end()) return admission_.Check("");
    return admission_.Check(absl::string_view(it->second.data(), it->second.size()));
  }

  // Answers a unary call by what `handler` returns.
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context,
                                  std::function<absl::Status()> handler) const {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    const absl::Status admitted = Admit(*context);
    if (!admitted.ok()) {
      reactor->Finish(ToGrpc(admitted));
      return reactor;
    }
    const bool posted = pool_.TryPost(
        [reactor, handler = std::move(handler)] { reactor->Finish(ToGrpc(handler())); });
    if (!posted) reactor->Finish(ToGrpc(Overloaded()));
    return reactor;
  }

  WorkPool& pool() const { return pool_; }

  static absl::Status Ending() {
    return absl::UnavailableError("the server is ending; try again when it is back");
  }
  static absl::Status Overloaded() {
    return absl::UnavailableError("the server has too many calls waiting; try again");
  }

 private:
  const Admission& admission_;
  WorkPool& pool_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_CALLS_H_
