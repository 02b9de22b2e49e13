#include "core/rpc/grpc_credentials.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/given_certificate.h"
#include "core/identity/given_identity.h"
#include "core/identity/identity_file.h"
#include "core/identity/identity_id.h"

namespace slipway {
namespace {

namespace tls = grpc::experimental;

// Between looks at a file that may have changed. Identities are renewed days before they expire.
constexpr unsigned kReadAgainSeconds = 10;

// One file may have several parts: each is found by its kind.
std::shared_ptr<tls::CertificateProviderInterface> Watch(const ServerFiles& files) {
  return std::make_shared<tls::FileWatcherCertificateProvider>(
      files.key, files.certificate, files.authorities, kReadAgainSeconds);
}

class IdentityVerifier final : public tls::ExternalCertificateVerifier {
 public:
  IdentityVerifier(MayConnect may_connect, bool takes_tokens)
      : may_connect_(std::move(may_connect)), takes_tokens_(takes_tokens) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>,
              grpc::Status* status) override {
    // Without a certificate a token must be shown with each call.
    bool may_connect = takes_tokens_ && request->peer_cert().empty() && may_connect_("");
    for (const grpc::string_ref& name : request->uri_names()) {
      const absl::string_view uri(name.data(), name.size());
      if (!absl::StartsWith(uri, kSlipwayUriPrefix)) continue;
      // Whoever is several is nobody, if one of them is.
      may_connect = may_connect_(uri);
      if (!may_connect) break;
    }
    *status = may_connect ? grpc::Status::OK
                          : grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "may not connect");
    return true;  // It is decided.
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest*) override {}

 private:
  const MayConnect may_connect_;
  const bool takes_tokens_;
};

// Who is called goes by names that no address has.
class NameVerifier final : public tls::ExternalCertificateVerifier {
 public:
  explicit NameVerifier(std::vector<std::string> names) : names_(std::move(names)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>,
              grpc::Status* status) override {
    for (const grpc::string_ref& name : request->dns_names()) {
      if (absl::c_linear_search(names_, absl::string_view(name.data(), name.size()))) {
        *status = grpc::Status::OK;
        return true;  // It is decided.
      }
    }
    *status = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "certificate verify failed: a name");
    return true;
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest*) override {}

 private:
  const std::vector<std::string> names_;
};

// To who bears the one name that ApplyNames asks for. A provider that reads files anew would lose them where a connection is made while
// another one ends: gRPC 1.51 may tell it of the former's end after the latter's beginning, and then gives the latter no certificates.
std::shared_ptr<grpc::ChannelCredentials> ServerCallerCredentials(const CallerProof& proof) {
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = proof.authority;
  if (!proof.authority_file.empty()) {
    // Of no authorities gRPC would make those that the system trusts.
    options.pem_root_certs =
        ReadGivenAuthorities(proof.authority_file, absl::Now()).value_or("unreadable");
    if (!proof.identity_file.empty()) {
      GivenCertificate given = ReadGivenCertificate(proof.identity_file, proof.identity_file,
                                                    CertificateUse::kCaller, absl::Now())
                                   .value_or(GivenCertificate());
      options.pem_private_key = std::move(given.key);
      options.pem_cert_chain = std::move(given.chain);
    }
  } else if (!proof.identity_file.empty()) {
    // What cannot be read is no certificate: the server says so.
    const Identity identity = ReadIdentity(proof.identity_file).value_or(Identity());
    options = {.pem_root_certs = identity.authority,
               .pem_private_key = identity.key,
               .pem_cert_chain = identity.certificate};
  }
  return grpc::SslCredentials(options);
}

}  // namespace

std::vector<std::string> ServerNames() { return {kServerCertificateName}; }

void ApplyNames(const CallerProof& proof, const std::vector<std::string>& names,
                grpc::ChannelArguments& arguments) {
  if (proof.authority_file.empty()) arguments.SetSslTargetNameOverride(names.front());
}

std::vector<std::string> AgentNames(absl::string_view device) {
  return {AgentCertificateName(device.substr(0, device.find('.'))),
          AgentCertificateName(kOwnIdentityName)};
}

std::shared_ptr<grpc::ChannelCredentials> CallerCredentials(const CallerProof& proof,
                                                            std::vector<std::string> names) {
  if (!proof.is_over_tls()) return grpc::InsecureChannelCredentials();
  if (names.size() == 1) return ServerCallerCredentials(proof);
  tls::TlsChannelCredentialsOptions options;
  if (proof.identity_file.empty()) {
    options.set_certificate_provider(
        std::make_shared<tls::StaticDataCertificateProvider>(proof.authority));
  } else {
    options.set_certificate_provider(Watch(ServerFiles::Of(proof.identity_file)));
    options.watch_identity_key_cert_pairs();
  }
  options.watch_root_certs();
  options.set_verify_server_certs(true);
  options.set_certificate_verifier(
      tls::ExternalCertificateVerifier::Create<NameVerifier>(std::move(names)));
  options.set_check_call_host(false);
  return tls::TlsCredentials(options);
}

std::shared_ptr<grpc::ServerCredentials> ServerCredentialsFor(const ServerFiles& files,
                                                              MayConnect may_connect,
                                                              bool takes_tokens) {
  tls::TlsServerCredentialsOptions options(Watch(files));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(takes_tokens
                                    ? GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY
                                    : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.set_certificate_verifier(tls::ExternalCertificateVerifier::Create<IdentityVerifier>(
      std::move(may_connect), takes_tokens));
  options.set_check_call_host(false);
  return tls::TlsServerCredentials(options);
}

std::string CallerIdentity(const grpc::AuthContext& context) {
  for (const grpc::string_ref& uri : context.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    std::optional<std::string> id = RecordIdOfUri(absl::string_view(uri.data(), uri.size()));
    if (id.has_value()) return *std::move(id);
  }
  return "";
}

}  // namespace slipway
