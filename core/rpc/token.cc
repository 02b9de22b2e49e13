#include "core/rpc/token.h"

#include <algorithm>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr size_t kMinTokenBytes = 16;
constexpr int64_t kMaxTokenBytes = 4'096;

}  // namespace

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  if (path.empty()) return "";
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckSecretFile(path), "--token-file");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::string text, ReadFile(path, kMaxTokenBytes),
                                "--token-file");
  const std::string token(absl::StripAsciiWhitespace(text));
  const bool is_printable = std::all_of(token.begin(), token.end(),
                                        [](unsigned char c) { return absl::ascii_isgraph(c); });
  if (token.size() >= kMinTokenBytes && is_printable) return token;
  return absl::InvalidArgumentError(absl::StrCat("--token-file \"", path,
                                                 "\" holds no token of at least ", kMinTokenBytes,
                                                 " printable ASCII characters"));
}

std::string NewSecret() {
  std::random_device random;
  std::string secret;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&secret, absl::Hex(random(), absl::kZeroPad8));
  return secret;
}

bool IsSameSecret(absl::string_view secret, absl::string_view given) {
  if (secret.empty()) return given.empty();
  unsigned char differs = given.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    differs |= static_cast<unsigned char>(given[i] ^ secret[i % secret.size()]);
  }
  return differs == 0;
}

}  // namespace slipway
