#include "core/rpc/grpc_calls.h"

#include <grpcpp/create_channel.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/rpc/grpc_credentials.h"
#include "core/rpc/grpc_reconnect.h"
#include "core/rpc/grpc_status.h"
#include "core/rpc/listen_address.h"

namespace slipway {
namespace {

grpc::ChannelArguments Arguments(const CallerProof& proof, const Pings& pings) {
  grpc::ChannelArguments arguments = ClientChannelArguments(pings);
  // Its connection is its own: where one leads nowhere, another may.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  ApplyNames(proof, ServerNames(), arguments);
  return arguments;
}

// What may be wrong, by what gRPC says of a connection that did not come about.
std::string LikelyCause(absl::string_view server, const CallerProof& proof,
                        absl::string_view message) {
  const bool is_over_tls = proof.is_over_tls();
  const std::string ours = proof.identity_file.empty()
                               ? "the token"
                               : absl::StrCat("the identity in \"", proof.identity_file, "\"");
  if (is_over_tls && (absl::StrContains(message, "certificate verify failed") ||
                      absl::StrContains(message, "not in peer certificate"))) {
    return absl::StrCat("it is not the server that ", ours, " is for, or a clock is wrong");
  }
  if (is_over_tls && absl::StrContains(message, "wrong version number")) {
    return "it serves without TLS: pass --insecure if that is meant";
  }
  const bool was_closed = absl::StrContains(message, "Socket closed") ||
                          absl::StrContains(message, "reset by peer") ||
                          absl::StrContains(message, "handshake");
  if (was_closed && !absl::StartsWith(server, kUnixAddressPrefix)) {
    return is_over_tls ? absl::StrCat("it does not take ", ours,
                                      ": it was revoked, or is another server's; or the server is "
                                      "too busy")
                       : "it wants TLS, so call it without --insecure; or it is too busy";
  }
  return "is slipwayd running there";
}

// gRPC says "failed to connect" of its own; other messages are the server's.
absl::Status Unavailable(absl::string_view server, const CallerProof& proof,
                         absl::string_view message) {
  if (!absl::StrContains(message, "connect")) {
    return absl::UnavailableError(absl::StrCat("server \"", server, "\" says: ", message));
  }
  return absl::UnavailableError(absl::StrCat("server \"", server, "\" cannot be reached: ", message,
                                             "; ", LikelyCause(server, proof, message)));
}

absl::Status Interrupted() { return absl::CancelledError("interrupted"); }

}  // namespace

Calls::Calls(std::string server, CallerProof proof,
             std::function<void(const absl::Status&)> on_waiting, const Pings& pings)
    : server_(std::move(server)),
      proof_(std::move(proof)),
      on_waiting_(std::move(on_waiting)),
      channel_(grpc::CreateCustomChannel(server_, CallerCredentials(proof_, ServerNames()),
                                         Arguments(proof_, pings))) {}

absl::Status Calls::Once(absl::Duration deadline, const RetryPolicy& policy, Call call) {
  grpc::ClientContext context;
  const absl::Time end = std::min(absl::Now() + deadline, policy.until);
  if (end < absl::InfiniteFuture()) context.set_deadline(absl::ToChronoTime(end));
  AddToken(context);
  // A call that has not begun yet is cancelled when it does.
  const std::stop_callback cancel(policy.stop, [&context] { context.TryCancel(); });
  const grpc::Status status = call(context);
  if (status.ok()) return absl::OkStatus();
  if (policy.stop.stop_requested()) return Interrupted();
  switch (status.error_code()) {
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return Unavailable(server_, proof_,
                         absl::StrCat("no answer within ", absl::FormatDuration(deadline)));
    case grpc::StatusCode::UNAVAILABLE:
      return Unavailable(server_, proof_, status.error_message());
    default:
      return FromGrpc(status);
  }
}

std::unique_ptr<grpc::ClientContext> Calls::NewContext() const {
  auto context = std::make_unique<grpc::ClientContext>();
  AddToken(*context);
  return context;
}

void Calls::AddToken(grpc::ClientContext& context) const {
  if (proof_.token.empty()) return;
  context.AddMetadata("authorization", absl::StrCat("Bearer ", proof_.token));
}

absl::Status Calls::Persist(const RetryPolicy& policy,
                            absl::FunctionRef<absl::Status(bool& progressed)> attempt) {
  Backoff backoff;
  absl::Time give_up;
  for (int failures = 1;; ++failures) {
    bool progressed = false;
    absl::Status status = attempt(progressed);
    if (!absl::IsUnavailable(status)) return status;
    if (policy.stop.stop_requested()) return Interrupted();
    if (progressed) {
      failures = 1;
      backoff.Reset();
    }
    if (failures == 1) give_up = absl::Now() + policy.retry_for;
    const absl::Duration pause = backoff.Next();
    const absl::Time again = absl::Now() + pause;
    if (again >= policy.until) {
      return absl::DeadlineExceededError(
          absl::StrCat("the time is up; the last try: ", status.message()));
    }
    if (again > give_up) return status;
    // The first pause is too short to be told of.
    if (failures == 2 && on_waiting_) on_waiting_(status);
    Pause(pause, policy.stop);
    if (policy.stop.stop_requested()) return Interrupted();
  }
}

absl::Status Calls::Make(absl::Duration deadline, const RetryPolicy& policy, Call call) {
  return Persist(policy, [&](bool&) { return Once(deadline, policy, call); });
}

void Calls::Pause(absl::Duration pause, std::stop_token stop) {
  PauseUntilConnected(*channel_, pause, std::move(stop));
}

}  // namespace slipway
