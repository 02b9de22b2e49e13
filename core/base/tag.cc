#include "core/base/tag.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// What of a text that may be anything fits into a message.
std::string Shown(absl::string_view text) {
  constexpr size_t kShown = 80;
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kShown)), "\"",
                      text.size() > kShown ? " and so on" : "");
}

absl::Status CheckSize(absl::string_view what, absl::string_view text, size_t most) {
  if (!text.empty() && text.size() <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " has ", text.size(), " bytes; 1 to ", most, " wanted"));
}

absl::Status BadCharacter(absl::string_view what, absl::string_view text, size_t at,
                          absl::string_view wanted) {
  const auto byte = static_cast<unsigned char>(text[at]);
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s has %s at byte %d; %s wanted", what,
      absl::ascii_isprint(byte) ? absl::StrFormat("'%c'", text[at])
                                : absl::StrFormat("the byte 0x%02x", static_cast<int>(byte)),
      at + 1, wanted));
}

bool IsInKey(char c, bool is_first) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         (!is_first && absl::string_view("._/-").find(c) != absl::string_view::npos);
}

absl::Status CheckTag(const Tag& tag) {
  const std::string key = absl::StrCat("the key of tag ", Shown(tag.key));
  SLIPWAY_RETURN_IF_ERROR(CheckSize(key, tag.key, kMaxTagKeyBytes));
  for (size_t i = 0; i < tag.key.size(); ++i) {
    if (IsInKey(tag.key[i], i == 0)) continue;
    return BadCharacter(key, tag.key, i,
                        i == 0 ? "a letter or digit" : "letters, digits and any of \"._/-\"");
  }
  const std::string value = absl::StrCat("the value of tag \"", tag.key, "\"");
  SLIPWAY_RETURN_IF_ERROR(CheckSize(value, tag.value, kMaxTagValueBytes));
  for (size_t i = 0; i < tag.value.size(); ++i) {
    if (absl::ascii_isprint(static_cast<unsigned char>(tag.value[i]))) continue;
    return BadCharacter(value, tag.value, i, "printable characters of ASCII");
  }
  return absl::OkStatus();
}

}  // namespace

std::string ToString(const Tag& tag) { return absl::StrCat(tag.key, "=", tag.value); }

absl::StatusOr<std::vector<Tag>> CheckTags(std::vector<Tag> tags) {
  if (tags.size() > kMaxTags) {
    return absl::InvalidArgumentError(
        absl::StrCat(tags.size(), " tags are given; at most ", kMaxTags));
  }
  for (const Tag& tag : tags) SLIPWAY_RETURN_IF_ERROR(CheckTag(tag));
  std::sort(tags.begin(), tags.end(), [](const Tag& a, const Tag& b) { return a.key < b.key; });
  for (size_t i = 1; i < tags.size(); ++i) {
    if (tags[i].key != tags[i - 1].key) continue;
    return absl::InvalidArgumentError(absl::StrCat("tag \"", tags[i].key, "\" is given twice"));
  }
  return tags;
}

absl::StatusOr<std::vector<Tag>> ParseTags(absl::Span<const std::string> texts) {
  std::vector<Tag> tags;
  for (const std::string& text : texts) {
    const size_t end = text.find('=');
    if (end == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("tag ", Shown(text), " has no value; KEY=VALUE wanted"));
    }
    tags.push_back({.key = text.substr(0, end), .value = text.substr(end + 1)});
  }
  return CheckTags(std::move(tags));
}

}  // namespace slipway
