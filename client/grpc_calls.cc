#include "client/grpc_calls.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/rpc/grpc_reconnect.h"
#include "core/rpc/grpc_status.h"

namespace slipway {
namespace {

constexpr absl::Duration kFirstBackoff = absl::Milliseconds(50);
constexpr absl::Duration kLongestBackoff = absl::Seconds(2);

// gRPC says "failed to connect" of its own; other messages are the server's.
absl::Status Unavailable(absl::string_view server, absl::string_view message) {
  if (!absl::StrContains(message, "connect")) {
    return absl::UnavailableError(absl::StrCat("server \"", server, "\" says: ", message));
  }
  return absl::UnavailableError(absl::StrCat("server \"", server, "\" cannot be reached: ", message,
                                             "; is slipwayd running there"));
}

absl::Status Interrupted() { return absl::CancelledError("interrupted"); }

}  // namespace

absl::Status Calls::MakeOnce(const CallOptions& options,
                             absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call) {
  grpc::ClientContext context;
  if (options.deadline < absl::InfiniteDuration()) {
    context.set_deadline(std::chrono::system_clock::now() +
                         absl::ToChronoNanoseconds(options.deadline));
  }
  if (!token_.empty()) context.AddMetadata("authorization", absl::StrCat("Bearer ", token_));
  if (options.interruptible) {
    absl::MutexLock lock(&mu_);
    if (interrupted()) return Interrupted();
    active_.insert(&context);
  }
  const grpc::Status status = call(context);
  if (options.interruptible) {
    absl::MutexLock lock(&mu_);
    active_.erase(&context);
    if (interrupted()) return Interrupted();
  }
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::UnavailableError(
        absl::StrCat("no answer within ", absl::FormatDuration(options.deadline)));
  }
  return FromGrpc(status);
}

absl::Status Calls::Make(const CallOptions& options,
                         absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call,
                         const bool* progressed) {
  absl::Time give_up = absl::InfiniteFuture();  // Until the first failure.
  absl::Duration backoff = kFirstBackoff;
  while (true) {
    const absl::Status status = MakeOnce(options, call);
    if (status.code() != absl::StatusCode::kUnavailable) return status;
    const bool starts_anew = progressed != nullptr && *progressed;
    if (starts_anew || give_up == absl::InfiniteFuture()) {
      give_up = absl::Now() + options.retry_for;
      backoff = kFirstBackoff;
    }
    if (absl::Now() + backoff > give_up) return Unavailable(server_, status.message());
    // The first backoff is too short to be told of.
    if (backoff == kFirstBackoff * 2 && on_waiting_) {
      on_waiting_(Unavailable(server_, status.message()));
    }
    PauseUntilConnected(*channel_, backoff,
                        options.interruptible ? interrupt_.get_token() : std::stop_token());
    if (options.interruptible && interrupted()) return Interrupted();
    backoff = std::min(backoff * 2, kLongestBackoff);
  }
}

void Calls::Interrupt() {
  absl::MutexLock lock(&mu_);
  interrupt_.request_stop();
  for (grpc::ClientContext* context : active_) context->TryCancel();
}

}  // namespace slipway
