// slipway history: what was measured before, and how it changed.
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/model_flags.h"
#include "client/cli/render_history.h"
#include "client/cli/tag_flags.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

// MODEL, if one was typed, is taken from the arguments.
absl::StatusOr<std::string> ModelOf(std::vector<std::string> rest) {
  if (rest.size() > 1) {
    return WrongCall(absl::StrCat("\"", rest[1], "\" is one argument too many; see --help"));
  }
  return rest.empty() ? "" : rest.front();
}

}  // namespace

absl::Status History(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  HistoryOptions options;
  int64_t limit = 50;
  int64_t threads = 0;
  std::vector<std::string> tags;
  absl::Duration since;
  bool json = false;
  bool csv = false;
  FlagSet flags("slipway history [MODEL] [flags]",
                "Shows the benchmarks that the server has kept: of each model, target, device and "
                "number of threads the\nmedians in order of time, and where the artifact or what "
                "made it changed. MODEL is a name as \"slipway jobs\" shows it.");
  flags.Add("limit", &limit, 1, 1'000'000, "N", "Most results shown, of the newest.");
  flags.Add("device", &options.device, "ID", "On this device.");
  flags.Add("target", &options.target, "TARGET", "For this target; \"host\" is this machine's.");
  flags.Add("threads", &threads, 0, 1024, "N", "On so many threads; 0: any.");
  flags.Add("tag", &tags, "KEY=VALUE", "With this tag. Repeatable: with all of them.");
  flags.Add("since", &since, "TIME", "Accepted no longer ago, such as 24h.");
  flags.Add("owner", &options.owner, "NAME", "Of this owner; others' are for administrators.");
  flags.Add("all", &options.of_everybody, "Those of everybody; for administrators.");
  flags.Add("samples", &options.with_samples, "With every sample, in JSON.");
  flags.Add("json", &json, "Print JSON.");
  flags.Add("csv", &csv, "Print CSV, a line for each result.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  absl::StatusOr<std::vector<std::string>> rest = flags.Parse(arguments);
  if (!rest.ok()) return WithExitCode(rest.status(), ExitCode::kWrongCall);
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    environment.out << text;
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(options.model, ModelOf(*std::move(rest)));
  if (json && csv) return WrongCall("\"--json\" and \"--csv\" exclude each other");
  if (options.with_samples && !json) return WrongCall("\"--samples\" are for \"--json\"");
  if (!options.target.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(options.target, CanonicalTarget(options.target));
  }
  options.limit = static_cast<int>(limit);
  options.threads = static_cast<int>(threads);
  SLIPWAY_ASSIGN_OR_RETURN(options.tags, TagsOf(tags));
  if (since > absl::ZeroDuration()) options.since = absl::Now() - since;

  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  const auto series = connection->client().ReadHistory(options);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(series.status()));
  environment.out << (json  ? RenderHistoryJson(*series)
                      : csv ? RenderHistoryCsv(*series)
                            : RenderHistory(*series));
  return absl::OkStatus();
}

}  // namespace slipway::cli
