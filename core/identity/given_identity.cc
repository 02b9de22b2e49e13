#include "core/identity/given_identity.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/digest.h"
#include "core/identity/identity_id.h"

namespace slipway {
namespace {

// What four roles and a name come to, and more.
constexpr size_t kMaxUriBytes = 256;
constexpr size_t kIdDigits = 16;

}  // namespace

std::string GivenIdentity::id() const {
  // Whatever order the certificate has the roles in.
  return Digest::Of(absl::StrCat("urn:slipway:", roles.ToString("+"), ":", name))
      .hex()
      .substr(0, kIdDigits);
}

std::optional<GivenIdentity> GivenIdentityOfUri(absl::string_view uri) {
  if (uri.size() > kMaxUriBytes || !absl::ConsumePrefix(&uri, kSlipwayUriPrefix)) {
    return std::nullopt;
  }
  const size_t colon = uri.find(':');
  if (colon == absl::string_view::npos) return std::nullopt;
  const absl::StatusOr<RoleSet> roles = RoleSet::Parse(uri.substr(0, colon));
  const absl::string_view name = uri.substr(colon + 1);
  if (!roles.ok() || roles->Has(Role::kServer) || !CheckIdentityName(name).ok()) {
    return std::nullopt;
  }
  return GivenIdentity{.name = std::string(name), .roles = *roles};
}

std::optional<std::string> RecordIdOfUri(absl::string_view uri) {
  std::optional<std::string> id = IdentityOfUri(uri);
  if (id.has_value()) return id;
  const std::optional<GivenIdentity> given = GivenIdentityOfUri(uri);
  return given.has_value() ? std::optional(given->id()) : std::nullopt;
}

}  // namespace slipway
