// slipway devices: what runs programs.
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status Devices(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  bool is_long = false;
  FlagSet flags("slipway devices [flags]", "Lists the devices that run programs.");
  flags.Add(
      "long", &is_long,
      "Say what each does at most, as its agent has measured: operations and bytes a second.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/true);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_RETURN_IF_ERROR(connection->EnsureDevice());
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Device> devices, connection->client().ListDevices());
  environment.out << (json ? RenderDevicesJson(devices) : RenderDevices(devices, absl::Now()));
  if (is_long && !json) environment.out << RenderDeviceFacts(devices);
  return absl::OkStatus();
}

}  // namespace slipway::cli
