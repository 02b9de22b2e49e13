#include "core/http/http_message.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace slipway {

absl::string_view HttpRequest::Header(absl::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return "";
}

absl::string_view HttpRequest::Cookie(absl::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key != "cookie") continue;
    for (const absl::string_view pair : absl::StrSplit(value, ';')) {
      const size_t equals = pair.find('=');
      if (equals == absl::string_view::npos) continue;
      if (absl::StripAsciiWhitespace(pair.substr(0, equals)) == name) {
        return absl::StripAsciiWhitespace(pair.substr(equals + 1));
      }
    }
  }
  return "";
}

}  // namespace slipway
