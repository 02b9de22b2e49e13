// What a link is told by the agent that starts it.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_LINK_ARGUMENTS_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_LINK_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "device_agent/attached/attached_device.h"

namespace slipway {

inline constexpr char kLinkCommand[] = "link";

struct LinkArguments {
  AttachedDevice device;
  // For the runner that it becomes.
  std::string cache_folder;
  std::string log_level;
  // For that and for the bare runner.
  bool require_confinement = false;
  int64_t memory_bytes = 0;  // 0: no limit.
};

// Words for argv, behind the command's name, and back. INVALID_ARGUMENT.
std::vector<std::string> ToWords(const LinkArguments& arguments);
absl::StatusOr<LinkArguments> ParseLinkArguments(absl::Span<const std::string> words);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_LINK_ARGUMENTS_H_
