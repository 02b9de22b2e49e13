#include "server/services/admission.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway::server {
namespace {

constexpr size_t kMinTokenBytes = 16;
constexpr int64_t kMaxTokenBytes = 4'096;

// In a time that depends on the length of `given` alone.
bool EqualInConstantTime(absl::string_view given, absl::string_view wanted) {
  unsigned char differs = given.size() == wanted.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    differs |= static_cast<unsigned char>(given[i] ^ wanted[i % wanted.size()]);
  }
  return differs == 0;
}

}  // namespace

absl::Status Admission::Check(absl::string_view authorization) const {
  if (token_.empty()) return absl::OkStatus();
  absl::string_view given = authorization;
  if (!absl::ConsumePrefix(&given, "Bearer ")) {
    return absl::UnauthenticatedError("this server wants a token: pass --token-file");
  }
  if (EqualInConstantTime(given, token_)) return absl::OkStatus();
  return absl::UnauthenticatedError("the token is not that of this server: check --token-file");
}

absl::StatusOr<std::string> Admission::ReadToken(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::string text, ReadFile(path, kMaxTokenBytes),
                                "--token-file");
  const std::string token(absl::StripAsciiWhitespace(text));
  const bool is_printable = std::all_of(token.begin(), token.end(),
                                        [](unsigned char c) { return absl::ascii_isgraph(c); });
  if (token.size() >= kMinTokenBytes && is_printable) return token;
  return absl::InvalidArgumentError(absl::StrCat("--token-file '", path,
                                                 "' holds no token of at least ", kMinTokenBytes,
                                                 " printable ASCII characters"));
}

}  // namespace slipway::server
