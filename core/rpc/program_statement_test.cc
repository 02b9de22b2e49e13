#include "core/rpc/program_statement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/wire/digest_proto.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kDenied = absl::StatusCode::kPermissionDenied;
constexpr char kTarget[] = "x86-64-v3-linux";
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

class ProgramStatementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(const auto authority, CertificateAuthority::Create(kNow));
    ASSERT_OK_AND_ASSIGN(const CertificateRequest request, NewCertificateRequest());
    ASSERT_OK_AND_ASSIGN(const std::string certificate,
                         authority->SignSigner(request.request, kNow, absl::Hours(1)));
    ASSERT_OK_AND_ASSIGN(signer_, StatementSigner::Create(request.key, certificate));
    ASSERT_OK_AND_ASSIGN(checker_, StatementChecker::Create(authority->certificate()));
  }

  v1::SignedStatement Signed(const v1::ProgramStatement& program,
                             absl::string_view purpose = kProgramPurpose) const {
    return ToProto(*signer_->Sign(purpose, program.SerializeAsString(), kNow));
  }
  absl::StatusOr<v1::ProgramStatement> Check(const v1::SignedStatement& statement) const {
    return CheckProgramStatement(*checker_, statement, program_, kTarget);
  }

  const Digest program_ = Digest::Of("manifest");
  std::unique_ptr<StatementSigner> signer_;
  std::unique_ptr<StatementChecker> checker_;
};

TEST_F(ProgramStatementTest, SaysWhoMadeAProgram) {
  ASSERT_OK_AND_ASSIGN(const v1::SignedStatement compiled,
                       SignCompiled(*signer_, program_, kTarget, "key", "worker-1", kNow));
  ASSERT_OK_AND_ASSIGN(const v1::ProgramStatement by_worker, Check(compiled));
  EXPECT_EQ(by_worker.compiled().compile_key(), "key");
  EXPECT_EQ(by_worker.compiled().worker(), "worker-1");
  ASSERT_OK_AND_ASSIGN(const v1::SignedStatement brought,
                       SignBrought(*signer_, program_, kTarget, "ada", kNow));
  ASSERT_OK_AND_ASSIGN(const v1::ProgramStatement by_user, Check(brought));
  EXPECT_FALSE(by_user.has_compiled());
  EXPECT_EQ(by_user.brought().owner(), "ada");
}

TEST_F(ProgramStatementTest, IsAboutOneProgram) {
  ASSERT_OK_AND_ASSIGN(const v1::SignedStatement statement,
                       SignBrought(*signer_, program_, kTarget, "ada", kNow));
  EXPECT_THAT(CheckProgramStatement(*checker_, statement, Digest::Of("another"), kTarget),
              StatusIs(kDenied, HasSubstr("not about")));
  EXPECT_THAT(CheckProgramStatement(*checker_, statement, program_, "arm-64-linux"),
              StatusIs(kDenied, HasSubstr("not for \"arm-64-linux\"")));
}

TEST_F(ProgramStatementTest, WhatSaysNothingOfUseIsNotTaken) {
  EXPECT_THAT(Check({}), StatusIs(kDenied));
  v1::ProgramStatement program;
  *program.mutable_manifest() = ToProto(program_);
  program.set_target(kTarget);
  EXPECT_THAT(Check(Signed(program)), StatusIs(kDenied, HasSubstr("who made")));
  program.mutable_brought();
  EXPECT_OK(Check(Signed(program)));
  EXPECT_THAT(Check(Signed(program, "slipway record 1")), StatusIs(kDenied));
  program.mutable_manifest()->clear_sha256();
  EXPECT_THAT(Check(Signed(program)), StatusIs(kDenied, HasSubstr("no program")));
  EXPECT_THAT(Check(ToProto(*signer_->Sign(kProgramPurpose, "\xff\xff", kNow))),
              StatusIs(kDenied, HasSubstr("who made")));
}

}  // namespace
}  // namespace slipway
