// The agent of another architecture, run by qemu-user on this machine.
#ifndef SLIPWAY_TESTS_DEVICES_EMULATED_AGENT_H_
#define SLIPWAY_TESTS_DEVICES_EMULATED_AGENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway::testing {

// Writes a script into `folder` that is to this machine as `slipway-agent` is to one of `architecture`, and returns its path.
// As FindEmulator (tests/common/emulator.h).
absl::StatusOr<std::string> WriteEmulatedAgent(absl::string_view architecture,
                                               const std::string& folder,
                                               absl::string_view processor = "");

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_DEVICES_EMULATED_AGENT_H_
