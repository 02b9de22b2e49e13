// The command `slipway`; client/cli has what it does.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/command.h"
#include "client/cli/signal_interrupts.h"
#include "client/local/sibling.h"
#include "client/pack/code_facts.h"
#include "client/terminal/line_editor.h"
#include "core/base/files.h"
#include "core/base/kept_memory.h"
#include "core/base/state_folder.h"

namespace slipway {
namespace {

// Where lines can be edited.
bool HasTerminal() {
  const char* const kind = getenv("TERM");
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && kind != nullptr &&
         kind != std::string("dumb");
}

std::unique_ptr<cli::LineReader> EditLines() {
  absl::StatusOr<std::string> path = UserStateFolder();
  if (path.ok()) path = JoinPath(*path, "session_history");
  return cli::MakeLineEditor(path);
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == std::string(slipway::kReadCodeFactsArgument)) {
    return slipway::ReadCodeFactsMain(argc, argv);
  }
  // Debian's Abseil looks for deadlocks at every lock otherwise, as tests want it to.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  slipway::KeepFreedMemory();
  signal(SIGXFSZ, SIG_IGN);  // A limit on file sizes is then an error like a full disk.
  const auto interrupts = slipway::cli::MakeSignalInterrupts();
  slipway::cli::Environment environment = {
      .out = std::cout,
      .err = std::cerr,
      .err_is_terminal = isatty(STDERR_FILENO) == 1,
      .executable = slipway::OwnExecutable().value_or("/slipway"),
      .interrupts = interrupts.get(),
      .in = &std::cin,
      .in_is_terminal = isatty(STDIN_FILENO) == 1,
      .edit_lines = slipway::HasTerminal() ? slipway::EditLines : nullptr,
      .variable =
          [](const std::string& name) {
            const char* const value = getenv(name.c_str());
            return std::string(value == nullptr ? "" : value);
          },
  };
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return static_cast<int>(slipway::cli::RunCommand(environment, arguments));
}
