// TestIdentities: an authority, and identity files that it has signed, for one test.
#ifndef SLIPWAY_CORE_RPC_TESTING_TEST_IDENTITIES_H_
#define SLIPWAY_CORE_RPC_TESTING_TEST_IDENTITIES_H_

#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "core/base/check.h"
#include "core/base/files.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/identity_file.h"

namespace slipway::testing {

// The files go with the object.
class TestIdentities {
 public:
  TestIdentities() {
    absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create("slipway-identities");
    SLIPWAY_CHECK(folder.ok(), "a folder for identities cannot be made");
    folder_ = *std::move(folder);
  }

  const CertificateAuthority& authority() const { return *authority_; }

  // The file of a server's identity.
  std::string Server() const {
    const CertificateRequest request = *NewCertificateRequest();
    return Write("server", request,
                 *authority_->SignServer(request.request, absl::Now(), absl::Hours(1)));
  }
  // Of a caller's with this id (identity_id.h), valid from `begin` on for an hour.
  std::string Caller(const std::string& id, absl::Time begin = absl::Now()) const {
    const CertificateRequest request = *NewCertificateRequest();
    return Write(id, request,
                 *authority_->SignCaller(request.request, id, "somebody", begin, absl::Hours(1)));
  }

  // Of an agent's.
  std::string Agent(const std::string& id, const std::string& name) const {
    const CertificateRequest request = *NewCertificateRequest();
    return Write(id, request,
                 *authority_->SignAgent(request.request, id, name, absl::Now(), absl::Hours(1)));
  }

 private:
  std::string Write(const std::string& name, const CertificateRequest& request,
                    const std::string& certificate) const {
    const std::string path = JoinPath(folder_.path(), name + ".pem");
    const absl::Status status = WriteIdentity(
        path,
        {.key = request.key, .certificate = certificate, .authority = authority_->certificate()});
    SLIPWAY_CHECK(status.ok(), "an identity cannot be written");
    return path;
  }

  const std::unique_ptr<CertificateAuthority> authority_ =
      *CertificateAuthority::Create(absl::Now() - absl::Hours(48));
  TemporaryFolder folder_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_CORE_RPC_TESTING_TEST_IDENTITIES_H_
