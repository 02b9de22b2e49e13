#include "tests/devices/emulated_phone.h"

#include <errno.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "tests/common/emulator.h"

namespace slipway::testing {
namespace {

// As `uname -m` names the machine.
absl::string_view MachineName(absl::string_view architecture) {
  if (architecture == "arm-64") return "aarch64";
  if (architecture == "arm-32") return "armv7l";
  if (architecture == "riscv-64") return "riscv64";
  return architecture;
}

absl::Status WriteScript(const std::string& path, const std::string& text) {
  SLIPWAY_RETURN_IF_ERROR(
      WriteFileAtomically(path, absl::StrCat("#!/bin/sh\n", text), /*durable=*/false));
  return chmod(path.c_str(), 0700) == 0 ? absl::OkStatus()
                                        : ErrnoStatus(errno, "cannot make a script executable");
}

}  // namespace

absl::StatusOr<std::string> WriteEmulatedPhone(absl::string_view architecture,
                                               const std::string& folder,
                                               absl::string_view processor) {
  SLIPWAY_ASSIGN_OR_RETURN(const Emulator emulator, FindEmulator(architecture, processor));
  const std::string programs = JoinPath(folder, "programs");
  const std::string home = JoinPath(folder, "home");
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(programs));
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(home));
  SLIPWAY_RETURN_IF_ERROR(WriteScript(JoinPath(programs, "uname"),
                                      absl::StrCat("echo ", MachineName(architecture), "\n")));
  // The kernel runs no files of another architecture: what a line executes in place of the shell, the emulator does.
  const std::string shell = JoinPath(folder, "shell");
  SLIPWAY_RETURN_IF_ERROR(WriteScript(
      shell, absl::StrCat("cd ", home, " || exit 1\n",
                          "line=$(printf '%s' \"$1\" | sed 's|exec \"$b\"|exec ",
                          absl::StrJoin(emulator.command, " "), " \"$b\"|')\n", "exec env -i HOME=",
                          home, " PATH=", programs, ":\"$PATH\" sh -c \"$line\"\n")));
  return shell;
}

}  // namespace slipway::testing
