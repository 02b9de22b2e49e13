#include "core/identity/identity_id.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/identity/random_bytes.h"

namespace slipway {
namespace {

constexpr size_t kIdBytes = 8;
constexpr size_t kMaxNameBytes = 63;
constexpr absl::string_view kUriPrefix = "urn:slipway:identity:";

bool IsLowerOrDigit(char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); }

}  // namespace

std::string NewIdentityId() { return absl::BytesToHexString(RandomBytes(kIdBytes)); }

bool IsIdentityId(absl::string_view text) {
  return text.size() == 2 * kIdBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

std::string IdentityUri(absl::string_view id) { return absl::StrCat(kUriPrefix, id); }

std::optional<std::string> IdentityOfUri(absl::string_view uri) {
  if (!absl::ConsumePrefix(&uri, kUriPrefix) || !IsIdentityId(uri)) return std::nullopt;
  return std::string(uri);
}

absl::Status CheckIdentityName(absl::string_view name) {
  const bool is_name = !name.empty() && name.size() <= kMaxNameBytes && IsLowerOrDigit(name[0]) &&
                       std::all_of(name.begin(), name.end(), [](char c) {
                         return IsLowerOrDigit(c) || c == '_' || c == '-';
                       });
  if (is_name) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", absl::CHexEscape(name.substr(0, kMaxNameBytes + 1)), "\" is no name: 1 to ",
      kMaxNameBytes,
      " lower-case letters, digits, \"-\" and \"_\" are wanted, a letter or digit first"));
}

}  // namespace slipway
