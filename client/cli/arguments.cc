#include "client/cli/arguments.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/exit_code.h"

namespace slipway::cli {

absl::StatusOr<std::optional<std::vector<std::string>>> ParseArguments(
    Environment& environment, FlagSet& flags, Arguments arguments,
    const std::vector<std::string>& names, size_t optional) {
  absl::StatusOr<std::vector<std::string>> rest = flags.Parse(arguments);
  if (!rest.ok()) return WithExitCode(rest.status(), ExitCode::kWrongCall);
  const std::string text = flags.TextAskedFor();
  if (!text.empty()) {
    environment.out << text;
    return std::optional<std::vector<std::string>>();
  }
  if (rest->size() + optional < names.size() || rest->size() > names.size()) {
    return WrongCall(
        absl::StrCat(rest->size() < names.size()
                         ? absl::StrCat(names[rest->size()], " is missing")
                         : absl::StrCat("\"", (*rest)[names.size()], "\" is one argument too many"),
                     "; see --help"));
  }
  return std::optional<std::vector<std::string>>(*std::move(rest));
}

}  // namespace slipway::cli
