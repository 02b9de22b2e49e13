#include "server/services/admission.h"

#include "absl/strings/strip.h"

namespace slipway::server {
namespace {

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

}  // namespace slipway::server
