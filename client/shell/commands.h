// The commands of a shell, each a function of a few lines: program_commands.cc, tensor_commands.cc, other_commands.cc.
// kCommands in commands.cc lists them.
#ifndef SLIPWAY_CLIENT_SHELL_COMMANDS_H_
#define SLIPWAY_CLIENT_SHELL_COMMANDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/shell/command_line.h"
#include "client/shell/shell.h"

namespace slipway::cli {

inline constexpr size_t kAny = static_cast<size_t>(-1);

// What a word of a command names.
enum class WordKind { kProgram, kTensor, kEither, kArtifactFile, kTensorFile, kNpyFile, kOther };

struct CountRange {
  size_t min, max;
  bool Has(size_t count) const { return count >= min && count <= max; }
};

struct Command {
  const char* name;
  const char* usage;  // "NAME = put FILE"
  const char* help;
  CountRange results;  // Names that it gives.
  CountRange words;    // That it takes.
  std::vector<WordKind>
      kinds;  // What each of them is; the last one also stands for those behind it.
  std::vector<std::string> options;
  absl::Status (*function)(Shell&, const CommandLine&);
};

absl::Span<const Command> Commands();
// A wrong call for a line that is none of them.
absl::StatusOr<const Command*> FindCommand(const CommandLine& line);

absl::Status Load(Shell& shell, const CommandLine& line);
absl::Status Call(Shell& shell, const CommandLine& line);
absl::Status Time(Shell& shell, const CommandLine& line);
absl::Status Profile(Shell& shell, const CommandLine& line);
absl::Status Diff(Shell& shell, const CommandLine& line);

absl::Status Put(Shell& shell, const CommandLine& line);
absl::Status Random(Shell& shell, const CommandLine& line);
absl::Status Zeros(Shell& shell, const CommandLine& line);
absl::Status Get(Shell& shell, const CommandLine& line);
absl::Status Slice(Shell& shell, const CommandLine& line);
absl::Status Copy(Shell& shell, const CommandLine& line);
absl::Status Assign(Shell& shell, const CommandLine& line);

absl::Status Free(Shell& shell, const CommandLine& line);
absl::Status List(Shell& shell, const CommandLine& line);
absl::Status Facts(Shell& shell, const CommandLine& line);
absl::Status Help(Shell& shell, const CommandLine& line);
absl::Status Quit(Shell& shell, const CommandLine& line);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_SHELL_COMMANDS_H_
