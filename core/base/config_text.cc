#include "core/base/config_text.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

class Reader {
 public:
  explicit Reader(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<ConfigEntry>> Read() {
    std::vector<ConfigEntry> entries;
    while (SkipBlanks(), at_ < text_.size()) {
      const absl::string_view name = Word();
      if (name.empty()) return Error("expected the name of a field");
      SkipBlanks();
      if (!Accept(':')) return Error(absl::StrCat("expected \":\" after \"", name, "\""));
      SkipBlanks();
      if (Accept('[')) {
        SkipBlanks();
        while (!Accept(']')) {
          SLIPWAY_RETURN_IF_ERROR(ReadValue(name, entries));
          SkipBlanks();
          if (Accept(',')) {
            SkipBlanks();
          } else if (at_ >= text_.size() || text_[at_] != ']') {
            return Error("expected \",\" or \"]\" in a list");
          }
        }
      } else {
        SLIPWAY_RETURN_IF_ERROR(ReadValue(name, entries));
      }
      SkipBlanks();
      if (!Accept(',')) Accept(';');
    }
    return entries;
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", line_, ": ", what));
  }

  bool Accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void SkipBlanks() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        if (at_ == text_.size()) return;
      }
      if (!absl::ascii_isspace(text_[at_])) return;
      if (text_[at_] == '\n') ++line_;
    }
  }

  // Letters, digits and what numbers are made of.
  absl::string_view Word() {
    const size_t start = at_;
    while (at_ < text_.size() && (absl::ascii_isalnum(text_[at_]) || text_[at_] == '_' ||
                                  text_[at_] == '-' || text_[at_] == '+' || text_[at_] == '.')) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  absl::Status ReadValue(absl::string_view name, std::vector<ConfigEntry>& entries) {
    ConfigEntry entry;
    entry.name = std::string(name);
    entry.line = line_;
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const char quote = text_[at_++];
      const size_t start = at_;
      while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
        at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
      }
      if (at_ >= text_.size() || text_[at_] != quote) {
        return Error(absl::StrCat("the text of \"", name, "\" has no closing quote"));
      }
      std::string error;
      if (!absl::CUnescape(text_.substr(start, at_ - start), &entry.value, &error)) {
        return Error(absl::StrCat("the text of \"", name, "\" has a bad escape: ", error));
      }
      ++at_;
    } else {
      entry.value = std::string(Word());
      if (entry.value.empty()) {
        return Error(absl::StrCat("expected a value for \"", name, "\""));
      }
    }
    entries.push_back(std::move(entry));
    return absl::OkStatus();
  }

  const absl::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

absl::StatusOr<std::vector<ConfigEntry>> ParseConfigText(absl::string_view text) {
  return Reader(text).Read();
}

std::string QuoteConfigText(absl::string_view value) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(value), "\"");
}

}  // namespace slipway
