#include "server/services/admission.h"

#include <memory>
#include <string>

#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/storage/memory_store.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kOwnWorker[] = "fedcba9876543210";

class AdmissionTest : public ::testing::Test {
 protected:
  absl::StatusOr<Caller> Admit(const CallHeader& call) const {
    return Admission({.identities = identities_.get(), .own_worker = kOwnWorker}).Admit(call);
  }
  // The id of somebody who has joined.
  std::string Joined(const std::string& name, Role role) {
    const auto invitation = identities_->Invite(name, {role}, absl::Hours(1));
    EXPECT_OK(identities_->Join(invitation->code.secret, NewCertificateRequest()->request,
                                RoleName(role)));
    return invitation->record.id();
  }
  std::string Token(const std::string& name) {
    return identities_->CreateToken(name, {Role::kUser}, absl::Hours(1))->text;
  }

  FakeClock clock_;
  MemoryDatabase database_;
  MemoryStore store_{&database_};
  const std::unique_ptr<CertificateAuthority> authority_ =
      *CertificateAuthority::Create(clock_.Now());
  const std::unique_ptr<Identities> identities_ =
      *Identities::Create(&store_, authority_.get(), &clock_);
};

TEST_F(AdmissionTest, KnowsWhoHasJoined) {
  const std::string id = Joined("board-1", Role::kAgent);
  const auto caller = Admit({.identity = id});
  ASSERT_OK(caller);
  EXPECT_EQ(caller->owner, "board-1");
  EXPECT_EQ(caller->roles, RoleSet({Role::kAgent}));
  EXPECT_EQ(caller->identity, id);
  EXPECT_FALSE(caller->is_own_user);
}

TEST_F(AdmissionTest, RefusesWhoIsUnknownOrRevoked) {
  const std::string id = Joined("ada", Role::kUser);
  ASSERT_OK(identities_->Revoke("ada"));
  for (const std::string& identity : {id, std::string("0123456789abcdef")}) {
    EXPECT_THAT(Admit({.identity = identity}),
                StatusIs(absl::StatusCode::kUnauthenticated, HasSubstr("join again")));
    // A token does not make up for it.
    const std::string authorization = "Bearer " + Token("ben");
    EXPECT_THAT(Admit({.authorization = authorization, .identity = identity}),
                StatusIs(absl::StatusCode::kUnauthenticated));
  }
}

TEST_F(AdmissionTest, TakesTokensUntilTheyExpire) {
  const std::string authorization = "Bearer " + Token("ada");
  const auto caller = Admit({.authorization = authorization});
  ASSERT_OK(caller);
  EXPECT_EQ(caller->owner, "ada");
  EXPECT_EQ(caller->roles, RoleSet({Role::kUser}));
  clock_.Advance(absl::Hours(2));
  EXPECT_THAT(Admit({.authorization = authorization}),
              StatusIs(absl::StatusCode::kUnauthenticated));
}

TEST_F(AdmissionTest, RefusesEveryOtherTokenWithoutRepeatingIt) {
  const std::string token = Token("ada");
  for (const std::string& given : {std::string(), std::string("0"), token.substr(1), token + "0",
                                   token + token, " " + token}) {
    EXPECT_THAT(Admit({.authorization = "Bearer " + given}),
                StatusIs(absl::StatusCode::kUnauthenticated,
                         AllOf(HasSubstr("--token-file"), Not(HasSubstr(token.substr(8))))))
        << given;
  }
  for (const std::string& given :
       {std::string(), std::string("Bearer"), "bearer " + token, token}) {
    EXPECT_THAT(Admit({.authorization = given}), StatusIs(absl::StatusCode::kUnauthenticated));
  }
}

TEST_F(AdmissionTest, KnowsTheServersOwnUser) {
  const auto record = identities_->MakeOwn(Role::kAdmin);
  ASSERT_OK(record);
  const auto caller = Admit({.identity = record->id()});
  ASSERT_OK(caller);
  EXPECT_EQ(caller->owner, "local");
  EXPECT_TRUE(caller->is_own_user);
  EXPECT_EQ(caller->roles, RoleSet({Role::kAdmin}));
}

TEST_F(AdmissionTest, KnowsTheServersOwnWorkers) {
  const auto own = Admit({.authorization = "Bearer fedcba9876543210"});
  ASSERT_OK(own);
  EXPECT_TRUE(own->is_own_worker);
  EXPECT_FALSE(own->is_own_user);
  EXPECT_EQ(own->roles, RoleSet({Role::kWorker}));
  EXPECT_FALSE(Admit({.authorization = "Bearer fedcba9876543211"}).ok());
}

TEST(Admission, AsksNobodyWhereNobodyIsKnown) {
  const absl::Time deadline = absl::FromUnixSeconds(7);
  const Admission admission({.own_worker = kOwnWorker});
  const auto caller = admission.Admit({.authorization = "Bearer anything",
                                       .request_id = "call 1",
                                       .deadline = deadline,
                                       .address = "unix:"});
  ASSERT_OK(caller);
  EXPECT_EQ(caller->owner, "local");
  EXPECT_EQ(caller->deadline, deadline);
  EXPECT_EQ(caller->request_id, "call 1");
  EXPECT_EQ(caller->address, "unix:");
  EXPECT_EQ(caller->roles, RoleSet({Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin}));
  EXPECT_TRUE(caller->is_own_user);
  EXPECT_EQ(caller->identity, "");
  EXPECT_TRUE(admission.Admit({.authorization = "Bearer fedcba9876543210"})->is_own_worker);
}

TEST(Admission, RefusesRequestIdsThatAreNone) {
  const std::string longest(128, 'x');
  for (const std::string& good : {std::string(), longest}) {
    EXPECT_OK(Admission({}).Admit({.request_id = good}));
  }
  for (const std::string& bad : {longest + "x", std::string("a\nb")}) {
    EXPECT_THAT(Admission({}).Admit({.request_id = bad}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x-request-id")));
  }
}

}  // namespace
}  // namespace slipway::server
