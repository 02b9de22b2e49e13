#include "core/identity/signed_statement.h"

#include <algorithm>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/openssl_handles.h"
#include "core/identity/x509.h"

namespace slipway {
namespace {

constexpr size_t kMaxPurposeBytes = 64;
// One of P-256 has 72 at most.
constexpr size_t kMaxSignatureBytes = 128;

// What is signed. Purpose and time have no end of line, so that nothing can be read in two ways.
std::string Signed(absl::string_view purpose, absl::Time time, absl::string_view payload) {
  SLIPWAY_CHECK(
      !purpose.empty() && purpose.size() <= kMaxPurposeBytes &&
          std::all_of(purpose.begin(), purpose.end(),
                      [](char c) { return absl::ascii_isprint(static_cast<unsigned char>(c)); }),
      "a statement's purpose is printable characters");
  return absl::StrCat("slipway statement 1\n", purpose, "\n", absl::ToUnixNanos(time), "\n",
                      payload);
}

const unsigned char* BytesOf(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// INVALID_ARGUMENT unless the certificate is one that SignSigner makes; who has signed it is not looked at.
absl::Status CheckIsSigner(X509* x509) {
  const OpensslErrorScope errors;
  char name[sizeof(kSignerCertificateName) + 1] = {};
  const int name_size =
      X509_NAME_get_text_by_NID(X509_get_subject_name(x509), NID_commonName, name, sizeof(name));
  if ((X509_get_extension_flags(x509) & (EXFLAG_INVALID | EXFLAG_CRITICAL | EXFLAG_CA)) == 0 &&
      X509_get_extended_key_usage(x509) == XKU_CODE_SIGN &&
      X509_get_key_usage(x509) == KU_DIGITAL_SIGNATURE && name_size > 0 &&
      absl::string_view(name, static_cast<size_t>(name_size)) == kSignerCertificateName) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the certificate is not one for signing statements");
}

bool IsWithin(absl::Time time, const CertificateTimes& times) {
  return time >= times.not_before && time <= times.not_after;
}

// OpenSSL's objects do not change after Create, as it wants it of those that several threads use.
class OpensslSigner final : public StatementSigner {
 public:
  OpensslSigner(UniquePkey key, std::string certificate, CertificateTimes times)
      : key_(std::move(key)), certificate_(std::move(certificate)), times_(times) {}

  absl::StatusOr<SignedStatement> Sign(absl::string_view purpose, absl::string_view payload,
                                       absl::Time now) const override {
    if (payload.size() > kMaxStatementBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("a statement of ", payload.size(), " bytes; at most ", kMaxStatementBytes));
    }
    if (!IsWithin(now, times_)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the certificate for signing is good from ",
                       absl::FormatTime(times_.not_before, absl::UTCTimeZone()), " to ",
                       absl::FormatTime(times_.not_after, absl::UTCTimeZone()),
                       ", and this machine's clock says ",
                       absl::FormatTime(now, absl::UTCTimeZone()), ": set the clock"));
    }
    SignedStatement statement{.payload = std::string(payload),
                              .time = absl::FromUnixNanos(absl::ToUnixNanos(now)),
                              .certificate = certificate_};
    const OpensslErrorScope errors;
    const std::string signed_bytes = Signed(purpose, statement.time, payload);
    const UniqueDigestContext context(EVP_MD_CTX_new());
    statement.signature.resize(kMaxSignatureBytes);
    size_t size = statement.signature.size();
    if (context == nullptr ||
        EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) != 1 ||
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(statement.signature.data()),
                       &size, BytesOf(signed_bytes), signed_bytes.size()) != 1) {
      return OpensslError("sign a statement");
    }
    statement.signature.resize(size);
    return statement;
  }

 private:
  const UniquePkey key_;
  const std::string certificate_;
  const CertificateTimes times_;
};

class OpensslChecker final : public StatementChecker {
 public:
  OpensslChecker(UniqueX509 authority, CertificateTimes times)
      : authority_(std::move(authority)), times_(times) {}

  absl::Status Check(const SignedStatement& statement, absl::string_view purpose) const override {
    const absl::Status status = Verify(statement, purpose);
    if (status.ok() || absl::IsInternal(status)) return status;
    return absl::PermissionDeniedError(status.message());
  }

 private:
  absl::Status Verify(const SignedStatement& statement, absl::string_view purpose) const {
    if (statement.payload.size() > kMaxStatementBytes ||
        statement.signature.size() > kMaxSignatureBytes) {
      return absl::InvalidArgumentError("the statement is larger than any");
    }
    SLIPWAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Signer> signer,
                             FindSigner(statement.certificate));
    if (!IsWithin(statement.time, signer->times) || !IsWithin(statement.time, times_)) {
      return absl::InvalidArgumentError(
          "the signer's certificate was not valid when the statement was signed");
    }
    const OpensslErrorScope errors;
    EVP_PKEY* const key = X509_get0_pubkey(signer->x509.get());
    const std::string signed_bytes = Signed(purpose, statement.time, statement.payload);
    const UniqueDigestContext context(EVP_MD_CTX_new());
    if (key == nullptr || context == nullptr ||
        EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) != 1) {
      return OpensslError("check a statement");
    }
    if (EVP_DigestVerify(context.get(), BytesOf(statement.signature), statement.signature.size(),
                         BytesOf(signed_bytes), signed_bytes.size()) == 1) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "the signature is not that of what is said, or was made for another purpose");
  }

  // One that the authority has certified.
  struct Signer {
    std::string certificate;
    UniqueX509 x509;
    CertificateTimes times;
  };

  // Most statements are of the signer of the one before, whose certificate takes as long to check as what it has signed.
  absl::StatusOr<std::shared_ptr<const Signer>> FindSigner(const std::string& certificate) const {
    {
      absl::MutexLock lock(&mutex_);
      if (last_ != nullptr && last_->certificate == certificate) return last_;
    }
    SLIPWAY_ASSIGN_OR_RETURN(ParsedCertificate parsed, ParseCertificate(certificate));
    SLIPWAY_RETURN_IF_ERROR(CheckIsSignedBy(parsed.x509.get(), authority_.get()));
    SLIPWAY_RETURN_IF_ERROR(CheckIsSigner(parsed.x509.get()));
    SLIPWAY_ASSIGN_OR_RETURN(const CertificateTimes times, TimesOf(parsed.x509.get()));
    auto signer = std::make_shared<const Signer>(
        Signer{.certificate = certificate, .x509 = std::move(parsed.x509), .times = times});
    absl::MutexLock lock(&mutex_);
    last_ = signer;
    return signer;
  }

  const UniqueX509 authority_;
  const CertificateTimes times_;
  mutable absl::Mutex mutex_;
  mutable std::shared_ptr<const Signer> last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<StatementSigner>> StatementSigner::Create(
    absl::string_view key, const std::string& certificate) {
  SLIPWAY_ASSIGN_OR_RETURN(UniquePkey parsed_key, ParseKey(key));
  SLIPWAY_ASSIGN_OR_RETURN(const ParsedCertificate parsed, ParseCertificate(certificate));
  SLIPWAY_RETURN_IF_ERROR(CheckIsKeyOf(parsed_key.get(), parsed.x509.get()));
  SLIPWAY_RETURN_IF_ERROR(CheckIsSigner(parsed.x509.get()));
  SLIPWAY_ASSIGN_OR_RETURN(const CertificateTimes times, TimesOf(parsed.x509.get()));
  return std::make_unique<OpensslSigner>(std::move(parsed_key), certificate, times);
}

absl::StatusOr<std::unique_ptr<StatementChecker>> StatementChecker::Create(
    absl::string_view authority) {
  SLIPWAY_ASSIGN_OR_RETURN(ParsedCertificate parsed, ParseCertificate(authority));
  SLIPWAY_RETURN_IF_ERROR(CheckIsAuthority(parsed.x509.get()));
  SLIPWAY_ASSIGN_OR_RETURN(const CertificateTimes times, TimesOf(parsed.x509.get()));
  return std::make_unique<OpensslChecker>(std::move(parsed.x509), times);
}

}  // namespace slipway
