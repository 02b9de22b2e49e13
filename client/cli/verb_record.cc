// slipway record: a result as a file that others can check.
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/verbs.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

absl::Status Record(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  std::string output;
  FlagSet flags("slipway record ID --output FILE [flags]",
                "Writes a result of the history, by its id, to a file that the server has signed: "
                "\"slipway verify\" checks it,\nwherever it is, without the server.");
  flags.Add("output", &output, "FILE", "Write it there; -o is short for it.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {"ID"}));
  if (!names.has_value()) return absl::OkStatus();
  if (output.empty()) return WrongCall("\"--output\" is missing: name the file to write");
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  const absl::StatusOr<std::string> record = connection->client().GetRecord(names->front());
  if (absl::IsNotFound(record.status()) || absl::IsInvalidArgument(record.status())) {
    return WithExitCode(record.status(), ExitCode::kWrongCall);
  }
  SLIPWAY_RETURN_IF_ERROR(record.status());
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(output, *record, /*durable=*/false));
  environment.out << "wrote " << output << "\n";
  return absl::OkStatus();
}

}  // namespace slipway::cli
