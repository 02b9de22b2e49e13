#include "server/handlers/identities.h"

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/identity/certificate.h"
#include "core/identity/join_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/handlers/testing/handler_environment.h"
#include "server/limits.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class IdentitiesHandlerTest : public ::testing::Test {
 protected:
  absl::StatusOr<v1::InviteResponse> Ask(const v1::InviteRequest& request) {
    v1::InviteResponse response;
    const absl::Status status = Invite(admin_, server_.env, request, &response);
    if (!status.ok()) return status;
    return response;
  }
  v1::InviteResponse Invited(const std::string& name) {
    v1::InviteRequest request;
    request.set_name(name);
    request.add_roles(v1::ROLE_USER);
    return Ask(request).value();
  }
  v1::JoinRequest JoinRequestFor(const std::string& code) {
    v1::JoinRequest request;
    request.set_secret(JoinCode::Parse(code)->secret);
    request.set_request(request_.request);
    request.set_role("user");
    return request;
  }

  testing::HandlerEnvironment server_;
  const Caller admin_ = {.owner = "root", .roles = {Role::kAdmin}};
  const CertificateRequest request_ = *NewCertificateRequest();
};

TEST_F(IdentitiesHandlerTest, InvitesJoinsAndRenews) {
  v1::InviteRequest invite;
  invite.set_name("ada");
  invite.add_roles(v1::ROLE_USER);
  invite.add_roles(v1::ROLE_ADMIN);
  invite.set_lifetime_ns(absl::ToInt64Nanoseconds(absl::Minutes(5)));
  const absl::StatusOr<v1::InviteResponse> invited = Ask(invite);
  ASSERT_OK(invited);
  EXPECT_EQ(invited->record().roles_size(), 2);
  EXPECT_EQ(invited->record().expires_ns() - invited->record().created_ns(), invite.lifetime_ns());
  EXPECT_THAT(invited->record().secret_sha256(), IsEmpty());

  const v1::JoinAnswer answer = Join(server_.env, JoinRequestFor(invited->code()));
  EXPECT_EQ(answer.code(), 0);
  EXPECT_EQ(answer.message(), "");
  EXPECT_EQ(answer.name(), "ada");
  EXPECT_OK(CheckKeyFits(request_.key, answer.certificate()));
  EXPECT_TRUE(JoinCode::Parse(invited->code())->IsFor(*FingerprintOf(answer.authority())));

  v1::RenewRequest renew;
  renew.set_request(request_.request);
  v1::RenewResponse renewed;
  Caller ada = {.owner = "ada", .roles = {Role::kUser}, .identity = invited->record().id()};
  ASSERT_OK(Renew(ada, server_.env, renew, &renewed));
  EXPECT_OK(CheckKeyFits(request_.key, renewed.certificate()));
  EXPECT_EQ(renewed.authority(), answer.authority());
  // Neither who was not asked nor who has a token has joined.
  v1::CreateTokenRequest token;
  token.set_name("ci");
  token.add_roles(v1::ROLE_USER);
  v1::CreateTokenResponse made;
  ASSERT_OK(CreateToken(admin_, server_.env, token, &made));
  for (const std::string& id : {std::string(), made.record().id()}) {
    ada.identity = id;
    EXPECT_THAT(Renew(ada, server_.env, renew, &renewed),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("only who joined")));
  }
}

TEST_F(IdentitiesHandlerTest, TheDoorSaysWhatIsWrong) {
  const std::string code = Invited("ada").code();
  v1::JoinRequest request = JoinRequestFor(code);
  request.set_role("agent");
  v1::JoinAnswer answer = Join(server_.env, request);
  EXPECT_EQ(answer.code(), static_cast<int>(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(answer.message(), HasSubstr("slipway join"));
  EXPECT_THAT(answer.certificate(), IsEmpty());
  answer = Join(server_.env, v1::JoinRequest());
  EXPECT_EQ(answer.code(), static_cast<int>(absl::StatusCode::kUnauthenticated));
  EXPECT_EQ(Join(server_.env, JoinRequestFor(code)).code(), 0);
}

TEST_F(IdentitiesHandlerTest, RolesThatAreNoneAreRefused) {
  for (const int role : {0, 5, -1}) {
    v1::InviteRequest invite;
    invite.set_name("ada");
    invite.add_roles(static_cast<v1::Role>(role));
    EXPECT_THAT(Ask(invite), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("unknown")));
    v1::CreateTokenRequest token;
    token.set_name("ada");
    token.add_roles(static_cast<v1::Role>(role));
    v1::CreateTokenResponse response;
    EXPECT_THAT(CreateToken(admin_, server_.env, token, &response),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("unknown")));
  }
  v1::InviteRequest none;
  none.set_name("ada");
  EXPECT_THAT(Ask(none), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(IdentitiesHandlerTest, MakesTokensAndRevokesThem) {
  v1::CreateTokenRequest request;
  request.set_name("ci");
  request.add_roles(v1::ROLE_USER);
  v1::CreateTokenResponse made;
  ASSERT_OK(CreateToken(admin_, server_.env, request, &made));
  EXPECT_THAT(made.token(), StartsWith("slipway_"));
  EXPECT_TRUE(server_.identities->FindToken(made.token()).has_value());
  v1::RevokeRequest revoke;
  revoke.set_id_or_name("ci");
  v1::RevokeResponse revoked;
  ASSERT_OK(Revoke(admin_, server_.env, revoke, &revoked));
  ASSERT_EQ(revoked.records_size(), 1);
  EXPECT_EQ(revoked.records(0).id(), made.record().id());
  EXPECT_NE(revoked.records(0).revoked_ns(), 0);
  EXPECT_FALSE(server_.identities->FindToken(made.token()).has_value());
  revoke.set_id_or_name("nobody");
  EXPECT_THAT(Revoke(admin_, server_.env, revoke, &revoked), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(IdentitiesHandlerTest, ListsComeInPages) {
  for (const char* name : {"a", "b", "c"}) Invited(name);
  v1::ListIdentitiesRequest request;
  v1::ListIdentitiesResponse response;
  ASSERT_OK(ListIdentities(server_.env, request, &response));
  EXPECT_EQ(response.records_size(), 3);
  EXPECT_EQ(response.next_page_token(), "");
  request.set_page_size(2);
  response.Clear();
  ASSERT_OK(ListIdentities(server_.env, request, &response));
  EXPECT_EQ(response.records_size(), 2);
  EXPECT_THAT(response.next_page_token(), Not(IsEmpty()));
  request.set_page_token(response.next_page_token());
  response.Clear();
  ASSERT_OK(ListIdentities(server_.env, request, &response));
  EXPECT_EQ(response.records_size(), 1);
  EXPECT_EQ(response.next_page_token(), "");
  for (const int bad : {-1, kMaxPageSize + 1}) {
    request.set_page_size(bad);
    EXPECT_THAT(ListIdentities(server_.env, request, &response),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("page_size")));
  }
  request.set_page_size(0);
  request.set_page_token("x");
  EXPECT_THAT(ListIdentities(server_.env, request, &response),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("page_token")));
}

}  // namespace
}  // namespace slipway::server
