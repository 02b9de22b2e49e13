#include "core/selector/labels.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

bool IsKeyStart(char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); }
bool IsKeyPart(char c) {
  return IsKeyStart(c) || absl::string_view("._-").find(c) != absl::string_view::npos;
}
bool IsValuePart(char c) {
  return absl::ascii_isalnum(c) || absl::string_view("._-+:/@").find(c) != absl::string_view::npos;
}

// Not so much of it that it would be no message any more.
std::string Shown(absl::string_view text) {
  constexpr size_t kMostBytes = 80;
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kMostBytes)), "\"",
                      text.size() > kMostBytes ? "..." : "");
}

std::string ByteAt(absl::string_view text, size_t at) {
  return absl::StrFormat("the byte 0x%02x at %u", static_cast<unsigned char>(text[at]),
                         static_cast<unsigned>(at));
}

absl::Status CheckSize(absl::string_view what, absl::string_view text, size_t most) {
  if (text.size() <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", Shown(text), " has ", text.size(), " bytes; at most ", most));
}

}  // namespace

absl::Status CheckLabelKey(absl::string_view key) {
  SLIPWAY_RETURN_IF_ERROR(CheckSize("the key of a label", key, kMaxLabelKeyBytes));
  if (key.empty()) return absl::InvalidArgumentError("a label has no key");
  const auto bad = absl::c_find_if_not(key, IsKeyPart);
  if (bad == key.end() && IsKeyStart(key.front())) return absl::OkStatus();
  const size_t at = bad == key.end() ? 0 : static_cast<size_t>(bad - key.begin());
  return absl::InvalidArgumentError(
      absl::StrCat("the key of a label ", Shown(key), " has ", ByteAt(key, at),
                   "; a-z, 0-9, \".\", \"_\" and \"-\" wanted, beginning with a letter or digit"));
}

absl::Status CheckLabel(absl::string_view key, absl::string_view value) {
  SLIPWAY_RETURN_IF_ERROR(CheckLabelKey(key));
  const std::string what = absl::StrCat("the value of label \"", key, "\"");
  SLIPWAY_RETURN_IF_ERROR(CheckSize(what, value, kMaxLabelValueBytes));
  const auto bad = absl::c_find_if_not(value, IsValuePart);
  if (bad == value.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      what, ", ", Shown(value), ", has ", ByteAt(value, static_cast<size_t>(bad - value.begin())),
      "; letters, digits and \"._-+:/@\" wanted"));
}

absl::StatusOr<std::pair<std::string, std::string>> ParseLabel(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(Shown(text), " is no label: KEY=VALUE wanted"));
  }
  const absl::string_view key = text.substr(0, equals);
  const absl::string_view value = text.substr(equals + 1);
  SLIPWAY_RETURN_IF_ERROR(CheckLabel(key, value));
  return std::pair(std::string(key), std::string(value));
}

absl::StatusOr<Labels> ParseLabels(absl::Span<const std::string> texts) {
  if (texts.size() > kMaxLabels) {
    return absl::InvalidArgumentError(
        absl::StrCat(texts.size(), " labels are given; at most ", kMaxLabels));
  }
  Labels labels;
  for (const std::string& text : texts) {
    SLIPWAY_ASSIGN_OR_RETURN(const auto label, ParseLabel(text));
    if (!labels.insert(label).second) {
      return absl::InvalidArgumentError(absl::StrCat("label \"", label.first, "\" is given twice"));
    }
  }
  return labels;
}

}  // namespace slipway
