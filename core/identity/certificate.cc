#include "core/identity/certificate.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/identity/openssl_handles.h"
#include "core/identity/x509.h"

namespace slipway {
namespace {

absl::Status Damaged(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the certificate is damaged: ", what));
}

std::string BytesOf(const ASN1_STRING* string) {
  return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
                     static_cast<size_t>(ASN1_STRING_length(string)));
}

// The last one, which is the most specific; empty when there is none.
absl::StatusOr<std::string> CommonName(X509* x509) {
  const X509_NAME* const subject = X509_get_subject_name(x509);
  int last = -1;
  for (int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) {
    last = at;
  }
  if (last < 0) return "";
  unsigned char* bytes = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, last)));
  if (size < 0) return Damaged("its common name is no text");
  const UniqueOpensslBytes owner(bytes);
  return std::string(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

absl::Status ReadAlternativeNames(X509* x509, CertificateFacts& facts) {
  constexpr int kHasNone = -1;
  int is_critical = 0;
  const UniqueGeneralNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(x509, NID_subject_alt_name, &is_critical, nullptr)));
  if (names == nullptr) {
    return is_critical == kHasNone ? absl::OkStatus()
                                   : Damaged("its alternative names are no list");
  }
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    int type = 0;
    const void* const value = GENERAL_NAME_get0_value(name, &type);
    if (type == GEN_URI) facts.uris.push_back(BytesOf(static_cast<const ASN1_STRING*>(value)));
    if (type == GEN_DNS) facts.dns_names.push_back(BytesOf(static_cast<const ASN1_STRING*>(value)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CertificateRequest> NewCertificateRequest() {
  const OpensslErrorScope errors;
  SLIPWAY_ASSIGN_OR_RETURN(const UniquePkey key, NewKey());
  const UniqueRequest request(X509_REQ_new());
  if (request == nullptr || X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) <= 0) {
    return OpensslError("make a request for a certificate");
  }
  unsigned char* bytes = nullptr;
  const int size = i2d_X509_REQ(request.get(), &bytes);
  if (size <= 0) return OpensslError("write a request for a certificate");
  const UniqueOpensslBytes owner(bytes);
  CertificateRequest made;
  made.request.assign(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  SLIPWAY_ASSIGN_OR_RETURN(made.key, ToPemText(key.get()));
  return made;
}

absl::StatusOr<CertificateFacts> ReadCertificate(absl::string_view pem) {
  const OpensslErrorScope errors;
  SLIPWAY_ASSIGN_OR_RETURN(const ParsedCertificate parsed, ParseCertificate(pem));
  X509* const x509 = parsed.x509.get();
  if ((X509_get_extension_flags(x509) & EXFLAG_INVALID) != 0) {
    return Damaged("its extensions contradict each other or cannot be read");
  }
  CertificateFacts facts;
  SLIPWAY_ASSIGN_OR_RETURN(facts.common_name, CommonName(x509));
  SLIPWAY_RETURN_IF_ERROR(ReadAlternativeNames(x509, facts));
  SLIPWAY_ASSIGN_OR_RETURN(const CertificateTimes times, TimesOf(x509));
  facts.not_before = times.not_before;
  facts.not_after = times.not_after;
  // 1 is an authority by its constraints; greater numbers are what passes for one in old certificates.
  facts.is_authority = X509_check_ca(x509) == 1;
  return facts;
}

absl::StatusOr<Digest> FingerprintOf(absl::string_view pem) {
  SLIPWAY_ASSIGN_OR_RETURN(const ParsedCertificate parsed, ParseCertificate(pem));
  return Digest::Of(parsed.der);
}

absl::Status CheckKeyFits(absl::string_view key, absl::string_view certificate) {
  SLIPWAY_ASSIGN_OR_RETURN(const UniquePkey parsed_key, ParseKey(key));
  SLIPWAY_ASSIGN_OR_RETURN(const ParsedCertificate parsed, ParseCertificate(certificate));
  return CheckIsKeyOf(parsed_key.get(), parsed.x509.get());
}

}  // namespace slipway
