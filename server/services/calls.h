// What every gRPC method does first and last: check who calls, go to a thread that may wait, tell the audit log, convert the
// status.
#ifndef SLIPWAY_SERVER_SERVICES_CALLS_H_
#define SLIPWAY_SERVER_SERVICES_CALLS_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_credentials.h"
#include "core/rpc/grpc_status.h"
#include "core/rpc/request_id.h"
#include "server/caller.h"
#include "server/services/access.h"
#include "server/services/admission.h"
#include "server/services/call_audit.h"
#include "server/services/call_counts.h"
#include "server/work_pool.h"

namespace slipway::server {

// Thread-safe. The parts must outlive all calls.
class Calls {
 public:
  // What is known of connections (core/rpc/grpc_listener.h), by grpc::ServerContext::peer.
  struct Connections {
    // Where one comes from.
    std::function<std::string(absl::string_view peer)> origin;
    // Is told of each call whose caller is known, and whose it is: that of its connection's certificate, else Caller::identity. Its
    // error is that of the call.
    std::function<absl::Status(absl::string_view peer, absl::string_view identity)> admitted;
  };
  Calls(const Admission* admission, WorkPool* pool, const CallAudit* audit, CallCounts* counts,
        Connections connections)
      : admission_(*admission),
        pool_(*pool),
        audit_(*audit),
        counts_(*counts),
        connections_(std::move(connections)) {}

  // Who calls. Errors of Admission, and of CheckAccess, which are told to the audit log.
  absl::StatusOr<Caller> Admit(const grpc::CallbackServerContext& context, Rpc rpc) const {
    counts_.Began(rpc);
    absl::StatusOr<Caller> caller = AdmitCounted(context, rpc);
    if (!caller.ok()) counts_.Ended(rpc, caller.status().code());
    return caller;
  }

  // Answers a unary call by what `handler` returns. `subject` is asked after it what the call was about, for the audit log.
  using Handler = std::function<absl::Status(const Caller&)>;
  using Subject = std::function<std::string()>;
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context, Rpc rpc, Handler handler,
                                  Subject subject = nullptr) const {
    return Answer(context, rpc, Admit(*context, rpc), std::move(handler), std::move(subject));
  }

  WorkPool& pool() const { return pool_; }
  const CallAudit& audit() const { return audit_; }
  CallCounts& counts() const { return counts_; }

  // Empty when there is none of that name.
  static absl::string_view Metadata(const grpc::CallbackServerContext& context, const char* name) {
    const auto it = context.client_metadata().find(name);
    if (it == context.client_metadata().end()) return "";
    return absl::string_view(it->second.data(), it->second.size());
  }

  static absl::Status Ending() {
    return absl::UnavailableError("the server is ending; try again when it is back");
  }
  static absl::Status TooLate() {
    return absl::DeadlineExceededError("the call's deadline passed before its turn came");
  }
  static absl::Status Overloaded() {
    return absl::UnavailableError("the server has too many calls waiting; try again");
  }

 private:
  absl::StatusOr<Caller> AdmitCounted(const grpc::CallbackServerContext& context, Rpc rpc) const {
    CallHeader header{.authorization = Metadata(context, "authorization"),
                      .request_id = Metadata(context, kRequestIdName),
                      .identity = CallerIdentity(*context.auth_context()),
                      .deadline = absl::FromChrono(context.deadline()),
                      .address = connections_.origin(context.peer())};
    absl::StatusOr<Caller> caller = admission_.Admit(header);
    if (!caller.ok()) {
      const Caller stranger = {.identity = header.identity,
                               .request_id = std::string(header.request_id),
                               .address = header.address};
      audit_.TellRefusal(stranger, rpc, caller.status(), "");
      return caller;
    }
    SLIPWAY_RETURN_IF_ERROR(connections_.admitted(
        context.peer(), header.identity.empty() ? caller->identity : header.identity));
    absl::Status may = CheckAccess(*caller, rpc);
    if (!may.ok()) {
      audit_.TellRefusal(*caller, rpc, may, "");
      return may;
    }
    return caller;
  }

  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, Rpc rpc,
                                   absl::StatusOr<Caller> caller, Handler handler,
                                   Subject subject) const {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    if (!caller.ok()) {
      reactor->Finish(ToGrpc(caller.status()));
      return reactor;
    }
    const absl::Duration began = SystemClock().Monotonic();
    const auto finish = [this, reactor, rpc, began](const absl::Status& status) {
      counts_.Ended(rpc, status.code());
      counts_.Took(rpc, SystemClock().Monotonic() - began);
      reactor->Finish(ToGrpc(status));
    };
    const bool posted = pool_.TryPost([this, finish, rpc, caller = *std::move(caller),
                                       handler = std::move(handler), subject = std::move(subject)] {
      // Under load it may have waited for longer than whoever called.
      if (absl::Now() >= caller.deadline) return finish(TooLate());
      const LogRequest named(caller.request_id);
      const absl::Status status = handler(caller);
      audit_.Tell(caller, rpc, status, subject == nullptr ? "" : subject());
      finish(status);
    });
    if (!posted) finish(Overloaded());
    return reactor;
  }

  const Admission& admission_;
  WorkPool& pool_;
  const CallAudit& audit_;
  CallCounts& counts_;
  const Connections connections_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_CALLS_H_
