#include "core/identity/join_code.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/identity/random_bytes.h"

namespace slipway {
namespace {

constexpr absl::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr size_t kBitsOfCharacter = 5;
constexpr size_t kSecretCharacters = 16;
constexpr size_t kSecretBytes = kSecretCharacters * kBitsOfCharacter / 8;
constexpr size_t kAuthorityCharacters = 20;
constexpr size_t kCharacters = kSecretCharacters + kAuthorityCharacters;
constexpr size_t kGroupCharacters = 6;

// The first bits of `bytes`, the highest of each byte first.
std::string Encode(absl::string_view bytes, size_t characters) {
  std::string text;
  uint32_t bits = 0;  // The lowest `count` of them are still to be written.
  size_t count = 0;
  size_t next = 0;
  while (text.size() < characters) {
    if (count < kBitsOfCharacter) {
      bits = bits << 8 | static_cast<uint8_t>(bytes[next++]);
      count += 8;
    }
    count -= kBitsOfCharacter;
    text.push_back(kAlphabet[bits >> count & 0x1f]);
  }
  return text;
}

char Canonical(char c) {
  const char upper = absl::ascii_toupper(static_cast<unsigned char>(c));
  if (upper == 'I' || upper == 'L') return '1';
  return upper == 'O' ? '0' : upper;
}

}  // namespace

JoinCode JoinCode::New(const Digest& authority) {
  return {.secret = Encode(RandomBytes(kSecretBytes), kSecretCharacters),
          .authority = AuthorityText(authority)};
}

std::string JoinCode::ToString() const {
  const std::string characters = absl::StrCat(secret, authority);
  std::string text;
  for (size_t begin = 0; begin < characters.size(); begin += kGroupCharacters) {
    absl::StrAppend(&text, text.empty() ? "" : "-", characters.substr(begin, kGroupCharacters));
  }
  return text;
}

absl::StatusOr<JoinCode> JoinCode::Parse(absl::string_view text) {
  std::string characters;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '-' || absl::ascii_isspace(static_cast<unsigned char>(text[i]))) continue;
    const char c = Canonical(text[i]);
    if (kAlphabet.find(c) == absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          "byte ", i + 1,
          " of the join code is none of those that it is made of: letters but U, digits "
          "and dashes"));
    }
    if (characters.size() == kCharacters) {
      return absl::InvalidArgumentError(
          absl::StrCat("the join code is too long: it has ", kCharacters, " letters and digits"));
    }
    characters.push_back(c);
  }
  if (characters.size() < kCharacters) {
    return absl::InvalidArgumentError(absl::StrCat("the join code has ", characters.size(),
                                                   " letters and digits, not ", kCharacters,
                                                   ": enter all of it"));
  }
  return JoinCode{.secret = characters.substr(0, kSecretCharacters),
                  .authority = characters.substr(kSecretCharacters)};
}

bool JoinCode::IsFor(const Digest& fingerprint) const {
  return authority == AuthorityText(fingerprint);
}

std::string AuthorityText(const Digest& fingerprint) {
  SLIPWAY_CHECK(fingerprint.is_set(), "there is no fingerprint");
  return Encode(absl::HexStringToBytes(fingerprint.hex()), kAuthorityCharacters);
}

absl::string_view JoinCommand(Role role) {
  switch (role) {
    case Role::kAgent:
      return "slipway-agent join";
    case Role::kWorker:
      return "slipway-compile-worker join";
    case Role::kAdmin:
      return "slipwayd join";
    case Role::kUser:
    case Role::kServer:
      break;
  }
  return "slipway join";
}

}  // namespace slipway
