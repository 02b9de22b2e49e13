#include "device_agent/attached/link_arguments.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "device_agent/runner/runner_commands.h"

namespace slipway {

std::vector<std::string> ToWords(const LinkArguments& arguments) {
  return {arguments.cache_folder,
          arguments.log_level,
          arguments.require_confinement ? kConfinedWholly : kConfinedAsCan,
          absl::StrCat(arguments.memory_bytes),
          absl::StrCat(arguments.cache_quota_bytes),
          arguments.device.exec_prefix,
          arguments.device.folder,
          arguments.device.binary,
          arguments.device.digest.ToString()};
}

absl::StatusOr<LinkArguments> ParseLinkArguments(absl::Span<const std::string> words) {
  LinkArguments arguments;
  if (words.size() != 9 || !absl::SimpleAtoi(words[3], &arguments.memory_bytes) ||
      !absl::SimpleAtoi(words[4], &arguments.cache_quota_bytes)) {
    return absl::InvalidArgumentError("a link is started by an agent, not by hand");
  }
  arguments.cache_folder = words[0];
  arguments.log_level = words[1];
  arguments.require_confinement = words[2] == kConfinedWholly;
  arguments.device.exec_prefix = words[5];
  arguments.device.folder = words[6];
  arguments.device.binary = words[7];
  SLIPWAY_ASSIGN_OR_RETURN(arguments.device.digest, Digest::Parse(words[8]));
  return arguments;
}

}  // namespace slipway
