// The bare runners (core/bare_runner) that an agent brings to devices, which are inside of its own file.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_BARE_RUNNERS_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_BARE_RUNNERS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// The file for a machine as `uname -m` names it; lives as long as the process. UNIMPLEMENTED names the machine, and those that there are
// files for.
absl::StatusOr<absl::string_view> FindBareRunner(absl::string_view machine);

// What such a file is called on a device, whatever its machine: another name wherever any of them is another one.
const std::string& BareRunnerName();

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_BARE_RUNNERS_H_
