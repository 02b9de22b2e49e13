#include "client/session/grpc_selector_check.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_calls.h"
#include "core/selector/selector.h"
#include "proto/slipway/v1/server.grpc.pb.h"

namespace slipway {
namespace {

constexpr absl::Duration kAskFor = absl::Seconds(5);

}  // namespace

absl::Status CheckSelector(const std::string& device, const std::string& address,
                           const CallerProof& proof, std::stop_token stop) {
  if (!IsSelector(device)) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(Selector::Parse(device).status());
  Calls calls(address, proof);
  const auto server = v1::ServerService::NewStub(calls.channel());
  v1::ServerInfo info;
  const absl::Status asked =
      calls.Once(kAskFor, {.stop = std::move(stop)}, [&](grpc::ClientContext& context) {
        return server->GetServerInfo(&context, v1::GetServerInfoRequest(), &info);
      });
  if (!asked.ok() || info.selectors() > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the server, version \"", info.version(),
                   "\", knows devices by their ids alone: name one, or update the server"));
}

}  // namespace slipway
