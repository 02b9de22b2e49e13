#include "server/identities/statement_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "core/base/files.h"
#include "core/identity/authority_file.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/signed_statement.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kPurpose[] = "test";
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

class StatementKeyTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_ = *TemporaryFolder::Create("statement_key");
  const std::string path_ = JoinPath(folder_.path(), "signing.pem");
  const std::unique_ptr<CertificateAuthority> authority_ = *CertificateAuthority::Create(kNow);
};

TEST_F(StatementKeyTest, IsTheSameAfterARestart) {
  ASSERT_OK_AND_ASSIGN(const auto key, StatementKey::Open(authority_.get(), path_, kNow));
  ASSERT_OK_AND_ASSIGN(const auto again, StatementKey::Open(authority_.get(), path_, kNow));
  ASSERT_OK_AND_ASSIGN(const auto one, key->signer()->Sign(kPurpose, "said", kNow));
  ASSERT_OK_AND_ASSIGN(const auto two, again->signer()->Sign(kPurpose, "said", kNow));
  EXPECT_EQ(one.certificate, two.certificate);
  EXPECT_OK(key->checker().Check(two, kPurpose));
}

TEST_F(StatementKeyTest, IsRenewedInTimeAndWhatWasSaidStaysTrue) {
  ASSERT_OK_AND_ASSIGN(const auto key, StatementKey::Open(authority_.get(), path_, kNow));
  ASSERT_OK_AND_ASSIGN(const auto before, key->signer()->Sign(kPurpose, "said", kNow));
  // 90 days, of which the last 30 are too few.
  const absl::Time soon = kNow + absl::Hours(24 * 59);
  ASSERT_OK(key->Renew(soon));
  EXPECT_EQ(key->signer()->Sign(kPurpose, "said", soon)->certificate, before.certificate);
  const absl::Time late = kNow + absl::Hours(24 * 61);
  ASSERT_OK(key->Renew(late));
  ASSERT_OK_AND_ASSIGN(const auto after, key->signer()->Sign(kPurpose, "said", late));
  EXPECT_NE(after.certificate, before.certificate);
  EXPECT_OK(key->checker().Check(before, kPurpose));
  EXPECT_OK(key->checker().Check(after, kPurpose));
}

TEST_F(StatementKeyTest, AnotherAuthoritysIsReplaced) {
  ASSERT_OK_AND_ASSIGN(const auto other, CertificateAuthority::Create(kNow));
  ASSERT_OK_AND_ASSIGN(const auto foreign, StatementKey::Open(other.get(), path_, kNow));
  ASSERT_OK_AND_ASSIGN(const auto key, StatementKey::Open(authority_.get(), path_, kNow));
  ASSERT_OK_AND_ASSIGN(const auto said, key->signer()->Sign(kPurpose, "said", kNow));
  EXPECT_OK(key->checker().Check(said, kPurpose));
  EXPECT_FALSE(foreign->checker().Check(said, kPurpose).ok());
}

TEST_F(StatementKeyTest, WhatIsForTlsIsNoKey) {
  ASSERT_OK(KeepServerIdentity(*authority_, path_, kNow, absl::Hours(24)));
  EXPECT_THAT(StatementKey::Open(authority_.get(), path_, kNow).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("remove it")));
}

}  // namespace
}  // namespace slipway::server
