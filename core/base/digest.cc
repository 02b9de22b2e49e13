#include "core/base/digest.h"

#include <openssl/evp.h>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr size_t kSha256Bytes = 32;
constexpr size_t kHexDigits = 2 * kSha256Bytes;

bool IsLowerHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// A piece of hostile text short and printable enough for a message.
std::string Excerpt(absl::string_view text) {
  constexpr size_t kMaxShown = 80;
  return absl::StrCat(absl::CHexEscape(text.substr(0, kMaxShown)),
                      text.size() > kMaxShown ? "..." : "");
}

}  // namespace

struct Hasher::State {
  State() : context(EVP_MD_CTX_new()) {
    SLIPWAY_CHECK(context != nullptr, "no memory for a hash context");
    SLIPWAY_CHECK(EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1,
                  "libcrypto offers no SHA-256");
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  EVP_MD_CTX* const context;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::Update(absl::string_view bytes) {
  SLIPWAY_CHECK(state_ != nullptr, "Update on a finished hasher");
  SLIPWAY_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1,
                "EVP_DigestUpdate failed");
  size_bytes_ += static_cast<int64_t>(bytes.size());
}

Digest Hasher::Finish() {
  SLIPWAY_CHECK(state_ != nullptr, "Finish on a finished hasher");
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  SLIPWAY_CHECK(EVP_DigestFinal_ex(state_->context, hash, &length) == 1 && length == kSha256Bytes,
                "EVP_DigestFinal_ex failed");
  state_.reset();
  return Digest(
      absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(hash), kSha256Bytes)),
      size_bytes_);
}

Digest Digest::Of(absl::string_view bytes) {
  Hasher hasher;
  hasher.Update(bytes);
  return hasher.Finish();
}

absl::StatusOr<Digest> Digest::FromHex(absl::string_view hex, int64_t size_bytes) {
  if (hex.size() != kHexDigits) {
    return absl::InvalidArgumentError(absl::StrCat("digest '", Excerpt(hex), "' has ", hex.size(),
                                                   " characters, not ", kHexDigits));
  }
  for (const char c : hex) {
    if (!IsLowerHex(c)) {
      return absl::InvalidArgumentError(
          absl::StrCat("digest '", Excerpt(hex), "' holds '", absl::CHexEscape(std::string(1, c)),
                       "', which is not a lower-case hexadecimal digit"));
    }
  }
  if (size_bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("digest '", hex, "' has the negative size ", size_bytes));
  }
  return Digest(std::string(hex), size_bytes);
}

absl::StatusOr<Digest> Digest::Parse(absl::string_view text) {
  const size_t slash = text.find('/');
  if (slash == absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("digest '", Excerpt(text), "' is not of the form HEX/SIZE"));
  }
  const absl::string_view size_text = text.substr(slash + 1);
  int64_t size_bytes = 0;
  // The second condition allows one spelling only: SimpleAtoi takes blanks, signs and zeros.
  if (!absl::SimpleAtoi(size_text, &size_bytes) || absl::StrCat(size_bytes) != size_text) {
    return absl::InvalidArgumentError(absl::StrCat("digest '", Excerpt(text), "' has the size '",
                                                   Excerpt(size_text),
                                                   "', which is not a decimal number of bytes"));
  }
  return FromHex(text.substr(0, slash), size_bytes);
}

std::string Digest::ToString() const { return absl::StrCat(hex_, "/", size_bytes_); }

}  // namespace slipway
