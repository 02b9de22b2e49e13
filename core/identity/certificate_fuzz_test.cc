// A certificate is read or refused, as PEM and as the DER within; a request is signed or refused, and what was signed says
// what the authority was told and nothing that the request asked for.
#include <openssl/err.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/identity_id.h"

namespace {

constexpr char kId[] = "0123456789abcdef";
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

std::string Pem(absl::string_view der) {
  constexpr size_t kLine = 64;
  const std::string text = absl::Base64Escape(der);
  std::string pem = "-----BEGIN CERTIFICATE-----\n";
  for (size_t at = 0; at < text.size(); at += kLine) {
    absl::StrAppend(&pem, text.substr(at, kLine), "\n");
  }
  return absl::StrCat(pem, "-----END CERTIFICATE-----\n");
}

void CheckNoErrorIsLeft() {
  SLIPWAY_CHECK(ERR_peek_error() == 0, "an error stays in OpenSSL's queue");
}

void ReadPem(absl::string_view pem) {
  const auto facts = slipway::ReadCertificate(pem);
  CheckNoErrorIsLeft();
  const auto fingerprint = slipway::FingerprintOf(pem);
  CheckNoErrorIsLeft();
  SLIPWAY_CHECK(!facts.ok() || fingerprint.ok(), "what is read has a fingerprint");
}

void Sign(absl::string_view request) {
  static const std::unique_ptr<slipway::CertificateAuthority>& authority =
      *new std::unique_ptr(slipway::CertificateAuthority::Create(kNow).value());
  const auto signed_one = authority->SignCaller(request, kId, "ada", kNow, absl::Hours(1));
  CheckNoErrorIsLeft();
  if (!signed_one.ok()) {
    SLIPWAY_CHECK(absl::IsInvalidArgument(signed_one.status()), signed_one.status().ToString());
    return;
  }
  const slipway::CertificateFacts facts = slipway::ReadCertificate(*signed_one).value();
  SLIPWAY_CHECK(facts.common_name == "ada" && facts.uris.size() == 1 && facts.dns_names.empty() &&
                    slipway::IdentityOfUri(facts.uris[0]) == kId && !facts.is_authority,
                "a request had a say in the certificate");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadPem(bytes);
  ReadPem(Pem(bytes));
  Sign(bytes);
  return 0;
}
