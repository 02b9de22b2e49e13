#include "core/identity/signed_statement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kDenied = absl::StatusCode::kPermissionDenied;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kPurpose[] = "slipway program";
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000) + absl::Nanoseconds(7);
constexpr absl::Duration kLifetime = absl::Hours(24);

// A server's authority, and signers of it.
struct Server {
  std::unique_ptr<CertificateAuthority> authority = *CertificateAuthority::Create(kNow);

  std::unique_ptr<StatementSigner> NewSigner(absl::Time now = kNow) const {
    const CertificateRequest request = *NewCertificateRequest();
    return *StatementSigner::Create(request.key,
                                    *authority->SignSigner(request.request, now, kLifetime));
  }
  std::unique_ptr<StatementChecker> NewChecker() const {
    return *StatementChecker::Create(authority->certificate());
  }
};

// OpenSSL's errors are left to nobody.
class SignedStatementTest : public ::testing::Test {
 protected:
  ~SignedStatementTest() override { EXPECT_EQ(ERR_peek_error(), 0U); }

  const Server server_{};
  const std::unique_ptr<StatementChecker> checker_ = server_.NewChecker();
};

TEST_F(SignedStatementTest, WhatASignerSaysIsTrue) {
  const auto signer = server_.NewSigner();
  for (const std::string& payload :
       {std::string(), std::string("a\0b\n", 4), std::string(kMaxStatementBytes, 'x')}) {
    ASSERT_OK_AND_ASSIGN(const SignedStatement statement, signer->Sign(kPurpose, payload, kNow));
    EXPECT_EQ(statement.payload, payload);
    EXPECT_EQ(statement.time, kNow);
    EXPECT_OK(checker_->Check(statement, kPurpose));
  }
  EXPECT_THAT(signer->Sign(kPurpose, std::string(kMaxStatementBytes + 1, 'x'), kNow),
              StatusIs(kInvalid));
}

TEST_F(SignedStatementTest, WhateverIsChangedIsNoticed) {
  ASSERT_OK_AND_ASSIGN(const SignedStatement good,
                       server_.NewSigner()->Sign(kPurpose, "what is said", kNow));
  const std::vector<std::function<void(SignedStatement&)>> changes = {
      [](SignedStatement& s) { s.payload[3] ^= 1; },
      [](SignedStatement& s) { s.payload += " more"; },
      [](SignedStatement& s) { s.payload.clear(); },
      [](SignedStatement& s) { s.time += absl::Nanoseconds(1); },
      // What moves from one part to another.
      [](SignedStatement& s) { s.payload = absl::StrCat("\n", s.payload); },
      [](SignedStatement& s) { s.signature.back() ^= 1; },
      [](SignedStatement& s) { s.signature.clear(); },
      [](SignedStatement& s) { s.signature.push_back('\0'); },
      [](SignedStatement& s) { s.signature.assign(1 << 20, 'x'); },
      [](SignedStatement& s) { s.payload.assign(kMaxStatementBytes + 1, 'x'); },
      [](SignedStatement& s) { s.certificate.clear(); },
      [](SignedStatement& s) { s.certificate = "no certificate"; },
      [](SignedStatement& s) { s.certificate[s.certificate.size() / 2] ^= 1; },
      [this](SignedStatement& s) { s.certificate = server_.authority->certificate(); },
      // Of another signer of the same authority.
      [this](SignedStatement& s) {
        s.certificate = server_.NewSigner()->Sign(kPurpose, "", kNow)->certificate;
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    SignedStatement changed = good;
    changes[i](changed);
    EXPECT_THAT(checker_->Check(changed, kPurpose), StatusIs(kDenied)) << i;
  }
  EXPECT_OK(checker_->Check(good, kPurpose));
}

TEST_F(SignedStatementTest, APurposeIsForItselfAlone) {
  ASSERT_OK_AND_ASSIGN(const SignedStatement statement,
                       server_.NewSigner()->Sign(kPurpose, "said", kNow));
  EXPECT_THAT(checker_->Check(statement, "slipway record"),
              StatusIs(kDenied, HasSubstr("another purpose")));
}

TEST_F(SignedStatementTest, AnotherAuthorityIsNotBelieved) {
  ASSERT_OK_AND_ASSIGN(const SignedStatement statement,
                       Server().NewSigner()->Sign(kPurpose, "said", kNow));
  EXPECT_THAT(checker_->Check(statement, kPurpose),
              StatusIs(kDenied, HasSubstr("not signed by the authority")));
}

TEST_F(SignedStatementTest, ASignerSaysNothingOutsideOfItsTime) {
  const auto signer = server_.NewSigner();
  for (const absl::Duration off : {-kClockSkew - absl::Seconds(1), kLifetime + absl::Seconds(1)}) {
    EXPECT_THAT(signer->Sign(kPurpose, "said", kNow + off),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("set the clock")));
  }
  EXPECT_OK(signer->Sign(kPurpose, "said", kNow + kLifetime - absl::Seconds(1)));
}

// Of one who signs all the same, with a certificate that had expired.
TEST_F(SignedStatementTest, WhatAnExpiredSignerSaidIsNotBelieved) {
  const CertificateRequest request = *NewCertificateRequest();
  const auto certificate = [&](absl::Time since) {
    return *server_.authority->SignSigner(request.request, since, kLifetime);
  };
  ASSERT_OK_AND_ASSIGN(const auto signer, StatementSigner::Create(request.key, certificate(kNow)));
  ASSERT_OK_AND_ASSIGN(SignedStatement statement, signer->Sign(kPurpose, "said", kNow));
  for (const absl::Duration age : {kLifetime + absl::Seconds(1), -kClockSkew - absl::Seconds(1)}) {
    statement.certificate = certificate(kNow - age);
    EXPECT_THAT(checker_->Check(statement, kPurpose), StatusIs(kDenied, HasSubstr("not valid")));
  }
  // One for the same key that was valid then is as good as its own.
  statement.certificate = certificate(kNow - kLifetime / 2);
  EXPECT_OK(checker_->Check(statement, kPurpose));
}

TEST_F(SignedStatementTest, AStatementOutlivesItsSigner) {
  // Nothing asks what time it is now: what was said then holds, whoever signs today.
  ASSERT_OK_AND_ASSIGN(const SignedStatement old,
                       server_.NewSigner()->Sign(kPurpose, "said", kNow));
  const absl::Time later = kNow + 100 * kLifetime;
  ASSERT_OK_AND_ASSIGN(const SignedStatement now,
                       server_.NewSigner(later)->Sign(kPurpose, "said", later));
  EXPECT_OK(checker_->Check(old, kPurpose));
  EXPECT_OK(checker_->Check(now, kPurpose));
}

TEST_F(SignedStatementTest, CertificatesForOtherUsesSignNothing) {
  const CertificateRequest request = *NewCertificateRequest();
  const CertificateAuthority& authority = *server_.authority;
  const std::string id = "0123456789abcdef";
  const std::vector<std::string> others = {
      *authority.SignServer(request.request, kNow, kLifetime),
      *authority.SignCaller(request.request, id, kSignerCertificateName, kNow, kLifetime),
      *authority.SignAgent(request.request, id, "board", kNow, kLifetime)};
  ASSERT_OK_AND_ASSIGN(const auto signer,
                       StatementSigner::Create(
                           request.key, *authority.SignSigner(request.request, kNow, kLifetime)));
  ASSERT_OK_AND_ASSIGN(SignedStatement statement, signer->Sign(kPurpose, "said", kNow));
  for (const std::string& certificate : others) {
    EXPECT_THAT(StatementSigner::Create(request.key, certificate), StatusIs(kInvalid));
    // The same key, and so the same signature.
    statement.certificate = certificate;
    EXPECT_THAT(checker_->Check(statement, kPurpose),
                StatusIs(kDenied, HasSubstr("not one for signing")));
  }
}

TEST_F(SignedStatementTest, KeysAndCertificatesBelongTogether) {
  const CertificateRequest request = *NewCertificateRequest();
  const std::string certificate = *server_.authority->SignSigner(request.request, kNow, kLifetime);
  EXPECT_THAT(StatementSigner::Create(NewCertificateRequest()->key, certificate),
              StatusIs(kInvalid));
  EXPECT_THAT(StatementSigner::Create("", certificate), StatusIs(kInvalid));
  EXPECT_THAT(StatementSigner::Create(request.key, ""), StatusIs(kInvalid));
  EXPECT_THAT(StatementChecker::Create(certificate), StatusIs(kInvalid));
  EXPECT_THAT(StatementChecker::Create(""), StatusIs(kInvalid));
}

TEST_F(SignedStatementTest, ManyThreadsMaySignAndCheck) {
  const auto signer = server_.NewSigner();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20; ++i) {
        const auto statement = signer->Sign(kPurpose, absl::StrCat(thread, " ", i), kNow);
        ASSERT_OK(statement);
        EXPECT_OK(checker_->Check(*statement, kPurpose));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace slipway
