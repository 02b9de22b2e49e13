// slipway drain, undrain, quarantine, unquarantine: whether a device is given work.
#include <string>

#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/follow.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

struct What {
  const char* usage;
  const char* help;
  DeviceAction action;
  bool has_reason;
};

absl::Status Do(const What& what, Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  std::string reason;
  bool json = false;
  FlagSet flags(what.usage, what.help);
  if (what.has_reason) flags.Add("reason", &reason, "TEXT", "Why; others see it.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"DEVICE"}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  const absl::StatusOr<Device> device =
      connection->client().SetAvailability(names->front(), what.action, reason);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(device.status()));
  environment.out << (json ? RenderDeviceJson(*device) : RenderAvailability(*device));
  return absl::OkStatus();
}

}  // namespace

absl::Status Drain(Environment& environment, Arguments arguments) {
  return Do({"slipway drain DEVICE [flags]",
             "Gives a device no work any more, for maintenance; what it has, it finishes. For "
             "administrators.",
             DeviceAction::kDrain, /*has_reason=*/true},
            environment, arguments);
}

absl::Status Undrain(Environment& environment, Arguments arguments) {
  return Do({"slipway undrain DEVICE [flags]",
             "Gives a device that is drained work again. For administrators.",
             DeviceAction::kUndrain, /*has_reason=*/false},
            environment, arguments);
}

absl::Status Quarantine(Environment& environment, Arguments arguments) {
  return Do({"slipway quarantine DEVICE [flags]",
             "Gives a device no work while it is in doubt; what it has, it finishes. For "
             "administrators.",
             DeviceAction::kQuarantine, /*has_reason=*/true},
            environment, arguments);
}

absl::Status Unquarantine(Environment& environment, Arguments arguments) {
  return Do({"slipway unquarantine DEVICE [flags]",
             "Gives a device that is in quarantine work again. For administrators.",
             DeviceAction::kUnquarantine, /*has_reason=*/false},
            environment, arguments);
}

}  // namespace slipway::cli
