#include "device_agent/attached/link_arguments.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "device_agent/runner/runner_commands.h"

namespace slipway {

std::vector<std::string> ToWords(const LinkArguments& arguments) {
  return {arguments.cache_folder,
          arguments.log_level,
          arguments.require_confinement ? kConfinedWholly : kConfinedAsCan,
          absl::StrCat(arguments.memory_bytes),
          arguments.device.exec_prefix,
          arguments.device.folder};
}

absl::StatusOr<LinkArguments> ParseLinkArguments(absl::Span<const std::string> words) {
  LinkArguments arguments;
  if (words.size() != 6 || !absl::SimpleAtoi(words[3], &arguments.memory_bytes)) {
    return absl::InvalidArgumentError("a link is started by an agent, not by hand");
  }
  arguments.cache_folder = words[0];
  arguments.log_level = words[1];
  arguments.require_confinement = words[2] == kConfinedWholly;
  arguments.device.exec_prefix = words[4];
  arguments.device.folder = words[5];
  return arguments;
}

}  // namespace slipway
