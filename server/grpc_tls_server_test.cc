// A whole server on a port, called over TLS within this process.
#include <stdlib.h>

#include <memory>
#include <string>

#include "core/base/files.h"
#include "core/identity/certificate.h"
#include "core/identity/identity_file.h"
#include "core/rpc/grpc_calls.h"
#include "core/rpc/grpc_renewal.h"
#include "core/rpc/join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/server.grpc.pb.h"
#include "server/data_folder.h"
#include "server/identities/own_identities.h"
#include "server/server_context.h"
#include "server/server_options.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;

class TlsServerTest : public ::testing::Test {
 protected:
  TlsServerTest() {
    setenv("XDG_CONFIG_HOME", JoinPath(folder_.path(), "config").c_str(), 1);
    Start();
  }

  void Start() {
    ServerOptions options;
    options.listen = address_;
    options.data_dir = JoinPath(folder_.path(), "data");
    options.cache_dir = JoinPath(folder_.path(), "cache");
    options.workers = 0;
    absl::StatusOr<ServerOptions> complete = Complete(options);
    ASSERT_OK(complete);
    absl::StatusOr<std::unique_ptr<ServerContext>> server = ServerContext::Create(*complete);
    ASSERT_OK(server);
    server_ = *std::move(server);
    address_ = server_->address();
  }

  absl::Status Greet(const std::string& identity_file) const {
    Calls calls(address_, {.identity_file = identity_file});
    const auto stub = v1::ServerService::NewStub(calls.channel());
    return calls.Once(kCallDeadline, {}, [&](grpc::ClientContext& context) {
      v1::ServerInfo info;
      return stub->GetServerInfo(&context, v1::GetServerInfoRequest(), &info);
    });
  }

  Identities& identities() const { return *server_->environment().identities; }
  std::string Own(Role role) const { return *IdentityPath(address_, role); }
  // The identity file of somebody who has just joined.
  std::string Joined(const std::string& name) const {
    const auto invitation = identities().Invite(name, {Role::kUser}, absl::ZeroDuration());
    EXPECT_OK(invitation);
    const std::string path = JoinPath(folder_.path(), name + ".pem");
    const absl::StatusOr<slipway::Joined> joined =
        JoinServer(address_, invitation->code.ToString(), Role::kUser, path);
    EXPECT_OK(joined);
    EXPECT_EQ(joined->name, name);
    return path;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("tls_server_test");
  std::string address_ = "127.0.0.1:0";
  std::unique_ptr<ServerContext> server_;
};

TEST_F(TlsServerTest, APlaceThatCannotBeWrittenUsesNoCodeUp) {
  ASSERT_OK_AND_ASSIGN(const auto invitation,
                       identities().Invite("ada", {Role::kUser}, absl::ZeroDuration()));
  const std::string code = invitation.code.ToString();
  const std::string file = JoinPath(folder_.path(), "no_folder");
  ASSERT_OK(WriteFileAtomically(file, "", /*durable=*/false));
  EXPECT_FALSE(JoinServer(address_, code, Role::kUser, JoinPath(file, "ada.pem")).ok());
  EXPECT_OK(JoinServer(address_, code, Role::kUser, JoinPath(folder_.path(), "ada.pem")));
}

TEST_F(TlsServerTest, ItsUserHasAnIdentityForEachRole) {
  for (const Role role : {Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin}) {
    EXPECT_OK(Greet(Own(role))) << RoleName(role);
  }
}

TEST_F(TlsServerTest, IdentitiesOutliveItsProcess) {
  const std::string ada = Joined("ada");
  const std::string own = *ReadFile(Own(Role::kUser), 1 << 20);
  server_.reset();
  Start();
  EXPECT_OK(Greet(ada));
  // What is good is left as it is.
  EXPECT_EQ(*ReadFile(Own(Role::kUser), 1 << 20), own);
}

TEST_F(TlsServerTest, AnIdentityIsRenewedByItself) {
  const std::string ada = Joined("ada");
  const auto due = RenewalTime(ada);
  ASSERT_OK(due);
  EXPECT_GT(*due, absl::Now() + absl::Hours(24 * 15));
  const Identity before = *ReadIdentity(ada);
  Calls calls(address_, {.identity_file = ada});
  ASSERT_OK(Renew(calls, ada));
  const Identity after = *ReadIdentity(ada);
  EXPECT_NE(after.key, before.key);
  EXPECT_NE(after.certificate, before.certificate);
  EXPECT_EQ(ReadCertificate(after.certificate)->uris, ReadCertificate(before.certificate)->uris);
  EXPECT_OK(Greet(ada));
  // Who was revoked renews nothing.
  ASSERT_OK(identities().Revoke("ada"));
  Calls revoked(address_, {.identity_file = ada});
  EXPECT_THAT(Renew(revoked, ada), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("revoked")));
}

TEST_F(TlsServerTest, AServersIdentityIsMadeAnewInTime) {
  const absl::Time now = absl::Now();
  const auto authority = *CertificateAuthority::Create(now);
  const std::string folder = folder_.path();
  const std::string path = JoinPath(folder, kServerIdentityName);
  ASSERT_OK(KeepServerIdentityIn(folder, *authority, now));
  const std::string first = *ReadFile(path, 1 << 20);
  ASSERT_OK(KeepServerIdentityIn(folder, *authority, now + absl::Hours(24 * 59)));
  EXPECT_EQ(*ReadFile(path, 1 << 20), first);
  ASSERT_OK(KeepServerIdentityIn(folder, *authority, now + absl::Hours(24 * 61)));
  EXPECT_NE(*ReadFile(path, 1 << 20), first);
  // Another authority's is of no use.
  const std::string second = *ReadFile(path, 1 << 20);
  const auto other = *CertificateAuthority::Create(now);
  ASSERT_OK(KeepServerIdentityIn(folder, *other, now + absl::Hours(24 * 61)));
  EXPECT_NE(*ReadFile(path, 1 << 20), second);
}

TEST_F(TlsServerTest, TheIdentityOfItsUserIsMadeAnewInTimeAndWhereItIsUnknown) {
  const absl::Time now = absl::Now();
  const auto authority = *CertificateAuthority::Parse(
      *ReadFile(JoinPath(folder_.path(), "data/authority.pem"), 1 << 20));
  const std::string path = Own(Role::kUser);
  const std::string first = *ReadFile(path, 1 << 20);
  ASSERT_OK(KeepOwnIdentity(*authority, identities(), Role::kUser, path, now));
  EXPECT_EQ(*ReadFile(path, 1 << 20), first);
  // Somebody else's, of this server, is not its user's.
  ASSERT_OK(WriteIdentity(path, *ReadIdentity(Joined("ada"))));
  ASSERT_OK(KeepOwnIdentity(*authority, identities(), Role::kUser, path, now));
  EXPECT_OK(Greet(path));
  EXPECT_EQ(ReadCertificate(ReadIdentity(path)->certificate)->common_name, "local");
}

TEST_F(TlsServerTest, ACodeOfAnotherServerIsNotSentHere) {
  const auto other = *CertificateAuthority::Create(absl::Now());
  const JoinCode code = JoinCode::New(*FingerprintOf(other->certificate()));
  EXPECT_THAT(JoinServer(address_, code.ToString(), Role::kUser, JoinPath(folder_.path(), "x.pem")),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("nothing was sent")));
}

}  // namespace
}  // namespace slipway::server
