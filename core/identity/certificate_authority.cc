#include "core/identity/certificate_authority.h"

#include <openssl/objects.h>

#include <initializer_list>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/identity/identity_id.h"
#include "core/identity/openssl_handles.h"
#include "core/identity/x509.h"

namespace slipway {
namespace {

// 20 years of 365.25 days.
constexpr absl::Duration kAuthorityLifetime = absl::Hours(24 * 7305);
constexpr size_t kMaxRequestBytes = 4 * 1024;
// RFC 5280 wants at most 20 bytes, and no number twice; the highest bit is always set.
constexpr int kSerialBits = 128;

// What differs between the certificates that are made here. Extensions are in the notation of OpenSSL (x509v3_config(5)).
struct CertificatePlan {
  std::string common_name;
  absl::Time not_before;
  absl::Time not_after;
  std::string basic_constraints;
  std::string key_usage;
  std::string extended_key_usage;  // Empty: none.
  std::string alternative_name;    // Empty: none.
};

CertificatePlan LeafPlan(absl::string_view common_name, absl::Time now, absl::Duration lifetime) {
  return {.common_name = std::string(common_name),
          .not_before = now - kClockSkew,
          .not_after = now + lifetime,
          .basic_constraints = "critical,CA:FALSE",
          .key_usage = "critical,digitalSignature"};
}

absl::StatusOr<CertificatePlan> CallerPlan(absl::string_view id, absl::string_view name,
                                           absl::Time now, absl::Duration lifetime) {
  if (!IsIdentityId(id)) return absl::InvalidArgumentError("the identity has no id");
  SLIPWAY_RETURN_IF_ERROR(CheckIdentityName(name));
  CertificatePlan plan = LeafPlan(name, now, lifetime);
  plan.extended_key_usage = "clientAuth";
  plan.alternative_name = absl::StrCat("URI:", IdentityUri(id));
  return plan;
}

absl::Status SetSerial(X509* x509) {
  const UniqueBignum number(BN_new());
  if (number == nullptr ||
      BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) != 1 ||
      BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(x509)) == nullptr) {
    return OpensslError("choose a serial number");
  }
  return absl::OkStatus();
}

absl::Status SetTimes(X509* x509, const CertificatePlan& plan) {
  if (ASN1_TIME_set(X509_getm_notBefore(x509), absl::ToTimeT(plan.not_before)) == nullptr ||
      ASN1_TIME_set(X509_getm_notAfter(x509), absl::ToTimeT(plan.not_after)) == nullptr) {
    return absl::InvalidArgumentError("no certificate can be valid from then or until then");
  }
  return absl::OkStatus();
}

absl::Status SetCommonName(X509* x509, const std::string& common_name) {
  // The certificate's own, to be changed in place.
  X509_NAME* const subject = X509_get_subject_name(x509);
  if (X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.data()),
                                 static_cast<int>(common_name.size()), -1, 0) != 1) {
    return OpensslError("name a certificate");
  }
  return absl::OkStatus();
}

absl::Status AddExtension(X509* x509, X509V3_CTX* context, int nid, const std::string& value) {
  if (value.empty()) return absl::OkStatus();
  const UniqueExtension extension(X509V3_EXT_conf_nid(nullptr, context, nid, value.c_str()));
  if (extension == nullptr || X509_add_ext(x509, extension.get(), -1) != 1) {
    return OpensslError("extend a certificate");
  }
  return absl::OkStatus();
}

// A certificate of `subject_key`, signed by `signing_key`, which is that of `issuer`; null for one that signs itself.
absl::StatusOr<std::string> MakeCertificate(const CertificatePlan& plan, EVP_PKEY* subject_key,
                                            X509* issuer, EVP_PKEY* signing_key) {
  const UniqueX509 made(X509_new());
  X509* const x509 = made.get();
  if (x509 == nullptr || X509_set_version(x509, X509_VERSION_3) != 1 ||
      X509_set_pubkey(x509, subject_key) != 1) {
    return OpensslError("make a certificate");
  }
  SLIPWAY_RETURN_IF_ERROR(SetSerial(x509));
  SLIPWAY_RETURN_IF_ERROR(SetTimes(x509, plan));
  SLIPWAY_RETURN_IF_ERROR(SetCommonName(x509, plan.common_name));
  if (X509_set_issuer_name(x509, X509_get_subject_name(issuer == nullptr ? x509 : issuer)) != 1) {
    return OpensslError("name who signs a certificate");
  }
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer == nullptr ? x509 : issuer, x509, nullptr, nullptr, 0);
  // An authority's key is known by the certificate itself, and RFC 5280 lets it leave out who signed it.
  const std::string authority_key = issuer == nullptr ? "" : "keyid:always";
  for (const auto& [nid, value] : std::initializer_list<std::pair<int, std::string>>{
           {NID_basic_constraints, plan.basic_constraints},
           {NID_key_usage, plan.key_usage},
           {NID_ext_key_usage, plan.extended_key_usage},
           {NID_subject_alt_name, plan.alternative_name},
           {NID_subject_key_identifier, "hash"},
           {NID_authority_key_identifier, authority_key}}) {
    SLIPWAY_RETURN_IF_ERROR(AddExtension(x509, &context, nid, value));
  }
  if (X509_sign(x509, signing_key, EVP_sha256()) <= 0) return OpensslError("sign a certificate");
  return ToPemText(x509);
}

// Whether the request's key is written as one of the curve P-256 by name. One that writes the curve's numbers out instead
// would bring them into the certificate.
bool IsForP256(X509_REQ* request) {
  X509_ALGOR* algorithm = nullptr;
  if (X509_PUBKEY_get0_param(nullptr, nullptr, nullptr, &algorithm,
                             X509_REQ_get_X509_PUBKEY(request)) != 1) {
    return false;
  }
  const ASN1_OBJECT* kind = nullptr;
  int parameter_type = V_ASN1_UNDEF;
  const void* parameter = nullptr;
  X509_ALGOR_get0(&kind, &parameter_type, &parameter, algorithm);
  return OBJ_obj2nid(kind) == NID_X9_62_id_ecPublicKey && parameter_type == V_ASN1_OBJECT &&
         OBJ_obj2nid(static_cast<const ASN1_OBJECT*>(parameter)) == NID_X9_62_prime256v1;
}

// The request: nothing but its key is of use, and that belongs to it.
absl::StatusOr<UniqueRequest> ParseRequest(absl::string_view der) {
  if (der.size() > kMaxRequestBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the request for a certificate has ", der.size(),
                                                   " bytes, at most ", kMaxRequestBytes,
                                                   " are read"));
  }
  const auto* const begin = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* end = begin;
  UniqueRequest request(d2i_X509_REQ(nullptr, &end, static_cast<long>(der.size())));
  if (request == nullptr || end != begin + der.size()) {
    return absl::InvalidArgumentError("the request for a certificate is damaged");
  }
  EVP_PKEY* const key = X509_REQ_get0_pubkey(request.get());
  if (key == nullptr || !IsForP256(request.get())) {
    return absl::InvalidArgumentError(
        "the request for a certificate is not for an ECDSA key of the curve P-256");
  }
  const UniquePkeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  if (context == nullptr || EVP_PKEY_public_check(context.get()) != 1) {
    return absl::InvalidArgumentError(
        "the key in the request for a certificate is no point of P-256");
  }
  if (X509_REQ_verify(request.get(), key) != 1) {
    return absl::InvalidArgumentError("the request for a certificate is not signed by its key");
  }
  return request;
}

// Nothing in it changes after Parse, as OpenSSL's objects want it that several threads use.
class OpensslAuthority final : public CertificateAuthority {
 public:
  OpensslAuthority(UniquePkey key, UniqueX509 x509, std::string key_pem, std::string certificate)
      : key_(std::move(key)),
        x509_(std::move(x509)),
        key_pem_(std::move(key_pem)),
        certificate_(std::move(certificate)) {}

  std::string ToPem() const override { return absl::StrCat(key_pem_, certificate_); }

  const std::string& certificate() const override { return certificate_; }

  absl::StatusOr<std::string> SignCaller(absl::string_view request, absl::string_view id,
                                         absl::string_view name, absl::Time now,
                                         absl::Duration lifetime) const override {
    SLIPWAY_ASSIGN_OR_RETURN(const CertificatePlan plan, CallerPlan(id, name, now, lifetime));
    return Sign(request, plan);
  }

  absl::StatusOr<std::string> SignAgent(absl::string_view request, absl::string_view id,
                                        absl::string_view name, absl::Time now,
                                        absl::Duration lifetime) const override {
    SLIPWAY_ASSIGN_OR_RETURN(CertificatePlan plan, CallerPlan(id, name, now, lifetime));
    absl::StrAppend(&plan.extended_key_usage, ",serverAuth");
    absl::StrAppend(&plan.alternative_name, ",DNS:", AgentCertificateName(name));
    return Sign(request, plan);
  }

  absl::StatusOr<std::string> SignServer(absl::string_view request, absl::Time now,
                                         absl::Duration lifetime) const override {
    CertificatePlan plan = LeafPlan(kServerCertificateName, now, lifetime);
    plan.extended_key_usage = "serverAuth";
    plan.alternative_name = absl::StrCat("DNS:", kServerCertificateName);
    return Sign(request, plan);
  }

  absl::StatusOr<std::string> SignSigner(absl::string_view request, absl::Time now,
                                         absl::Duration lifetime) const override {
    CertificatePlan plan = LeafPlan(kSignerCertificateName, now, lifetime);
    plan.extended_key_usage = "codeSigning";
    return Sign(request, plan);
  }

 private:
  absl::StatusOr<std::string> Sign(absl::string_view request, const CertificatePlan& plan) const {
    const OpensslErrorScope errors;
    SLIPWAY_ASSIGN_OR_RETURN(const UniqueRequest parsed, ParseRequest(request));
    return MakeCertificate(plan, X509_REQ_get0_pubkey(parsed.get()), x509_.get(), key_.get());
  }

  const UniquePkey key_;
  const UniqueX509 x509_;
  const std::string key_pem_;
  const std::string certificate_;
};

absl::StatusOr<std::unique_ptr<CertificateAuthority>> ParseAuthority(absl::string_view pem) {
  SLIPWAY_ASSIGN_OR_RETURN(UniquePkey key, ParseKey(pem));
  SLIPWAY_ASSIGN_OR_RETURN(ParsedCertificate parsed, ParseCertificate(pem));
  SLIPWAY_RETURN_IF_ERROR(CheckIsAuthority(parsed.x509.get()));
  SLIPWAY_RETURN_IF_ERROR(CheckIsKeyOf(key.get(), parsed.x509.get()));
  SLIPWAY_ASSIGN_OR_RETURN(std::string key_pem, ToPemText(key.get()));
  SLIPWAY_ASSIGN_OR_RETURN(std::string certificate, ToPemText(parsed.x509.get()));
  return std::make_unique<OpensslAuthority>(std::move(key), std::move(parsed.x509),
                                            std::move(key_pem), std::move(certificate));
}

}  // namespace

std::string AgentCertificateName(absl::string_view name) {
  return absl::StrCat(name, ".slipway-agent");
}

absl::StatusOr<std::unique_ptr<CertificateAuthority>> CertificateAuthority::Create(absl::Time now) {
  const OpensslErrorScope errors;
  SLIPWAY_ASSIGN_OR_RETURN(const UniquePkey key, NewKey());
  // A name of its own: who trusts several authorities finds the one that is meant.
  const CertificatePlan plan = {.common_name = absl::StrCat("slipway authority ", NewIdentityId()),
                                .not_before = now - kClockSkew,
                                .not_after = now + kAuthorityLifetime,
                                .basic_constraints = "critical,CA:TRUE,pathlen:0",
                                .key_usage = "critical,keyCertSign,cRLSign"};
  SLIPWAY_ASSIGN_OR_RETURN(const std::string certificate,
                           MakeCertificate(plan, key.get(), nullptr, key.get()));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string key_pem, ToPemText(key.get()));
  return ParseAuthority(absl::StrCat(key_pem, certificate));
}

absl::StatusOr<std::unique_ptr<CertificateAuthority>> CertificateAuthority::Parse(
    absl::string_view pem) {
  absl::StatusOr<std::unique_ptr<CertificateAuthority>> authority = ParseAuthority(pem);
  if (!absl::IsInvalidArgument(authority.status())) return authority;
  return absl::DataLossError(
      absl::StrCat("the authority is damaged: ", authority.status().message()));
}

}  // namespace slipway
