#include "server/services/join_service.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/identity/certificate.h"
#include "core/identity/identity_id.h"
#include "proto/slipway/v1/identity.pb.h"
#include "server/handlers/identities.h"

namespace slipway::server {
namespace {

// The id of the record that a certificate names; empty when there is none.
std::string IdentityIn(absl::string_view certificate) {
  const absl::StatusOr<CertificateFacts> facts = ReadCertificate(certificate);
  if (!facts.ok()) return "";
  for (const std::string& uri : facts->uris) {
    if (const auto id = IdentityOfUri(uri); id.has_value()) return *id;
  }
  return "";
}

}  // namespace

std::string AnswerJoinRequest(const Environment& env, const CallAudit& audit,
                              absl::string_view request, absl::string_view peer) {
  v1::JoinRequest asked;
  v1::JoinAnswer answer;
  if (asked.ParseFromArray(request.data(), static_cast<int>(request.size()))) {
    answer = Join(env, asked);
  } else {
    answer.set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
    answer.set_message("the request to join cannot be read");
  }
  audit.TellJoin({.name = answer.name(),
                  .identity = IdentityIn(answer.certificate()),
                  .role = asked.role(),
                  .address = peer},
                 absl::Status(static_cast<absl::StatusCode>(answer.code()), answer.message()));
  return answer.SerializeAsString();
}

}  // namespace slipway::server
