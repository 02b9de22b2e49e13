// Signed statements: what a server vouches for, so that whoever trusts its authority can check it, wherever it has been.
//
// What is said is bytes, whose meaning a purpose tells: what was signed for one purpose is nothing for another. A statement has
// with it the certificate of the key that signed it, and counts if that was valid when it was signed: it can be checked for
// as long as the authority is trusted, whatever became of that key.
#ifndef SLIPWAY_CORE_IDENTITY_SIGNED_STATEMENT_H_
#define SLIPWAY_CORE_IDENTITY_SIGNED_STATEMENT_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway {

// Largest payload.
inline constexpr size_t kMaxStatementBytes = 64 * 1024;

struct SignedStatement {
  std::string payload;
  absl::Time time;  // When it was signed, by its signer's clock; whole nanoseconds.
  std::string
      certificate;        // PEM: the signer's, by the authority (CertificateAuthority::SignSigner).
  std::string signature;  // ECDSA with SHA-256 over purpose, time and payload, in DER.
};

// Purposes are 1 to 64 printable characters of ASCII; one that is not is a bug.

// Signs. Thread-safe.
class StatementSigner {
 public:
  // In PEM. INVALID_ARGUMENT when they do not belong together, or the certificate is none for signing.
  static absl::StatusOr<std::unique_ptr<StatementSigner>> Create(absl::string_view key,
                                                                 const std::string& certificate);
  virtual ~StatementSigner() = default;
  // INVALID_ARGUMENT for a payload over kMaxStatementBytes, FAILED_PRECONDITION when the certificate is not valid at `now`.
  virtual absl::StatusOr<SignedStatement> Sign(absl::string_view purpose, absl::string_view payload,
                                               absl::Time now) const = 0;
};

// Checks what signers of one authority have signed. Thread-safe.
class StatementChecker {
 public:
  // `authority`: its certificate in PEM. INVALID_ARGUMENT when it is none.
  static absl::StatusOr<std::unique_ptr<StatementChecker>> Create(absl::string_view authority);
  virtual ~StatementChecker() = default;
  // PERMISSION_DENIED, saying why, unless a signer of the authority has said the payload for this purpose at a time when its
  // certificate was valid. Statements may come from anybody.
  virtual absl::Status Check(const SignedStatement& statement, absl::string_view purpose) const = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_SIGNED_STATEMENT_H_
