// qemu-user: files of another architecture, run on this machine; for wasm-32 Node, which runs scripts.
#ifndef SLIPWAY_TESTS_COMMON_EMULATOR_H_
#define SLIPWAY_TESTS_COMMON_EMULATOR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway::testing {

struct Emulator {
  // To be followed by the file to run and its arguments.
  std::vector<std::string> command;
};

// For an architecture by its name in targets, "arm-64". `processor` is qemu's word for the one that programs find there; empty:
// qemu's choice, which has all features. NOT_FOUND names what is not there: qemu is Debian's qemu-user-static, Node its nodejs, C and C++
// libraries are what `deploy/sysroot` has made. A test that uses it has "@cross_sysroots//:folder" among its data.
absl::StatusOr<Emulator> FindEmulator(absl::string_view architecture,
                                      absl::string_view processor = "");

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_EMULATOR_H_
