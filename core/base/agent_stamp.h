// The stamp of a binary of the agent: what version it is and what it runs on, in its bytes, so that whoever has the file knows
// without running it.
#ifndef SLIPWAY_CORE_BASE_AGENT_STAMP_H_
#define SLIPWAY_CORE_BASE_AGENT_STAMP_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace slipway {

struct AgentStamp {
  std::string version;   // core/base/version.h.
  std::string platform;  // "x86-64-linux".
};

// Of this build. A binary that calls this has it in its bytes.
AgentStamp OwnAgentStamp();

// "slipway-agent-stamp VERSION PLATFORM;": the first in `bytes` whose parts are of letters, digits and "._-+", at most 64 bytes
// each. Nothing where there is none.
std::optional<AgentStamp> FindAgentStamp(absl::string_view bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_AGENT_STAMP_H_
