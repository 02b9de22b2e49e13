// The verbs of the command, one file each: verb_NAME.cc. kVerbs in command.cc lists them.
#ifndef SLIPWAY_CLIENT_CLI_VERBS_H_
#define SLIPWAY_CLIENT_CLI_VERBS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/cli/environment.h"

namespace slipway::cli {

// What was typed after the verb.
using Arguments = absl::Span<const std::string>;

absl::Status Compile(Environment& environment, Arguments arguments);
absl::Status Export(Environment& environment, Arguments arguments);
absl::Status Run(Environment& environment, Arguments arguments);
absl::Status Bench(Environment& environment, Arguments arguments);
absl::Status Compare(Environment& environment, Arguments arguments);
absl::Status Gate(Environment& environment, Arguments arguments);
absl::Status Quantize(Environment& environment, Arguments arguments);
absl::Status RunSession(Environment& environment, Arguments arguments);
absl::Status Lease(Environment& environment, Arguments arguments);
absl::Status Devices(Environment& environment, Arguments arguments);
absl::Status ShowQueue(Environment& environment, Arguments arguments);
absl::Status Reserve(Environment& environment, Arguments arguments);
absl::Status Reservations(Environment& environment, Arguments arguments);
absl::Status Unreserve(Environment& environment, Arguments arguments);
absl::Status OfferAgent(Environment& environment, Arguments arguments);
absl::Status AgentOffers(Environment& environment, Arguments arguments);
absl::Status WithdrawAgent(Environment& environment, Arguments arguments);
absl::Status Drain(Environment& environment, Arguments arguments);
absl::Status Undrain(Environment& environment, Arguments arguments);
absl::Status Quarantine(Environment& environment, Arguments arguments);
absl::Status Unquarantine(Environment& environment, Arguments arguments);
absl::Status Label(Environment& environment, Arguments arguments);
absl::Status Jobs(Environment& environment, Arguments arguments);
absl::Status ShowJob(Environment& environment, Arguments arguments);
absl::Status Cancel(Environment& environment, Arguments arguments);
absl::Status History(Environment& environment, Arguments arguments);
absl::Status Record(Environment& environment, Arguments arguments);
absl::Status Verify(Environment& environment, Arguments arguments);
absl::Status WriteReport(Environment& environment, Arguments arguments);
absl::Status Results(Environment& environment, Arguments arguments);
absl::Status Targets(Environment& environment, Arguments arguments);
absl::Status Pack(Environment& environment, Arguments arguments);
absl::Status Inspect(Environment& environment, Arguments arguments);
absl::Status ShowStatus(Environment& environment, Arguments arguments);
absl::Status Join(Environment& environment, Arguments arguments);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_VERBS_H_
