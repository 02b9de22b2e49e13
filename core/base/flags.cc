#include "core/base/flags.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/base/byte_size.h"
#include "core/base/check.h"
#include "core/base/config_text.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"

namespace slipway {
namespace {

constexpr int64_t kMaxConfigBytes = 1 << 20;

// The number of characters inserted, removed or replaced between two names (Levenshtein).
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string ConfigName(absl::string_view name) { return absl::StrReplaceAll(name, {{"-", "_"}}); }

}  // namespace

void FlagSet::AddFlag(Flag flag) {
  for (const Flag& other : flags_) SLIPWAY_CHECK(other.name != flag.name, "a flag is added twice");
  flags_.push_back(std::move(flag));
}

void FlagSet::Add(absl::string_view name, std::string* value, absl::string_view value_name,
                  absl::string_view help) {
  AddFlag({.name = std::string(name),
           .value = value,
           .value_name = std::string(value_name),
           .help = std::string(help),
           .default_text = *value});
}

void FlagSet::Add(absl::string_view name, bool* value, absl::string_view help) {
  AddFlag({.name = std::string(name),
           .value = value,
           .help = std::string(help),
           .default_text = *value ? "true" : ""});
}

void FlagSet::Add(absl::string_view name, int64_t* value, int64_t min, int64_t max,
                  absl::string_view value_name, absl::string_view help) {
  AddFlag({.name = std::string(name),
           .value = value,
           .min = min,
           .max = max,
           .value_name = std::string(value_name),
           .help = std::string(help),
           .default_text = absl::StrCat(*value)});
}

void FlagSet::AddBytes(absl::string_view name, int64_t* value, int64_t min, int64_t max,
                       absl::string_view help) {
  AddFlag({.name = std::string(name),
           .value = value,
           .min = min,
           .max = max,
           .is_bytes = true,
           .value_name = "BYTES",
           .help = std::string(help),
           .default_text = ExactByteSize(*value)});
}

void FlagSet::Add(absl::string_view name, absl::Duration* value, absl::string_view value_name,
                  absl::string_view help) {
  AddFlag({.name = std::string(name),
           .value = value,
           .value_name = std::string(value_name),
           .help = std::string(help),
           .default_text = absl::FormatDuration(*value)});
}

void FlagSet::Add(absl::string_view name, std::vector<std::string>* value,
                  absl::string_view value_name, absl::string_view help) {
  AddFlag({.name = std::string(name),
           .value = value,
           .value_name = std::string(value_name),
           .help = std::string(help),
           .default_text = absl::StrJoin(*value, ", ")});
}

absl::Status FlagSet::Flag::Set(absl::string_view text) {
  const auto refuse = [this, text](absl::string_view expected) {
    return absl::InvalidArgumentError(
        absl::StrCat("flag \"--", name, "\" takes ", expected, ", not \"", text, "\""));
  };
  if (auto* const* target = std::get_if<std::string*>(&value)) {
    **target = std::string(text);
  } else if (auto* const* target = std::get_if<bool*>(&value)) {
    if (text != "true" && text != "false") return refuse("true or false");
    **target = text == "true";
  } else if (auto* const* target = std::get_if<int64_t*>(&value)) {
    int64_t number = 0;
    if (is_bytes) {
      const absl::StatusOr<int64_t> bytes = ParseByteSize(text);
      if (!bytes.ok() || *bytes < min || *bytes > max) {
        return refuse(absl::StrCat("a number of bytes from ", ExactByteSize(min), " to ",
                                   ExactByteSize(max)));
      }
      **target = *bytes;
    } else if (!absl::SimpleAtoi(text, &number) || number < min || number > max) {
      return refuse(absl::StrCat("a number from ", min, " to ", max));
    } else {
      **target = number;
    }
  } else if (auto* const* target = std::get_if<absl::Duration*>(&value)) {
    absl::Duration duration;
    if (!absl::ParseDuration(text, &duration) || duration < absl::ZeroDuration()) {
      return refuse("a duration such as \"1.5s\"");
    }
    **target = duration;
  } else {
    auto& list = *std::get<std::vector<std::string>*>(value);
    // What is given replaces the default.
    if (!is_set) list.clear();
    list.push_back(std::string(text));
  }
  is_set = true;
  return absl::OkStatus();
}

absl::StatusOr<FlagSet::Flag*> FlagSet::Find(absl::string_view name) {
  const Flag* nearest = nullptr;
  size_t nearest_distance = 3;
  for (Flag& flag : flags_) {
    if (flag.name == name) return &flag;
    // A name longer than this is no slip of the keyboard.
    if (name.size() > 64) continue;
    const size_t distance = EditDistance(flag.name, name);
    if (distance < nearest_distance) {
      nearest = &flag;
      nearest_distance = distance;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown flag \"--", name, "\"; ",
                   nearest != nullptr ? absl::StrCat("did you mean \"--", nearest->name, "\"")
                                      : "--help lists the known ones"));
}

FlagSet::Flag* FlagSet::FindNegated(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "no-")) return nullptr;
  const auto found = absl::c_find_if(
      flags_, [name](const Flag& flag) { return flag.is_bool() && flag.name == name; });
  return found == flags_.end() ? nullptr : &*found;
}

absl::StatusOr<std::vector<std::string>> FlagSet::Parse(absl::Span<const std::string> arguments) {
  std::vector<std::string> rest;
  std::vector<std::pair<Flag*, std::string>> given;
  std::string config;
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::string_view argument = arguments[i];
    if (argument == "-h") argument = "--help";
    if (argument == "--") {
      rest.insert(rest.end(), arguments.begin() + i + 1, arguments.end());
      break;
    }
    if (argument == "-" || !absl::StartsWith(argument, "-")) {
      rest.push_back(std::string(argument));
      continue;
    }
    if (argument == "-o" && std::any_of(flags_.begin(), flags_.end(),
                                        [](const Flag& flag) { return flag.name == "output"; })) {
      argument = "--output";
    }
    if (!absl::ConsumePrefix(&argument, "--")) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown flag \"", argument, "\"; --help lists the known ones"));
    }
    const size_t equals = argument.find('=');
    const absl::string_view name = argument.substr(0, equals);
    const bool has_value = equals != absl::string_view::npos;
    std::string value = has_value ? std::string(argument.substr(equals + 1)) : "";

    Flag* flag = nullptr;
    if (name == "help" || name == "version" || name == "print-config") {
      if (asked_.empty()) asked_ = std::string(name);
      continue;
    }
    if (Flag* const negated = has_value ? nullptr : FindNegated(name); negated != nullptr) {
      given.emplace_back(negated, "false");
      continue;
    }
    if (name != "config") {
      SLIPWAY_ASSIGN_OR_RETURN(flag, Find(name));
    }
    if (!has_value) {
      if (flag != nullptr && flag->is_bool()) {
        value = "true";
      } else if (i + 1 < arguments.size()) {
        value = arguments[++i];
      } else {
        return absl::InvalidArgumentError(absl::StrCat("flag \"--", name, "\" needs a value"));
      }
    }
    if (flag == nullptr) {
      config = value;
    } else {
      given.emplace_back(flag, std::move(value));
    }
  }
  if (!config.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(std::string text, ReadFile(config, kMaxConfigBytes));
    SLIPWAY_RETURN_IF_ERROR_WITH(ParseConfig(text), absl::StrCat("\"", config, "\""));
  }
  // The command line replaces what the file said, lists as a whole.
  std::vector<bool> in_file;
  for (Flag& flag : flags_) in_file.push_back(std::exchange(flag.is_set, false));
  for (const auto& [flag, value] : given) {
    SLIPWAY_RETURN_IF_ERROR(flag->Set(value));
  }
  for (size_t i = 0; i < flags_.size(); ++i) flags_[i].is_set = flags_[i].is_set || in_file[i];
  return rest;
}

absl::StatusOr<std::vector<std::string>> FlagSet::Parse(int argc, const char* const* argv) {
  return Parse(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

absl::Status FlagSet::ParseConfig(absl::string_view text) {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<ConfigEntry> entries, ParseConfigText(text));
  std::vector<const Flag*> seen;
  for (const ConfigEntry& entry : entries) {
    const auto in_line = [&entry](const absl::Status& status) {
      return Annotate(status, absl::StrCat("line ", entry.line));
    };
    absl::StatusOr<Flag*> flag = Find(absl::StrReplaceAll(entry.name, {{"_", "-"}}));
    if (!flag.ok()) return in_line(flag.status());
    const bool repeated = std::holds_alternative<std::vector<std::string>*>((*flag)->value);
    if (!repeated && absl::c_linear_search(seen, *flag)) {
      return in_line(
          absl::InvalidArgumentError(absl::StrCat("\"", entry.name, "\" is given twice")));
    }
    seen.push_back(*flag);
    SLIPWAY_RETURN_IF_ERROR(in_line((*flag)->Set(entry.value)));
  }
  return absl::OkStatus();
}

std::string FlagSet::TextAskedFor() const {
  if (asked_ == "help") return Help();
  if (asked_ == "version") {
    return absl::StrCat(usage_.substr(0, usage_.find(' ')), " ", kVersion, "\n");
  }
  return asked_ == "print-config" ? Config() : "";
}

bool FlagSet::IsSet(absl::string_view name) const {
  for (const Flag& flag : flags_) {
    if (flag.name == name) return flag.is_set;
  }
  SLIPWAY_CHECK(false, "IsSet of a flag that was not added");
  return false;
}

std::string FlagSet::Help() const {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Flag& flag : flags_) {
    std::string left = absl::StrCat("  --", flag.name);
    if (!flag.is_bool()) absl::StrAppend(&left, " ", flag.value_name);
    std::string right = flag.help;
    if (!flag.default_text.empty()) absl::StrAppend(&right, " [", flag.default_text, "]");
    rows.emplace_back(std::move(left), std::move(right));
  }
  rows.emplace_back("  --config FILE", "Read flags from a file of `name: value` lines.");
  rows.emplace_back("  --print-config", "Print all flags and values as such a file, and exit.");
  rows.emplace_back("  --version", "Print the version, and exit.");
  rows.emplace_back("  --help", "Print this, and exit.");
  size_t width = 0;
  for (const auto& [left, right] : rows) width = std::max(width, left.size());
  std::string text = absl::StrCat("usage: ", usage_, "\n\n", summary_, "\n\nflags:\n");
  for (const auto& [left, right] : rows) {
    absl::StrAppend(&text, left, std::string(width - left.size() + 2, ' '), right, "\n");
  }
  return text;
}

std::string FlagSet::Config() const {
  std::string text;
  for (const Flag& flag : flags_) {
    const std::string name = ConfigName(flag.name);
    if (auto* const* value = std::get_if<std::string*>(&flag.value)) {
      absl::StrAppend(&text, name, ": ", QuoteConfigText(**value), "\n");
    } else if (auto* const* value = std::get_if<bool*>(&flag.value)) {
      absl::StrAppend(&text, name, ": ", **value ? "true" : "false", "\n");
    } else if (auto* const* value = std::get_if<int64_t*>(&flag.value)) {
      absl::StrAppend(
          &text, name, ": ",
          flag.is_bytes ? QuoteConfigText(ExactByteSize(**value)) : absl::StrCat(**value), "\n");
    } else if (auto* const* value = std::get_if<absl::Duration*>(&flag.value)) {
      absl::StrAppend(&text, name, ": \"", absl::FormatDuration(**value), "\"\n");
    } else {
      for (const std::string& item : *std::get<std::vector<std::string>*>(flag.value)) {
        absl::StrAppend(&text, name, ": ", QuoteConfigText(item), "\n");
      }
    }
  }
  return text;
}

}  // namespace slipway
