#include "core/identity/identity_file.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/files.h"
#include "core/base/own_files.h"
#include "core/base/state_folder.h"
#include "core/base/status_macros.h"
#include "core/identity/x509.h"

namespace slipway {
namespace {

constexpr char kKeyLabel[] = "PRIVATE KEY";
constexpr char kCertificateLabel[] = "CERTIFICATE";

// What a name in the DNS may have; a longer one would also be too long for a folder's name.
constexpr size_t kMaxHostBytes = 253;

// Takes one block of PEM from the front of `text`, up to the end of its last line; empty when there is none.
absl::string_view TakeBlock(absl::string_view label, absl::string_view& text) {
  if (!absl::StartsWith(text, absl::StrCat("-----BEGIN ", label, "-----\n"))) return {};
  const std::string last_line = absl::StrCat("\n-----END ", label, "-----\n");
  const size_t at = text.find(last_line);
  if (at == absl::string_view::npos) return {};
  const absl::string_view block = text.substr(0, at + last_line.size());
  text.remove_prefix(block.size());
  return block;
}

absl::Status CheckIsOneBlock(absl::string_view label, absl::string_view text) {
  absl::string_view rest = text;
  if (!TakeBlock(label, rest).empty() && rest.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the ", label, " is not one block of PEM"));
}

// INVALID_ARGUMENT unless the three are what they are said to be, and belong together.
absl::Status CheckIdentity(const Identity& identity) {
  SLIPWAY_RETURN_IF_ERROR(CheckIsOneBlock(kKeyLabel, identity.key));
  SLIPWAY_RETURN_IF_ERROR(CheckIsOneBlock(kCertificateLabel, identity.certificate));
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckIsOneBlock(kCertificateLabel, identity.authority),
                               "the authority");
  SLIPWAY_ASSIGN_OR_RETURN(const UniquePkey key, ParseKey(identity.key));
  SLIPWAY_ASSIGN_OR_RETURN(const ParsedCertificate certificate,
                           ParseCertificate(identity.certificate));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const ParsedCertificate authority,
                                ParseCertificate(identity.authority), "the authority");
  SLIPWAY_RETURN_IF_ERROR(CheckIsKeyOf(key.get(), certificate.x509.get()));
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckIsAuthority(authority.x509.get()), "the authority");
  return CheckIsSignedBy(certificate.x509.get(), authority.x509.get());
}

std::string Quote(absl::string_view text) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
}

// The folder's name becomes a part of a path: what is let through here has no slash, and does not begin with a dot.
bool IsHostName(absl::string_view host) {
  return !host.empty() && host.size() <= kMaxHostBytes && host[0] != '.' &&
         !absl::StrContains(host, "..") && std::all_of(host.begin(), host.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' ||
                  c == '_';
         });
}

// In one spelling; nullopt for what is no host.
std::optional<std::string> CanonicalHost(absl::string_view host) {
  if (absl::ConsumePrefix(&host, "[")) {
    in6_addr six;
    char text[INET6_ADDRSTRLEN];
    if (!absl::ConsumeSuffix(&host, "]") || absl::StrContains(host, '\0') ||
        inet_pton(AF_INET6, std::string(host).c_str(), &six) != 1 ||
        inet_ntop(AF_INET6, &six, text, sizeof(text)) == nullptr) {
      return std::nullopt;
    }
    return absl::StrCat("[", text, "]");
  }
  if (!IsHostName(host)) return std::nullopt;
  const std::string name = absl::AsciiStrToLower(host);
  return name == "localhost" ? "127.0.0.1" : name;
}

bool IsPort(absl::string_view text) {
  int port = 0;
  // The last condition allows one spelling only: SimpleAtoi takes blanks, signs and zeros.
  return absl::SimpleAtoi(text, &port) && port >= 1 && port <= UINT16_MAX &&
         absl::StrCat(port) == text;
}

}  // namespace

absl::Status WriteIdentity(const std::string& path, const Identity& identity) {
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckIdentity(identity),
                               absl::StrCat("this is no identity for ", Quote(path)));
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) {
    SLIPWAY_RETURN_IF_ERROR(MakeOwnFolder(path.substr(0, slash)));
  }
  return WriteFileAtomically(path,
                             absl::StrCat(identity.key, identity.certificate, identity.authority),
                             /*durable=*/true, 0600);
}

absl::StatusOr<Identity> ReadIdentity(const std::string& path) {
  SLIPWAY_RETURN_IF_ERROR(CheckSecretFile(path));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxPemBytes));
  absl::string_view rest = text;
  Identity identity;
  identity.key = std::string(TakeBlock(kKeyLabel, rest));
  identity.certificate = std::string(TakeBlock(kCertificateLabel, rest));
  identity.authority = std::string(TakeBlock(kCertificateLabel, rest));
  absl::Status status = CheckIdentity(identity);
  if (status.ok() && !rest.empty()) {
    status = absl::InvalidArgumentError("there is something after the authority");
  }
  if (status.ok()) return identity;
  if (!absl::IsInvalidArgument(status)) return status;
  return absl::DataLossError(absl::StrCat("the identity in ", Quote(path), " is damaged: ",
                                          status.message(), "; remove the file and join again"));
}

absl::StatusOr<std::string> IdentityPath(absl::string_view address, Role role) {
  const size_t colon = address.rfind(':');
  std::optional<std::string> host;
  if (colon != absl::string_view::npos && IsPort(address.substr(colon + 1))) {
    host = CanonicalHost(address.substr(0, colon));
  }
  if (!host.has_value()) {
    constexpr size_t kMaxShown = 300;
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(address.substr(0, kMaxShown)), " is no address of a server: HOST:PORT is wanted"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::string folder, UserConfigFolder());
  return JoinPath(
      folder, absl::StrCat("servers/", *host, address.substr(colon), "/", RoleName(role), ".pem"));
}

}  // namespace slipway
