#include "core/rpc/record_statement.h"

#include <memory>
#include <string>

#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/rpc/program_statement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/statement.pb.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
constexpr auto kDenied = absl::StatusCode::kPermissionDenied;
constexpr auto kLost = absl::StatusCode::kDataLoss;

class RecordStatementTest : public ::testing::Test {
 protected:
  RecordStatementTest() : RecordStatementTest(*NewCertificateRequest()) {}
  explicit RecordStatementTest(const CertificateRequest& request)
      : signer_(*StatementSigner::Create(
            request.key, *authority_->SignSigner(request.request, kNow, absl::Hours(24)))),
        checker_(*StatementChecker::Create(authority_->certificate())) {}

  v1::SignedRecord Record() {
    v1::HistoryEntry entry;
    entry.set_id("01J");
    // More than a statement may hold.
    for (int i = 1; i <= 100'000; ++i) entry.mutable_result()->add_samples_ns(i);
    return *SignRecord(*signer_, entry.SerializeAsString(), kNow);
  }

  const std::unique_ptr<CertificateAuthority> authority_ = *CertificateAuthority::Create(kNow);
  const std::unique_ptr<StatementSigner> signer_;
  const std::unique_ptr<StatementChecker> checker_;
};

TEST_F(RecordStatementTest, WhatWasSignedIsVouchedFor) {
  EXPECT_OK(CheckRecordStatement(*checker_, Record()));
}

TEST_F(RecordStatementTest, AnAlteredSampleIsSeen) {
  v1::SignedRecord record = Record();
  std::string& entry = *record.mutable_entry();
  entry[entry.size() / 2] ^= 1;
  EXPECT_THAT(CheckRecordStatement(*checker_, record),
              StatusIs(kLost, HasSubstr("the record was altered: what it holds has the digest")));
  record.clear_entry();
  EXPECT_THAT(CheckRecordStatement(*checker_, record), StatusIs(kLost, HasSubstr("altered")));
}

TEST_F(RecordStatementTest, AnotherAuthorityVouchesForNothing) {
  const auto other = *CertificateAuthority::Create(kNow);
  const auto checker = *StatementChecker::Create(other->certificate());
  EXPECT_THAT(CheckRecordStatement(*checker, Record()),
              StatusIs(kDenied, HasSubstr("the authority does not vouch for the record")));
  v1::SignedRecord none = Record();
  none.clear_statement();
  EXPECT_THAT(CheckRecordStatement(*checker_, none), StatusIs(kDenied));
}

TEST_F(RecordStatementTest, TheTimeMustBeOneOfTheSigners) {
  v1::SignedRecord record = Record();
  record.mutable_statement()->set_time_ns(absl::ToUnixNanos(kNow + absl::Hours(48)));
  EXPECT_THAT(CheckRecordStatement(*checker_, record),
              StatusIs(kDenied, HasSubstr("was not valid when the statement was signed")));
  record.mutable_statement()->set_time_ns(absl::ToUnixNanos(kNow + absl::Hours(1)));
  EXPECT_THAT(CheckRecordStatement(*checker_, record),
              StatusIs(kDenied, HasSubstr("the signature is not that of what is said")));
}

TEST_F(RecordStatementTest, AStatementOnSomethingElseIsNone) {
  v1::SignedRecord record = Record();
  v1::RecordStatement said;
  said.ParseFromString(record.statement().payload());
  *record.mutable_statement() =
      ToProto(*signer_->Sign(kProgramPurpose, said.SerializeAsString(), kNow));
  EXPECT_THAT(CheckRecordStatement(*checker_, record),
              StatusIs(kDenied, HasSubstr("was made for another purpose")));
  *record.mutable_statement() = ToProto(*signer_->Sign(kRecordPurpose, "\xff", kNow));
  EXPECT_THAT(CheckRecordStatement(*checker_, record),
              StatusIs(kLost, HasSubstr("cannot be read")));
  *record.mutable_statement() = ToProto(*signer_->Sign(kRecordPurpose, "", kNow));
  EXPECT_THAT(CheckRecordStatement(*checker_, record),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace slipway
