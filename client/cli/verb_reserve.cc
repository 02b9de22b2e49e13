// slipway reserve, reservations, unreserve: a device for oneself alone, for a time.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/render.h"
#include "client/cli/time_flag.h"
#include "client/cli/verbs.h"
#include "client/cli/wait_text.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status Reserve(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  ReserveOptions options;
  std::string from = "now";
  bool json = false;
  FlagSet flags("slipway reserve DEVICE --for TIME [flags]",
                "Reserves a device: for that time it takes your work alone. What runs there is not "
                "ended; others' work is begun\nbefore only if its run deadline passes earlier.");
  flags.Add("from", &from, "WHEN", kTimeHelp);
  flags.Add("for", &options.length, "TIME", "How long, such as 2h.");
  flags.Add("purpose", &options.purpose, "TEXT", "What it is for; others see it.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"DEVICE"}));
  if (!names.has_value()) return absl::OkStatus();
  if (options.length <= absl::ZeroDuration()) {
    return WrongCall("\"--for\" is missing: say for how long, such as --for 2h");
  }
  options.device = names->front();
  if (from != "now") {
    SLIPWAY_ASSIGN_OR_RETURN(options.from, ParseTime("from", from, absl::Now()));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  const absl::StatusOr<Reservation> made = connection->client().Reserve(options);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(made.status()));
  if (json) {
    environment.out << RenderReservationJson(*made);
  } else {
    environment.out << made->device << " is " << ReservedText(*made, absl::Now())
                    << "\ngive it up with: slipway unreserve " << made->id << "\n";
  }
  return absl::OkStatus();
}

absl::Status Reservations(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  std::string device;
  bool json = false;
  FlagSet flags("slipway reservations [flags]",
                "Lists the reservations that have not ended, of everybody.");
  flags.Add("device", &device, "ID", "Only those of this device.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Reservation> reservations,
                           connection->client().ListReservations(device));
  environment.out << (json ? RenderReservationsJson(reservations)
                           : RenderReservations(reservations));
  return absl::OkStatus();
}

absl::Status Unreserve(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  FlagSet flags("slipway unreserve RESERVATION [flags]",
                "Gives up a reservation. One that has ended stays as it is.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"RESERVATION"}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  const absl::StatusOr<Reservation> ended = connection->client().Unreserve(names->front());
  if (absl::IsNotFound(ended.status())) return WithExitCode(ended.status(), ExitCode::kWrongCall);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(ended.status()));
  if (json) {
    environment.out << RenderReservationJson(*ended);
  } else {
    environment.out << ended->device << " is reserved for " << ended->owner << " no more\n";
  }
  return absl::OkStatus();
}

}  // namespace slipway::cli
