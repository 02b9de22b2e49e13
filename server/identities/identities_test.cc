#include "server/identities/identities.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/identity/certificate.h"
#include "core/identity/given_identity.h"
#include "core/identity/identity_id.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"
#include "server/storage/memory_store.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr absl::Duration kDefault = absl::ZeroDuration();
constexpr RoleSet kUser = {Role::kUser};

class IdentitiesTest : public ::testing::Test {
 protected:
  IdentitiesTest() { Restart(); }

  void Restart() { identities_ = *Identities::Create(&store_, authority_.get(), &clock_); }

  // The secret in a new invitation.
  std::string Invited(absl::string_view name, RoleSet roles = kUser) {
    return identities_->Invite(name, roles, kDefault)->code.secret;
  }
  absl::StatusOr<Identities::Membership> Join(const std::string& secret,
                                              absl::string_view role = "user") {
    return identities_->Join(secret, request_.request, role);
  }
  // The id that a certificate names.
  static std::string IdIn(const std::string& certificate) {
    return IdentityOfUri(ReadCertificate(certificate)->uris.at(0)).value();
  }
  std::string Joined(absl::string_view name, RoleSet roles = kUser, absl::string_view as = "user") {
    return IdIn(Join(Invited(name, roles), as)->certificate);
  }
  std::vector<v1::IdentityRecord> All() const { return identities_->List("", 100'000).records; }

  FakeClock clock_;
  MemoryDatabase database_;
  MemoryStore store_{&database_};
  const std::unique_ptr<CertificateAuthority> authority_ =
      *CertificateAuthority::Create(clock_.Now());
  const CertificateRequest request_ = *NewCertificateRequest();
  std::unique_ptr<Identities> identities_;
};

TEST_F(IdentitiesTest, WhoIsInvitedJoinsOnce) {
  const auto invitation = identities_->Invite("ada", {Role::kUser, Role::kAgent}, absl::Hours(1));
  ASSERT_OK(invitation);
  EXPECT_TRUE(invitation->code.IsFor(*FingerprintOf(authority_->certificate())));
  EXPECT_EQ(invitation->record.name(), "ada");
  EXPECT_EQ(invitation->record.kind(), v1::IdentityRecord::INVITED);
  EXPECT_EQ(invitation->record.expires_ns(), absl::ToUnixNanos(clock_.Now() + absl::Hours(1)));
  EXPECT_THAT(invitation->record.roles(), ElementsAre(v1::ROLE_USER, v1::ROLE_AGENT));
  EXPECT_THAT(invitation->record.secret_sha256(), IsEmpty());
  const std::string& id = invitation->record.id();
  EXPECT_FALSE(identities_->Find(id).has_value());

  clock_.Advance(absl::Minutes(10));
  const auto membership = Join(invitation->code.secret, "agent");
  ASSERT_OK(membership);
  EXPECT_EQ(membership->name, "ada");
  EXPECT_EQ(membership->authority, authority_->certificate());
  const CertificateFacts facts = *ReadCertificate(membership->certificate);
  EXPECT_EQ(facts.common_name, "ada");
  EXPECT_THAT(facts.uris, ElementsAre(IdentityUri(id)));
  EXPECT_EQ(facts.not_after, clock_.Now() + kCertificateLifetime);
  EXPECT_OK(CheckKeyFits(request_.key, membership->certificate));

  const auto record = identities_->Find(id);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(RolesOf(*record), (RoleSet{Role::kUser, Role::kAgent}));
  EXPECT_EQ(record->joined_ns(), absl::ToUnixNanos(clock_.Now()));
  EXPECT_EQ(record->expires_ns(), 0);
  EXPECT_FALSE(record->is_own());
  EXPECT_THAT(Join(invitation->code.secret, "agent"), StatusIs(absl::StatusCode::kUnauthenticated));
}

TEST_F(IdentitiesTest, OnlyDigestsOfSecretsAreKept) {
  const auto invitation = identities_->Invite("ada", kUser, kDefault);
  const auto token = identities_->CreateToken("ben", kUser, kDefault);
  const std::vector<v1::IdentityRecord> kept = *store_.LoadIdentities();
  for (const v1::IdentityRecord& record : kept) {
    const std::string bytes = record.SerializeAsString();
    EXPECT_THAT(bytes, Not(HasSubstr(invitation->code.secret)));
    EXPECT_THAT(bytes, Not(HasSubstr(token->text)));
    EXPECT_THAT(record.secret_sha256(), SizeIs(32));
    EXPECT_OK(CheckIdentityRecord(record));
  }
  for (const v1::IdentityRecord& record : All()) EXPECT_THAT(record.secret_sha256(), IsEmpty());
}

// Whoever guesses learns nothing: each is told the same.
TEST_F(IdentitiesTest, ACodeThatIsNoGoodIsRefusedInOneWay) {
  const std::string used = Invited("used");
  ASSERT_OK(Join(used));
  const std::string revoked = Invited("revoked");
  ASSERT_OK(identities_->Revoke("revoked"));
  const std::string expired = Invited("expired");
  const std::string token = identities_->CreateToken("ben", kUser, absl::Hours(100))->text;
  clock_.Advance(kDefaultInvitationLifetime);
  std::vector<std::string> messages;
  for (const std::string& secret :
       {used, revoked, expired, token, std::string(), std::string("0000000000000000"),
        std::string(kMaxSecretBytes + 1, '0')}) {
    const absl::Status refused = Join(secret).status();
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kUnauthenticated, HasSubstr("another one")));
    messages.emplace_back(refused.message());
    // Nor does a role that is none tell one from the other.
    EXPECT_EQ(Join(secret, "king").status(), refused);
  }
  for (const std::string& message : messages) EXPECT_EQ(message, messages.front());
}

TEST_F(IdentitiesTest, ACodeIsGoodUntilItExpires) {
  const std::string secret = Invited("ada");
  clock_.Advance(kDefaultInvitationLifetime - absl::Nanoseconds(1));
  EXPECT_OK(Join(secret));
}

TEST_F(IdentitiesTest, TheWrongProgramDoesNotSpendTheCode) {
  const std::string secret = Invited("board", {Role::kAgent, Role::kWorker});
  EXPECT_THAT(Join(secret, "user"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("`slipway-agent join` or `slipway-compile-worker join`"),
                             HasSubstr("still good"))));
  EXPECT_THAT(Join(secret, "admin"), StatusIs(absl::StatusCode::kFailedPrecondition));
  for (const char* role : {"", "server", "king"}) {
    EXPECT_THAT(Join(secret, role), StatusIs(absl::StatusCode::kInvalidArgument)) << role;
  }
  EXPECT_OK(Join(secret, "worker"));
}

TEST_F(IdentitiesTest, ABadRequestDoesNotSpendTheCode) {
  const std::string secret = Invited("ada");
  for (const std::string& request :
       {std::string(), std::string("x"), std::string(kMaxCertificateRequestBytes + 1, 'x')}) {
    EXPECT_THAT(identities_->Join(secret, request, "user"),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_OK(Join(secret));
}

TEST_F(IdentitiesTest, WhatCannotBeStoredHasNotHappened) {
  const std::string secret = Invited("ada");
  const std::string ben = Joined("ben");
  database_.Refuse(absl::UnavailableError("full"));
  EXPECT_THAT(Join(secret), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(identities_->Revoke("ben"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(identities_->Invite("cy", kUser, kDefault), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(identities_->MakeOwn(Role::kUser), StatusIs(absl::StatusCode::kUnavailable));
  database_.Refuse(absl::OkStatus());
  EXPECT_TRUE(identities_->Find(ben).has_value());
  EXPECT_THAT(All(), SizeIs(2));
  EXPECT_OK(Join(secret));
}

TEST_F(IdentitiesTest, ARestartChangesNothing) {
  const std::string ada = Joined("ada", {Role::kAgent}, "agent");
  const std::string secret = Invited("ben");
  const std::string token = identities_->CreateToken("cy", {Role::kAdmin}, kDefault)->text;
  const std::string gone = Joined("dee");
  ASSERT_OK(identities_->Revoke(gone));
  const std::string own = identities_->MakeOwn(Role::kAdmin)->id();
  Restart();
  EXPECT_EQ(identities_->Find(ada)->name(), "ada");
  EXPECT_EQ(identities_->NameCovering("ada.1"), "ada");
  EXPECT_EQ(identities_->FindToken(token)->name(), "cy");
  EXPECT_FALSE(identities_->Find(gone).has_value());
  EXPECT_EQ(identities_->MakeOwn(Role::kAdmin)->id(), own);
  EXPECT_OK(Join(secret));
  Restart();
  EXPECT_THAT(Join(secret), StatusIs(absl::StatusCode::kUnauthenticated));
}

TEST_F(IdentitiesTest, NamesRolesAndLifetimesAreChecked) {
  for (const char* name : {"", "Ada", "a.b", "local", "local-0", "0123456789abcdef", "../x"}) {
    EXPECT_THAT(identities_->Invite(name, kUser, kDefault),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << name;
    EXPECT_THAT(identities_->CreateToken(name, kUser, kDefault),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << name;
  }
  for (const RoleSet roles :
       {RoleSet(), RoleSet({Role::kServer}), RoleSet({Role::kUser, Role::kServer})}) {
    EXPECT_THAT(identities_->Invite("ada", roles, kDefault),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  for (const absl::Duration lifetime :
       {absl::Nanoseconds(-1), absl::Seconds(59), absl::Hours(24 * 30) + absl::Seconds(1),
        absl::InfiniteDuration(), -absl::InfiniteDuration()}) {
    EXPECT_THAT(identities_->Invite("ada", kUser, lifetime),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("720h")))
        << lifetime;
  }
  EXPECT_OK(identities_->Invite("ada", kUser, absl::Minutes(1)));
  EXPECT_OK(identities_->Invite("ada", kUser, kMaxInvitationLifetime));
  EXPECT_THAT(identities_->CreateToken("ada", kUser, kMaxTokenLifetime + absl::Seconds(1)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_OK(identities_->CreateToken("ada", kUser, kMaxTokenLifetime));
  EXPECT_THAT(identities_->CreateToken("ada", {Role::kUser, Role::kWorker}, kDefault),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("slipwayd invite worker")));
  EXPECT_OK(identities_->CreateToken("page", {Role::kAgent}, kDefault));
  for (const RoleSet more :
       {RoleSet{Role::kAgent, Role::kUser}, RoleSet{Role::kAgent, Role::kAdmin}}) {
    EXPECT_THAT(identities_->CreateToken("page", more, kDefault),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nothing else")));
  }
}

TEST_F(IdentitiesTest, ATokenIsKnownUntilItExpiresOrIsRevoked) {
  const auto token = identities_->CreateToken("ci", {Role::kUser, Role::kAdmin}, absl::Hours(2));
  ASSERT_OK(token);
  EXPECT_THAT(token->text, ::testing::MatchesRegex("slipway_[0-9a-z]{32}\\.[0-9A-Z]{20}"));
  const auto found = identities_->FindToken(token->text);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->id(), token->record.id());
  EXPECT_EQ(RolesOf(*found), (RoleSet{Role::kUser, Role::kAdmin}));
  EXPECT_TRUE(identities_->IsGood(token->record.id()));
  EXPECT_FALSE(identities_->FindToken(token->text.substr(1)).has_value());
  EXPECT_FALSE(identities_->FindToken("").has_value());
  EXPECT_FALSE(identities_->FindToken(Invited("ada")).has_value());
  // It is no certificate.
  EXPECT_FALSE(identities_->Find(token->record.id()).has_value());
  EXPECT_THAT(identities_->Renew(token->record.id(), request_.request),
              StatusIs(absl::StatusCode::kUnauthenticated));
  clock_.Advance(absl::Hours(2));
  EXPECT_FALSE(identities_->FindToken(token->text).has_value());
  EXPECT_FALSE(identities_->IsGood(token->record.id()));

  const auto other = identities_->CreateToken("ci", kUser, kDefault);
  EXPECT_NE(other->text, token->text);
  ASSERT_OK(identities_->Revoke(other->record.id()));
  EXPECT_FALSE(identities_->FindToken(other->text).has_value());
}

TEST_F(IdentitiesTest, RevokingShutsOutAndTells) {
  int told = 0;
  identities_->WhenRevoked([&] {
    ++told;
    // It may ask.
    EXPECT_FALSE(identities_->NameCovering("board").has_value());
  });
  const std::string first = Joined("board", {Role::kAgent}, "agent");
  const std::string second = Joined("board", {Role::kAgent}, "agent");
  const std::string other = Joined("ada");
  const std::string open = Invited("board", {Role::kAgent});
  const auto revoked = identities_->Revoke("board");
  ASSERT_OK(revoked);
  EXPECT_THAT(*revoked, SizeIs(3));
  for (const v1::IdentityRecord& record : *revoked) {
    EXPECT_EQ(record.revoked_ns(), absl::ToUnixNanos(clock_.Now()));
    EXPECT_THAT(record.secret_sha256(), IsEmpty());
  }
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(identities_->Find(first).has_value());
  EXPECT_FALSE(identities_->Find(second).has_value());
  EXPECT_TRUE(identities_->Find(other).has_value());
  EXPECT_THAT(Join(open, "agent"), StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_THAT(identities_->Renew(first, request_.request),
              StatusIs(absl::StatusCode::kUnauthenticated));

  // Again, later: nothing changes, and nobody is told.
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(identities_->Revoke("board")->front().revoked_ns(), revoked->front().revoked_ns());
  EXPECT_EQ(told, 1);
  // By its id it is one alone.
  EXPECT_THAT(*identities_->Revoke(other), SizeIs(1));
  EXPECT_EQ(told, 2);
  for (const char* nobody : {"nobody", "", "0000000000000000"}) {
    EXPECT_THAT(identities_->Revoke(nobody), StatusIs(absl::StatusCode::kNotFound)) << nobody;
  }
  EXPECT_EQ(told, 2);
}

TEST_F(IdentitiesTest, TheOwnUserNeedsNoCodeAndStays) {
  const v1::IdentityRecord own = *identities_->MakeOwn(Role::kAdmin);
  EXPECT_EQ(own.name(), "local");
  EXPECT_TRUE(own.is_own());
  EXPECT_EQ(RolesOf(own), RoleSet({Role::kAdmin}));
  EXPECT_EQ(identities_->MakeOwn(Role::kAdmin)->id(), own.id());
  EXPECT_NE(identities_->MakeOwn(Role::kAgent)->id(), own.id());
  const auto membership = identities_->Renew(own.id(), request_.request);
  ASSERT_OK(membership);
  EXPECT_EQ(IdIn(membership->certificate), own.id());
  EXPECT_TRUE(identities_->Find(own.id())->is_own());
  EXPECT_FALSE(identities_->NameCovering("local").has_value());
  for (const std::string& given : {own.id(), own.name()}) {
    EXPECT_THAT(identities_->Revoke(given), StatusIs(absl::StatusCode::kFailedPrecondition));
  }
  EXPECT_TRUE(identities_->Find(own.id()).has_value());
}

TEST_F(IdentitiesTest, GivenIdentitiesHaveARecordFromTheFirstTimeOn) {
  const GivenIdentity ada = {.name = "ada", .roles = {Role::kUser, Role::kAdmin}};
  EXPECT_FALSE(identities_->IsGood(ada.id()));
  EXPECT_OK(identities_->AdmitGiven(ada));
  EXPECT_OK(identities_->AdmitGiven(ada));
  ASSERT_THAT(All(), SizeIs(1));
  Restart();
  const absl::optional<v1::IdentityRecord> record = identities_->Find(ada.id());
  ASSERT_TRUE(record.has_value());
  EXPECT_TRUE(record->is_given());
  EXPECT_EQ(record->name(), "ada");
  EXPECT_EQ(RolesOf(*record), ada.roles);
  EXPECT_TRUE(identities_->IsGood(ada.id()));
  // The same name with other roles is another one.
  EXPECT_OK(identities_->AdmitGiven({.name = "ada", .roles = {Role::kAgent}}));
  EXPECT_EQ(identities_->NameCovering("ada.camera"), "ada");
  EXPECT_THAT(identities_->Renew(ada.id(), request_.request),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another authority")));
}

TEST_F(IdentitiesTest, GivenIdentitiesStayRevoked) {
  const GivenIdentity ada = {.name = "ada", .roles = kUser};
  EXPECT_OK(identities_->AdmitGiven(ada));
  EXPECT_OK(identities_->Revoke("ada"));
  EXPECT_THAT(identities_->AdmitGiven(ada), StatusIs(absl::StatusCode::kUnauthenticated));
  // Others who are revoked give way, he does not.
  clock_.Advance(absl::Seconds(1));
  v1::IdentityRecord other = *identities_->Find(Joined("bob"));
  EXPECT_OK(identities_->Revoke("bob"));
  for (int i = static_cast<int>(All().size()); i < kMaxIdentities; ++i) {
    other.set_id(absl::StrCat(absl::Hex(i, absl::kZeroPad16)));
    ASSERT_OK(store_.SaveIdentity(other));
  }
  Restart();
  EXPECT_OK(identities_->AdmitGiven({.name = "last", .roles = kUser}));
  EXPECT_THAT(identities_->AdmitGiven({.name = "one-more", .roles = kUser}),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(identities_->AdmitGiven(ada), StatusIs(absl::StatusCode::kUnauthenticated));
}

TEST_F(IdentitiesTest, GivenIdentitiesHaveNoNamesOfTheServers) {
  for (const char* name : {"local", "local-1", "0123456789abcdef"}) {
    EXPECT_THAT(identities_->AdmitGiven({.name = name, .roles = kUser}),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << name;
  }
  EXPECT_THAT(All(), IsEmpty());
}

TEST_F(IdentitiesTest, RenewingMakesAnotherCertificate) {
  const std::string id = Joined("ada");
  clock_.Advance(absl::Hours(24 * 20));
  const CertificateRequest other = *NewCertificateRequest();
  const auto membership = identities_->Renew(id, other.request);
  ASSERT_OK(membership);
  EXPECT_EQ(IdIn(membership->certificate), id);
  EXPECT_EQ(membership->name, "ada");
  EXPECT_EQ(ReadCertificate(membership->certificate)->not_after,
            clock_.Now() + kCertificateLifetime);
  EXPECT_OK(CheckKeyFits(other.key, membership->certificate));
  EXPECT_THAT(identities_->Renew(id, "x"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(IdentitiesTest, PeersHaveTheirNamesToThemselves) {
  Joined("board", {Role::kAgent}, "agent");
  Joined("builder", {Role::kUser, Role::kWorker}, "user");
  Joined("ada");
  Invited("later", {Role::kAgent});
  for (const char* id : {"board", "board.", "board.camera", "board.a.b"}) {
    EXPECT_EQ(identities_->NameCovering(id), "board") << id;
  }
  EXPECT_EQ(identities_->NameCovering("builder"), "builder");
  for (const char* id : {"boards", "boar", "board-1", "ada", "later", "", ".board", "x.board"}) {
    EXPECT_FALSE(identities_->NameCovering(id).has_value()) << id;
  }
}

TEST_F(IdentitiesTest, OpenInvitationsAreBounded) {
  std::string first;
  for (int i = 0; i < kMaxOpenInvitations; ++i) {
    const std::string secret = Invited(absl::StrCat("u", i));
    if (i == 0) first = secret;
  }
  EXPECT_THAT(identities_->Invite("more", kUser, kDefault),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("slipwayd revoke")));
  EXPECT_OK(identities_->CreateToken("more", kUser, kDefault));
  // One that is used makes room, so do one that is revoked, and those that expire.
  ASSERT_OK(Join(first));
  EXPECT_OK(identities_->Invite("more", kUser, kDefault));
  EXPECT_THAT(identities_->Invite("more", kUser, kDefault),
              StatusIs(absl::StatusCode::kResourceExhausted));
  ASSERT_OK(identities_->Revoke("u1"));
  EXPECT_OK(identities_->Invite("more", kUser, kDefault));
  clock_.Advance(kDefaultInvitationLifetime);
  EXPECT_OK(identities_->Invite("more", kUser, kDefault));
  EXPECT_THAT(All(), SizeIs(3));  // And who has joined, and the token.
  EXPECT_THAT(*store_.LoadIdentities(), SizeIs(3));
}

TEST_F(IdentitiesTest, AllAreBoundedAndTheRevokedMakeRoom) {
  v1::IdentityRecord record;
  record.set_name("ada");
  record.add_roles(v1::ROLE_USER);
  record.set_kind(v1::IdentityRecord::JOINED);
  record.set_joined_ns(1);
  for (int i = 0; i < kMaxIdentities; ++i) {
    record.set_id(absl::StrCat(absl::Hex(i, absl::kZeroPad16)));
    record.set_revoked_ns(i == 7 || i == 8 ? 100 - i : 0);
    ASSERT_OK(store_.SaveIdentity(record));
  }
  Restart();
  const auto has = [&](int i) {
    for (const v1::IdentityRecord& each : All()) {
      if (each.id() == absl::StrCat(absl::Hex(i, absl::kZeroPad16))) return true;
    }
    return false;
  };
  // Who was revoked first goes first.
  EXPECT_OK(identities_->Invite("more", kUser, kDefault));
  EXPECT_FALSE(has(8));
  EXPECT_TRUE(has(7));
  EXPECT_OK(identities_->CreateToken("more", kUser, kDefault));
  EXPECT_FALSE(has(7));
  EXPECT_THAT(identities_->CreateToken("more", kUser, kDefault),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("slipwayd revoke")));
  EXPECT_THAT(All(), SizeIs(kMaxIdentities));
}

TEST_F(IdentitiesTest, ListsInPages) {
  for (int i = 0; i < 5; ++i) Invited(absl::StrCat("u", i));
  std::vector<std::string> seen;
  std::string after;
  int pages = 0;
  while (true) {
    const Identities::Page page = identities_->List(after, 2);
    for (const v1::IdentityRecord& record : page.records) seen.push_back(record.id());
    ++pages;
    if (!page.has_more) break;
    after = page.records.back().id();
  }
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(seen, SizeIs(5));
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_FALSE(identities_->List("", 5).has_more);
}

TEST_F(IdentitiesTest, OneOfTwoWhoUseOneCodeWins) {
  for (int round = 0; round < 20; ++round) {
    const std::string secret = Invited("ada");
    std::atomic<int> joined = 0;
    std::atomic<int> refused = 0;
    const auto join = [&] {
      const absl::Status status = Join(secret).status();
      if (status.ok()) ++joined;
      if (absl::IsUnauthenticated(status)) ++refused;
    };
    std::thread first(join);
    std::thread second(join);
    first.join();
    second.join();
    EXPECT_EQ(joined, 1);
    EXPECT_EQ(refused, 1);
  }
}

TEST_F(IdentitiesTest, ManyAskWhileOthersChange) {
  const std::string id = Joined("board", {Role::kAgent}, "agent");
  std::atomic<bool> is_over = false;
  std::thread asks([&] {
    while (!is_over) {
      EXPECT_TRUE(identities_->Find(id).has_value());
      EXPECT_TRUE(identities_->NameCovering("board.x").has_value());
      EXPECT_FALSE(identities_->List("", 10).records.empty());
    }
  });
  for (int i = 0; i < 50; ++i) {
    Joined("ada");
    ASSERT_OK(identities_->Revoke("ada"));
  }
  is_over = true;
  asks.join();
}

}  // namespace
}  // namespace slipway::server
