#include "tests/devices/emulated_agent.h"

#include <sys/stat.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "tests/common/command.h"
#include "tests/common/emulator.h"

namespace slipway::testing {

absl::StatusOr<std::string> WriteEmulatedAgent(absl::string_view architecture,
                                               const std::string& folder,
                                               absl::string_view processor) {
  SLIPWAY_ASSIGN_OR_RETURN(const Emulator emulator, FindEmulator(architecture, processor));
  const auto built = [architecture](absl::string_view name) {
    return std::filesystem::absolute(RunfilePath(absl::StrCat(name, ".", architecture))).string();
  };
  const std::string script = JoinPath(folder, absl::StrCat("slipway-agent.", architecture));
  const std::string text = absl::StrCat(
      "#!/bin/sh\nexec ", absl::StrJoin(emulator.command, " "),
      " -E LD_PRELOAD=", built("tests/devices/librun_by_emulator.so"),
      " -E SLIPWAY_EMULATED_AS=", script, " ", built("device_agent/slipway-agent"), " \"$@\"\n");
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(script, text, /*durable=*/false));
  if (chmod(script.c_str(), 0700) != 0)
    return ErrnoStatus(errno, "cannot make a script executable");
  return script;
}

}  // namespace slipway::testing
