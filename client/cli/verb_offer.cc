// slipway offer, offers, withdraw: binaries that agents are to run in place of theirs.
#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"
#include "core/selector/selector.h"

namespace slipway::cli {
namespace {

constexpr int64_t kMostAtOnce = 10'000;

}  // namespace

absl::Status OfferAgent(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  AgentOfferOptions options;
  int64_t at_once = options.at_once;
  int64_t max_failures = options.max_failures;
  bool json = false;
  FlagSet flags(
      "slipway offer FILE [flags]",
      "Offers agents another binary of theirs, in place of what their platform was offered before. "
      "Those that were started with --accept-updates try it, each when it has nothing to do, and "
      "go back to what they ran if the server does not hear of it in time. For administrators.");
  flags.Add("devices", &options.selector, "ID|SELECTOR",
            "Only to agents of these devices; default: of all.");
  flags.Add("at-once", &at_once, 1, kMostAtOnce, "N", "So many may be taking it at a time.");
  flags.Add("max-failures", &max_failures, 1, kMostAtOnce, "N",
            "When so many have given it up, no other is told of it.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"FILE"}));
  if (!names.has_value()) return absl::OkStatus();
  if (IsSelector(options.selector)) {
    SLIPWAY_RETURN_IF_ERROR(RefusedRequest(Selector::Parse(options.selector).status()));
  }
  options.path = names->front();
  options.at_once = static_cast<int>(at_once);
  options.max_failures = static_cast<int>(max_failures);
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  const absl::StatusOr<AgentOffer> offer = connection->client().OfferAgent(options);
  if (absl::IsNotFound(offer.status())) return WithExitCode(offer.status(), ExitCode::kWrongCall);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(offer.status()));
  if (json) {
    environment.out << RenderOfferJson(*offer);
  } else {
    environment.out << "offers " << RenderOffer(*offer) << "how far it is: slipway offers\n";
  }
  return absl::OkStatus();
}

absl::Status AgentOffers(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  FlagSet flags("slipway offers [flags]",
                "Lists which binaries agents are offered, and how many of them run one, take it, "
                "wait for it and have given it up.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<AgentRollout> rollouts,
                           connection->client().ListAgentOffers());
  environment.out << (json ? RenderOffersJson(rollouts) : RenderOffers(rollouts));
  return absl::OkStatus();
}

absl::Status WithdrawAgent(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  FlagSet flags("slipway withdraw PLATFORM [flags]",
                "Offers agents of a platform nothing any more; those that run it keep it. For "
                "administrators.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"PLATFORM"}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  const absl::StatusOr<AgentOffer> offer = connection->client().WithdrawAgentOffer(names->front());
  if (absl::IsNotFound(offer.status())) return WithExitCode(offer.status(), ExitCode::kWrongCall);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(offer.status()));
  environment.out << (json ? RenderOfferJson(*offer) : "offers no more: " + RenderOffer(*offer));
  return absl::OkStatus();
}

}  // namespace slipway::cli
