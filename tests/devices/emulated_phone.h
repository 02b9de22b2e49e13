// A machine of another architecture, run by an emulator, on which nothing is installed: what `adb shell` or `ssh` stand for.
#ifndef SLIPWAY_TESTS_DEVICES_EMULATED_PHONE_H_
#define SLIPWAY_TESTS_DEVICES_EMULATED_PHONE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway::testing {

// Writes its shell into a folder, beneath which its home folder is, and returns the command to reach it (`--exec-prefix`). `architecture` is
// that of a bare runner, `processor` one that qemu knows; empty: qemu's choice. Errors of FindEmulator.
absl::StatusOr<std::string> WriteEmulatedPhone(absl::string_view architecture,
                                               const std::string& folder,
                                               absl::string_view processor = "");

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_DEVICES_EMULATED_PHONE_H_
