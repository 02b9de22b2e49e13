#include "core/identity/given_certificate.h"

#include <openssl/pem.h>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"
#include "core/identity/certificate.h"
#include "core/identity/openssl_handles.h"
#include "core/identity/x509.h"

namespace slipway {
namespace {

constexpr char kBeginCertificate[] = "-----BEGIN CERTIFICATE-----";
constexpr char kEndCertificate[] = "-----END CERTIFICATE-----";

absl::Status Refused(const std::string& file, absl::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat("\"", file, "\": ", why));
}

// What is not a certificate is left out: a key may be in the same file.
std::string CertificatesOf(absl::string_view text) {
  std::string certificates;
  for (;;) {
    const size_t begin = text.find(kBeginCertificate);
    const size_t end = text.find(kEndCertificate, begin);
    if (begin == absl::string_view::npos || end == absl::string_view::npos) return certificates;
    const size_t next = end + sizeof(kEndCertificate) - 1;
    absl::StrAppend(&certificates, text.substr(begin, next - begin), "\n");
    text.remove_prefix(next);
  }
}

absl::Status CheckTimes(const CertificateFacts& facts, absl::Time now) {
  if (now >= facts.not_after) {
    return absl::FailedPreconditionError(
        absl::StrCat("the certificate has expired (", absl::FormatTime(facts.not_after),
                     "): put a new one there, or set this machine's clock"));
  }
  if (now < facts.not_before) {
    return absl::FailedPreconditionError(absl::StrCat("the certificate is not good before ",
                                                      absl::FormatTime(facts.not_before),
                                                      ": wait, or set this machine's clock"));
  }
  return absl::OkStatus();
}

absl::Status CheckUse(absl::string_view pem, CertificateUse use) {
  const OpensslErrorScope errors;
  SLIPWAY_ASSIGN_OR_RETURN(const ParsedCertificate parsed, ParseCertificate(pem));
  const bool is_server = use == CertificateUse::kServer;
  if (X509_check_purpose(parsed.x509.get(),
                         is_server ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_SSL_CLIENT,
                         /*ca=*/0) == 1) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the certificate is not for ", is_server ? "servers" : "clients",
                   " of TLS: ask who made it for one with extendedKeyUsage ",
                   is_server ? "serverAuth" : "clientAuth"));
}

}  // namespace

absl::StatusOr<GivenCertificate> ReadGivenCertificate(const std::string& certificate_file,
                                                      const std::string& key_file,
                                                      CertificateUse use, absl::Time now) {
  SLIPWAY_RETURN_IF_ERROR(CheckSecretFile(key_file));
  SLIPWAY_ASSIGN_OR_RETURN(std::string key, ReadFile(key_file, kMaxPemBytes));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(certificate_file, kMaxPemBytes));
  GivenCertificate given{.chain = CertificatesOf(text), .key = std::move(key)};
  const absl::StatusOr<CertificateFacts> facts = ReadCertificate(given.chain);
  if (!facts.ok()) return Refused(certificate_file, facts.status().message());
  absl::Status status = CheckTimes(*facts, now);
  if (status.ok()) status = CheckUse(given.chain, use);
  if (!status.ok()) return Refused(certificate_file, status.message());
  status = CheckKeyFits(given.key, given.chain);
  if (status.ok()) return given;
  return Refused(key_file, absl::StrCat(status.message(), ": the key that the certificate in \"",
                                        certificate_file, "\" was asked for with is wanted"));
}

absl::StatusOr<std::string> ReadGivenAuthorities(const std::string& file, absl::Time now) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxAuthoritiesBytes));
  std::string all = CertificatesOf(text);
  absl::Status last = absl::InvalidArgumentError("there is no certificate in PEM");
  absl::string_view rest = all;
  while (!rest.empty()) {
    const size_t size = rest.find(kEndCertificate) + sizeof(kEndCertificate);
    const absl::StatusOr<CertificateFacts> facts = ReadCertificate(rest.substr(0, size));
    last = facts.status();
    if (facts.ok()) last = CheckTimes(*facts, now);
    if (last.ok() && !facts->is_authority) {
      last = absl::InvalidArgumentError(
          "the certificate is not that of an authority, which is wanted here");
    }
    if (last.ok()) return all;
    rest.remove_prefix(size);
  }
  return Refused(file, last.message());
}

}  // namespace slipway
