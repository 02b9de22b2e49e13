// slipway label: what administrators say of a device.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/flags.h"
#include "core/base/status_macros.h"
#include "core/selector/labels.h"

namespace slipway::cli {

absl::Status Label(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  FlagSet flags("slipway label DEVICE KEY=VALUE|KEY- ... [flags]",
                "Gives a device labels, for selectors to find it by as label:KEY=VALUE; KEY- takes "
                "one away. For administrators. They last until the device is forgotten, and go "
                "before those that its agent was started with.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  const absl::StatusOr<std::vector<std::string>> words = flags.Parse(arguments);
  if (!words.ok()) return WithExitCode(words.status(), ExitCode::kWrongCall);
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    environment.out << text;
    return absl::OkStatus();
  }
  if (words->size() < 2) return WrongCall("DEVICE and a label are wanted; see --help");
  std::vector<std::string> given;
  std::vector<std::string> removed;
  for (size_t i = 1; i < words->size(); ++i) {
    const std::string& word = (*words)[i];
    if (absl::StrContains(word, '=') || !absl::EndsWith(word, "-")) {
      given.push_back(word);
    } else {
      removed.emplace_back(absl::StripSuffix(word, "-"));
    }
  }
  const absl::StatusOr<Labels> labels = ParseLabels(given);
  if (!labels.ok()) return WrongCall(labels.status().message());
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  const std::string& device = words->front();
  const absl::StatusOr<Labels> all = connection->client().ChangeLabels(device, *labels, removed);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(all.status()));
  environment.out << (json ? RenderLabelsJson(device, *all) : RenderLabels(device, *all));
  return absl::OkStatus();
}

}  // namespace slipway::cli
