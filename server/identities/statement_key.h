// StatementKey: what the server signs its statements with, renewed in time.
#ifndef SLIPWAY_SERVER_IDENTITIES_STATEMENT_KEY_H_
#define SLIPWAY_SERVER_IDENTITIES_STATEMENT_KEY_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/signed_statement.h"

namespace slipway::server {

// Thread-safe.
class StatementKey {
 public:
  // Keeps it in the identity file at `path`. `authority` must outlive this. Errors of Renew.
  static absl::StatusOr<std::unique_ptr<StatementKey>> Open(const CertificateAuthority* authority,
                                                            std::string path, absl::Time now);

  // To be called daily. What was signed before stays good. Errors of the files.
  absl::Status Renew(absl::Time now);

  std::shared_ptr<const StatementSigner> signer() const;
  // Of whatever this server's authority stands for, signed now or before.
  const StatementChecker& checker() const { return *checker_; }

 private:
  StatementKey(const CertificateAuthority* authority, std::string path,
               std::unique_ptr<StatementChecker> checker)
      : authority_(*authority), path_(std::move(path)), checker_(std::move(checker)) {}

  const CertificateAuthority& authority_;
  const std::string path_;
  const std::unique_ptr<StatementChecker> checker_;

  mutable absl::Mutex mu_;
  std::shared_ptr<const StatementSigner> signer_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_IDENTITIES_STATEMENT_KEY_H_
