#include "core/http/url.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "core/base/utf8.h"

namespace slipway {
namespace {

constexpr size_t kMostParts = 64;
constexpr size_t kMostPairs = 256;

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = absl::ascii_tolower(static_cast<unsigned char>(c));
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

absl::StatusOr<std::string> Decode(absl::string_view text, bool plus_is_blank) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_blank) c = ' ';
    if (c == '%') {
      const int high = i + 2 < text.size() ? DigitOf(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? DigitOf(text[i + 2]) : -1;
      if (high < 0 || low < 0) return absl::InvalidArgumentError("a \"%\" without two digits");
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      return absl::InvalidArgumentError("a control character in the address");
    }
    decoded.push_back(c);
  }
  if (!IsUtf8(decoded)) return absl::InvalidArgumentError("the address is not UTF-8");
  return decoded;
}

}  // namespace

absl::StatusOr<Url> ParseUrl(absl::string_view target) {
  if (target.empty() || target.front() != '/') {
    return absl::InvalidArgumentError("the address begins without \"/\"");
  }
  target = target.substr(0, target.find('#'));
  const size_t question = target.find('?');
  const absl::string_view path =
      target.substr(1, question == target.npos ? question : question - 1);
  Url url;
  if (!path.empty()) {
    for (const absl::string_view part : absl::StrSplit(path, '/')) {
      if (url.path.size() == kMostParts) return absl::InvalidArgumentError("the path is too deep");
      absl::StatusOr<std::string> decoded = Decode(part, /*plus_is_blank=*/false);
      if (!decoded.ok()) return decoded.status();
      url.path.push_back(*std::move(decoded));
    }
  }
  if (question == target.npos) return url;
  for (const absl::string_view pair :
       absl::StrSplit(target.substr(question + 1), '&', absl::SkipEmpty())) {
    if (url.query.size() == kMostPairs) {
      return absl::InvalidArgumentError("the query has too many pairs");
    }
    const size_t equals = pair.find('=');
    absl::StatusOr<std::string> name = Decode(pair.substr(0, equals), true);
    if (!name.ok()) return name.status();
    absl::StatusOr<std::string> value =
        Decode(equals == pair.npos ? "" : pair.substr(equals + 1), true);
    if (!value.ok()) return value.status();
    url.query.emplace_back(*std::move(name), *std::move(value));
  }
  return url;
}

}  // namespace slipway
