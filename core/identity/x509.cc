#include "core/identity/x509.h"

#include <openssl/pem.h>
#include <time.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// In place of OpenSSL's own, which would ask at the terminal.
int NoPassword(char* /*buffer*/, int /*size*/, int /*is_for_writing*/, void* /*unused*/) {
  return -1;
}

absl::StatusOr<UniqueBio> ReaderOf(absl::string_view pem) {
  if (pem.empty()) return absl::InvalidArgumentError("there is no PEM");
  if (pem.size() > kMaxPemBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the PEM has ", pem.size(), " bytes, at most ", kMaxPemBytes, " are read"));
  }
  UniqueBio reader(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (reader == nullptr) return OpensslError("read PEM");
  return reader;
}

template <typename Write>
absl::StatusOr<std::string> WrittenBy(const Write& write) {
  const OpensslErrorScope errors;
  const UniqueBio writer(BIO_new(BIO_s_mem()));
  if (writer == nullptr || write(writer.get()) != 1) return OpensslError("write PEM");
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(writer.get(), &bytes);
  if (size <= 0) return OpensslError("write PEM");
  return std::string(bytes, static_cast<size_t>(size));
}

absl::StatusOr<absl::Time> TimeOf(const ASN1_TIME* time) {
  struct tm parts {};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) {
    return absl::InvalidArgumentError("the certificate is damaged: its times are none");
  }
  return absl::FromCivil(absl::CivilSecond(parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                                           parts.tm_hour, parts.tm_min, parts.tm_sec),
                         absl::UTCTimeZone());
}

}  // namespace

absl::Status OpensslError(absl::string_view what) {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  return absl::InternalError(
      absl::StrCat("OpenSSL could not ", what, ": ", reason == nullptr ? "no reason" : reason));
}

absl::StatusOr<ParsedCertificate> ParseCertificate(absl::string_view pem) {
  const OpensslErrorScope errors;
  SLIPWAY_ASSIGN_OR_RETURN(const UniqueBio reader, ReaderOf(pem));
  unsigned char* bytes = nullptr;
  long size = 0;
  if (PEM_bytes_read_bio(&bytes, &size, nullptr, PEM_STRING_X509, reader.get(), NoPassword,
                         nullptr) != 1) {
    return absl::InvalidArgumentError("there is no certificate in PEM");
  }
  const UniqueOpensslBytes owner(bytes);
  const unsigned char* end = bytes;
  ParsedCertificate parsed;
  parsed.x509.reset(d2i_X509(nullptr, &end, size));
  if (parsed.x509 == nullptr) return absl::InvalidArgumentError("the certificate is damaged");
  parsed.der.assign(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  unsigned char* again = nullptr;
  const int again_size = i2d_X509(parsed.x509.get(), &again);
  if (again_size <= 0) return absl::InvalidArgumentError("the certificate is damaged");
  const UniqueOpensslBytes again_owner(again);
  if (parsed.der !=
      absl::string_view(reinterpret_cast<const char*>(again), static_cast<size_t>(again_size))) {
    return absl::InvalidArgumentError("the certificate is damaged: it is not in DER");
  }
  return parsed;
}

absl::StatusOr<UniquePkey> ParseKey(absl::string_view pem) {
  const OpensslErrorScope errors;
  SLIPWAY_ASSIGN_OR_RETURN(const UniqueBio reader, ReaderOf(pem));
  UniquePkey key(PEM_read_bio_PrivateKey(reader.get(), nullptr, NoPassword, nullptr));
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        "there is no private key in PEM, or it is damaged or encrypted");
  }
  return key;
}

absl::StatusOr<UniquePkey> NewKey() {
  const OpensslErrorScope errors;
  UniquePkey key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpensslError("make a key");
  return key;
}

absl::StatusOr<std::string> ToPemText(EVP_PKEY* key) {
  return WrittenBy([key](BIO* writer) {
    return PEM_write_bio_PKCS8PrivateKey(writer, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

absl::StatusOr<std::string> ToPemText(X509* certificate) {
  return WrittenBy([certificate](BIO* writer) { return PEM_write_bio_X509(writer, certificate); });
}

absl::Status CheckIsKeyOf(EVP_PKEY* key, X509* certificate) {
  const OpensslErrorScope errors;
  // This compares public halves, the check below each half with the other.
  const bool is_same = X509_check_private_key(certificate, key) == 1;
  const UniquePkeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  if (is_same && context != nullptr && EVP_PKEY_pairwise_check(context.get()) == 1) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the private key is not that of the certificate");
}

absl::Status CheckIsAuthority(X509* certificate) {
  const OpensslErrorScope errors;
  // 1 is an authority by its constraints; greater numbers are what passes for one in old certificates.
  if (X509_check_ca(certificate) == 1 && X509_self_signed(certificate, 1) == 1) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the certificate is not that of an authority");
}

absl::Status CheckIsSignedBy(X509* certificate, X509* authority) {
  const OpensslErrorScope errors;
  EVP_PKEY* const key = X509_get0_pubkey(authority);
  if (key != nullptr && X509_verify(certificate, key) == 1) return absl::OkStatus();
  return absl::InvalidArgumentError("the certificate is not signed by the authority");
}

absl::StatusOr<CertificateTimes> TimesOf(X509* certificate) {
  const OpensslErrorScope errors;
  CertificateTimes times;
  SLIPWAY_ASSIGN_OR_RETURN(times.not_before, TimeOf(X509_get0_notBefore(certificate)));
  SLIPWAY_ASSIGN_OR_RETURN(times.not_after, TimeOf(X509_get0_notAfter(certificate)));
  return times;
}

}  // namespace slipway
