// FlagSet: the flags of a binary or of one of its verbs, given on the command line or in a file of the same
// names.
//
//   FlagSet flags("slipway-agent [flags]", "Runs programs on this device.");
//   flags.Add("server", &options.server, "ADDRESS", "Server to work for.");
//   SLIPWAY_ASSIGN_OR_RETURN(std::vector<std::string> arguments, flags.Parse(argc, argv));
//   if (std::string text = flags.TextAskedFor(); !text.empty()) { fputs(text.c_str(), stdout); return 0; }
//
// On the command line a flag is "--name value" or "--name=value", a bool also "--name" or "--no-name"; "--"
// ends the flags, "-h" is "--help", and "-o" is "--output" where there is one.
// In a file (--config FILE, a subset of protobuf's text format) it is `name: value`, with "_" for "-", text in
// quotes, "#" before comments; a repeated flag is written several times or as ["a", "b"]. The command line
// wins over the file.
#ifndef SLIPWAY_CORE_BASE_FLAGS_H_
#define SLIPWAY_CORE_BASE_FLAGS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace slipway {

// Not thread-safe. --help, --version, --config and --print-config come by themselves.
class FlagSet {
 public:
  // The first line of the help, after "usage: ", which begins with the binary's name, and what is said below it.
  FlagSet(absl::string_view usage, absl::string_view summary) : usage_(usage), summary_(summary) {}

  // Each binds a flag to a variable that must outlive this; what it holds now is the default. `name` is
  // lower-case words joined by "-"; `value_name` stands for the value in the help.
  void Add(absl::string_view name, std::string* value, absl::string_view value_name,
           absl::string_view help);
  void Add(absl::string_view name, bool* value, absl::string_view help);
  // Refuses values outside [min, max].
  void Add(absl::string_view name, int64_t* value, int64_t min, int64_t max,
           absl::string_view value_name, absl::string_view help);
  // A number of bytes, written as "4096", "512MiB" or "2GB" (byte_size.h). Refuses values outside [min, max].
  void AddBytes(absl::string_view name, int64_t* value, int64_t min, int64_t max,
                absl::string_view help);
  // Written as "1.5s", "20ms", "2h"; not negative.
  void Add(absl::string_view name, absl::Duration* value, absl::string_view value_name,
           absl::string_view help);
  // May be given several times.
  void Add(absl::string_view name, std::vector<std::string>* value, absl::string_view value_name,
           absl::string_view help);

  // Sets the variables and returns the arguments that are not flags. INVALID_ARGUMENT names the flag and, for
  // an unknown one, a known one like it; errors of reading the file.
  absl::StatusOr<std::vector<std::string>> Parse(absl::Span<const std::string> arguments);
  // The same without argv[0].
  absl::StatusOr<std::vector<std::string>> Parse(int argc, const char* const* argv);

  // After Parse: what was asked for instead of the work, the help with --help, the binary's name and version with
  // --version, the configuration with --print-config; else "".
  std::string TextAskedFor() const;

  // Whether the flag was given, on the command line or in the file. REQUIRES: it was added.
  bool IsSet(absl::string_view name) const;

  std::string Help() const;
  // Every flag and its value, as a file that --config reads back.
  std::string Config() const;
  // Sets the variables from the text of such a file.
  absl::Status ParseConfig(absl::string_view text);

 private:
  struct Flag {
    std::string name;
    std::variant<std::string*, bool*, int64_t*, absl::Duration*, std::vector<std::string>*> value;
    int64_t min = 0;
    int64_t max = 0;
    bool is_bytes = false;
    std::string value_name;
    std::string help;
    std::string default_text;
    bool is_set = false;

    bool is_bool() const { return std::holds_alternative<bool*>(value); }
    absl::Status Set(absl::string_view text);
  };

  void AddFlag(Flag flag);
  absl::StatusOr<Flag*> Find(absl::string_view name);
  // The bool flag that "no-..." turns off, or null.
  Flag* FindNegated(absl::string_view name);

  const std::string usage_;
  const std::string summary_;
  std::vector<Flag> flags_;
  std::string asked_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_FLAGS_H_
