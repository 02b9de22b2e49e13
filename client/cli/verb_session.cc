// slipway session: a device in your hand.
#include <fstream>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/line_reader.h"
#include "client/cli/open_session.h"
#include "client/cli/verbs.h"
#include "client/shell/completion.h"
#include "client/shell/shell.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

// What programs print and what goes wrong come from two threads.
class ErrorLines {
 public:
  // To `reader`, if there is one, which knows what is typed.
  ErrorLines(std::ostream& err, LineReader* reader) : err_(err), reader_(reader) {}
  void Write(absl::string_view prefix, absl::string_view text) {
    std::string lines;
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      absl::StrAppend(&lines, prefix, Printable(line), "\n");
    }
    if (reader_ != nullptr) return reader_->Tell(lines);
    absl::MutexLock lock(&mutex_);
    // At once, lest what is written to out comes in between.
    err_ << lines << std::flush;
  }

 private:
  absl::Mutex mutex_;
  std::ostream& err_;
  LineReader* const reader_;
};

// Where lines come from.
struct Script {
  std::istream* in = nullptr;
  LineReader* reader = nullptr;  // Of what is typed, instead of `in`.
  std::string name;              // For messages.
  bool is_prompted = false;
};

std::optional<std::string> NextLine(Environment& environment, Shell& shell, const Script& script) {
  const std::string prompt = absl::StrCat(shell.session().device(), "> ");
  if (script.reader != nullptr) {
    return script.reader->Read(prompt, [&shell](absl::string_view before) {
      return CompleteLine(before, shell.names(), ListFolderOnDisk);
    });
  }
  if (script.is_prompted) environment.out << prompt << std::flush;
  std::string line;
  return std::getline(*script.in, line) ? std::make_optional(line) : std::nullopt;
}

// Until the end of the lines, "quit", or in a script the first error.
absl::Status RunLines(Environment& environment, Shell& shell, const Script& script,
                      ErrorLines& errors) {
  const auto set_handler = [&](std::function<void()> handler) {
    if (environment.interrupts != nullptr) environment.interrupts->SetHandler(std::move(handler));
  };
  for (int64_t number = 1; !shell.has_quit(); ++number) {
    if (script.reader != nullptr) {
      // A Ctrl-C is a character then; it is the terminal that goes, or somebody who ends this process.
      set_handler([reader = script.reader] { reader->Stop(); });
    } else if (script.is_prompted) {
      set_handler([&errors] {
        errors.Write("",
                     "nothing is under way; \"quit\" ends the session, and so does another Ctrl-C");
      });
    }
    const std::optional<std::string> line = NextLine(environment, shell, script);
    if (!line.has_value()) break;
    if (script.is_prompted) set_handler([&shell] { shell.Cancel(); });
    const absl::Status status = shell.Execute(*line);
    if (status.ok()) continue;
    if (!script.is_prompted) return Annotate(status, absl::StrCat(script.name, ":", number));
    errors.Write("error: ", status.message());
  }
  set_handler(nullptr);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunSession(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  SessionFlags session_flags;
  std::string script_file;
  std::string lease;
  bool json = false;
  FlagSet flags(
      "slipway session [flags]",
      "Holds a device, and does with it what is typed or what a script says: load a "
      "program, put tensors,\ncall, time, profile, compare. \"help\" lists the commands.");
  flags.Add(
      "script", &script_file, "FILE",
      "Commands, a line each; the first error ends it. Else what is typed, or standard input.");
  flags.Add(
      "lease", &lease, "SESSION:TICKET",
      "Take a session up, and leave it at the end, instead of opening one; of \"slipway lease "
      "take\".");
  session_flags.AddTo(flags);
  flags.Add("json", &json, "Print a JSON object for each command.");
  connection_flags.AddTo(flags, /*can_be_local=*/true);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {}));
  if (!names.has_value()) return absl::OkStatus();
  Script script{.in = environment.in, .name = "input", .is_prompted = environment.in_is_terminal};
  std::ifstream file;
  if (!script_file.empty()) {
    file.open(script_file);
    if (!file) return WrongCall(absl::StrCat("\"", script_file, "\" cannot be read"));
    script = {.in = &file, .name = script_file, .is_prompted = false};
  }
  if (script.in == nullptr) return WrongCall("there is no input; name a script with \"--script\"");
  if (!lease.empty()) SLIPWAY_RETURN_IF_ERROR(ParseLease(lease).status());

  SLIPWAY_ASSIGN_OR_RETURN(const ServerPlace place, FindServer(environment, connection_flags));
  SLIPWAY_RETURN_IF_ERROR(EnsureDevice(environment, connection_flags, place, session_flags.target));
  std::unique_ptr<LineReader> reader;
  if (script.is_prompted && environment.edit_lines) reader = environment.edit_lines();
  script.reader = reader.get();
  ErrorLines errors(environment.err, reader.get());
  SLIPWAY_ASSIGN_OR_RETURN(
      ResumedSession opened,
      OpenSession(environment, place, session_flags, lease,
                  [&errors](const std::string& text) { errors.Write("log: ", text); }));
  Shell shell(std::move(opened),
              {.out = &environment.out, .json = json, .interrupts = environment.interrupts});
  const absl::Status status = RunLines(environment, shell, script, errors);
  const absl::Status ended = lease.empty() ? shell.session().Close() : shell.session().Detach();
  return status.ok() ? ended : status;
}

}  // namespace slipway::cli
