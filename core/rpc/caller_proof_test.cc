#include "core/rpc/caller_proof.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "core/base/files.h"
#include "core/identity/identity_file.h"
#include "core/rpc/testing/test_identities.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/company.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using slipway::testing::StatusIs;
using slipway::testing::TestIdentities;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kAddress[] = "buildhost:7411";
constexpr char kId[] = "00000000000000ad";

class FindProofTest : public ::testing::Test {
 protected:
  FindProofTest() { setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1); }

  // Puts an identity where it is looked for.
  std::string Join(Role role, absl::Time begin = absl::Now()) {
    const std::string path = *IdentityPath(kAddress, role);
    EXPECT_OK(WriteIdentity(path, *ReadIdentity(identities_.Caller(kId, begin))));
    return path;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("proof_test");
  const TestIdentities identities_;
};

TEST_F(FindProofTest, FindsWhatThisUserHasJoinedWith) {
  const std::string user = Join(Role::kUser);
  const std::string agent = Join(Role::kAgent);
  const auto proof = FindProof(kAddress, Role::kUser, {});
  ASSERT_OK(proof);
  EXPECT_EQ(proof->identity_file, user);
  EXPECT_TRUE(proof->is_over_tls());
  EXPECT_EQ(FindProof(kAddress, Role::kAgent, {})->identity_file, agent);
  EXPECT_EQ(*JoinedName(*proof), "somebody");
}

TEST_F(FindProofTest, AGivenAuthorityWantsACertificateOfItsOwn) {
  const slipway::testing::Company company;
  const auto write = [this](const std::string& name, const std::string& text) {
    const std::string path = JoinPath(folder_.path(), name);
    EXPECT_OK(WriteFileAtomically(path, text, /*durable=*/false, 0600));
    return path;
  };
  const std::string authority = write("company.pem", company.authority());
  const std::string ada = write("ada.pem", company.Certificate("URI:urn:slipway:agent:board-7"));
  const auto proof =
      FindProof(kAddress, Role::kAgent, {.identity_file = ada, .authority_file = authority});
  ASSERT_OK(proof);
  EXPECT_TRUE(proof->is_over_tls());
  EXPECT_EQ(proof->authority_file, authority);
  EXPECT_EQ(*JoinedName(*proof), "board-7");
  EXPECT_THAT(FindProof(kAddress, Role::kUser, {.authority_file = authority}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--identity FILE")));
  EXPECT_OK(FindProof(kAddress, Role::kUser, {.authority_file = authority, .token = "a token"}));
  EXPECT_THAT(FindProof(kAddress, Role::kUser, {.identity_file = ada, .authority_file = ada}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--authority")));
  const std::string old = write(
      "old.pem", company.Certificate("URI:urn:slipway:user:ada", absl::Now() - absl::Hours(3)));
  EXPECT_THAT(FindProof(kAddress, Role::kUser, {.identity_file = old, .authority_file = authority}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("--identity"), HasSubstr("expired"))));
  EXPECT_THAT(FindProof(kAddress, Role::kUser, {.authority_file = authority, .insecure = true}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--authority")));
}

TEST_F(FindProofTest, SaysHowToJoin) {
  EXPECT_THAT(FindProof(kAddress, Role::kUser, {}),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       AllOf(HasSubstr("slipwayd invite user"), HasSubstr("slipway join"))));
  EXPECT_THAT(
      FindProof(kAddress, Role::kWorker, {}),
      StatusIs(absl::StatusCode::kUnauthenticated,
               AllOf(HasSubstr("invite worker"), HasSubstr("slipway-compile-worker join"))));
  EXPECT_THAT(FindProof(kAddress, Role::kAdmin, {}),
              StatusIs(absl::StatusCode::kUnauthenticated, HasSubstr("slipwayd join")));
}

TEST_F(FindProofTest, SaysThatAnIdentityHasExpired) {
  Join(Role::kUser, absl::Now() - absl::Hours(2));
  EXPECT_THAT(FindProof(kAddress, Role::kUser, {}),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       AllOf(HasSubstr("expired"), HasSubstr("slipway join"))));
}

TEST_F(FindProofTest, RefusesAFileThatOthersRead) {
  const std::string path = Join(Role::kUser);
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_THAT(FindProof(kAddress, Role::kUser, {}),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("chmod 600")));
}

TEST_F(FindProofTest, TakesTheFileThatIsGiven) {
  const std::string given = identities_.Caller(kId);
  EXPECT_EQ(FindProof(kAddress, Role::kUser, {.identity_file = given})->identity_file, given);
  EXPECT_THAT(FindProof(kAddress, Role::kUser, {.identity_file = JoinPath(folder_.path(), "none")}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("--identity")));
}

TEST_F(FindProofTest, NothingIsProvenOverASocketOrWithoutTls) {
  EXPECT_FALSE(FindProof("unix:/run/slipway", Role::kUser, {})->is_over_tls());
  const auto proof = FindProof(kAddress, Role::kUser, {.token = "a token", .insecure = true});
  ASSERT_OK(proof);
  EXPECT_FALSE(proof->is_over_tls());
  EXPECT_EQ(proof->token, "a token");
  const std::string file = identities_.Caller(kId);
  EXPECT_THAT(FindProof("unix:/run/slipway", Role::kUser, {.identity_file = file}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--identity")));
  EXPECT_THAT(FindProof(kAddress, Role::kUser, {.identity_file = file, .insecure = true}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--insecure")));
}

TEST_F(FindProofTest, ATokenThatNamesNoServerIsShownToNone) {
  EXPECT_THAT(FindProof(kAddress, Role::kUser, {.token = "0123456789abcdef"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--insecure")));
}

}  // namespace
}  // namespace slipway
