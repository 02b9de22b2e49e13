#include "client/shell/commands.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/exit_code.h"

namespace slipway::cli {

absl::Span<const Command> Commands() {
  using enum WordKind;
  constexpr CountRange kNone = {0, 0};
  constexpr CountRange kOne = {1, 1};
  static const auto* const kCommands = new std::vector<Command>{
      {"load",
       "NAME = load FILE.slip [threads=N]",
       "Loads a program onto the device.",
       kOne,
       kOne,
       {kArtifactFile},
       {"threads"},
       Load},
      {"put",
       "NAME = put FILE.npy|FILE.pb | [NAME, ... =] put FILE.npz",
       "Makes a tensor of a file; of a .npz one for each array, with the names that it has there "
       "unless others are given.",
       {0, kAny},
       kOne,
       {kTensorFile},
       {},
       Put},
      {"random",
       "NAME = random TYPE [seed=N]",
       "Makes a tensor, such as f32[1,64], of random numbers.",
       kOne,
       kOne,
       {kOther},
       {"seed"},
       Random},
      {"zeros", "NAME = zeros TYPE", "Makes a tensor of zeros.", kOne, kOne, {kOther}, {}, Zeros},
      {"call",
       "[NAME, ... =] call PROGRAM [INPUT ...] [function=NAME]",
       "Calls a program; its outputs get the names, or those that the program has for them.",
       {0, kAny},
       {1, kAny},
       {kProgram, kTensor},
       {"function"},
       Call},
      {"time",
       "time PROGRAM [INPUT ...] [samples=N] [warmup=N] [pause=MS] [cache=cold] [function=NAME]",
       "Times calls on the device.",
       kNone,
       {1, kAny},
       {kProgram, kTensor},
       {"samples", "warmup", "pause", "cache", "function"},
       Time},
      {"profile",
       "profile PROGRAM [INPUT ...] [function=NAME]",
       "Times each step of a call, and says how far it is from what the device does at most.",
       kNone,
       {1, kAny},
       {kProgram, kTensor},
       {"function"},
       Profile},
      {"get",
       "get TENSOR [FILE.npy]",
       "Shows a tensor, or writes it to a file.",
       kNone,
       {1, 2},
       {kTensor, kNpyFile},
       {},
       Get},
      {"diff",
       "diff TENSOR TENSOR | diff PROGRAM PROGRAM [INPUT ...] [relative=X] [absolute=X]",
       "Compares two tensors; or calls two programs and tells where they first differ, by all that "
       "compile --keep keeps.",
       kNone,
       {2, kAny},
       {kEither, kEither, kTensor},
       {"relative", "absolute"},
       Diff},
      {"slice",
       "NAME = slice TENSOR BEGIN:END ...",
       "Copies a box of a tensor; one range a dimension.",
       kOne,
       {1, kAny},
       {kTensor, kOther},
       {},
       Slice},
      {"copy", "NAME = copy TENSOR", "Copies a tensor.", kOne, kOne, {kTensor}, {}, Copy},
      {"assign",
       "assign TENSOR FROM [BEGIN ...]",
       "Copies FROM into the box of TENSOR that begins there; without: at 0.",
       kNone,
       {2, kAny},
       {kTensor, kTensor, kOther},
       {},
       Assign},
      {"free",
       "free NAME ...",
       "Frees programs and tensors.",
       kNone,
       {1, kAny},
       {kEither},
       {},
       Free},
      {"list", "list", "Lists programs and tensors.", kNone, kNone, {}, {}, List},
      {"facts",
       "facts",
       "Shows the device's memory, clock and temperature.",
       kNone,
       kNone,
       {},
       {},
       Facts},
      {"help", "help", "Shows this.", kNone, kNone, {}, {}, Help},
      {"quit", "quit", "Ends.", kNone, kNone, {}, {}, Quit},
  };
  return *kCommands;
}

absl::StatusOr<const Command*> FindCommand(const CommandLine& line) {
  const absl::Span<const Command> commands = Commands();
  const auto found = std::find_if(commands.begin(), commands.end(), [&](const Command& command) {
    return command.name == line.command;
  });
  if (found == commands.end()) {
    return WrongCall(absl::StrCat(
        "unknown command \"", line.command, "\"; known are ",
        absl::StrJoin(commands, ", ",
                      [](std::string* out, const Command& command) { *out += command.name; })));
  }
  const Command& command = *found;
  const bool fits =
      command.results.Has(line.results.size()) && command.words.Has(line.words.size());
  if (!fits) return WrongCall(absl::StrCat("usage: ", command.usage));
  for (const auto& [key, value] : line.options) {
    if (std::find(command.options.begin(), command.options.end(), key) == command.options.end()) {
      return WrongCall(absl::StrCat(
          "\"", command.name, "\" has no \"", key,
          "=\" (a file's name with \"=\" is put into quotes); usage: ", command.usage));
    }
  }
  return &command;
}

}  // namespace slipway::cli
