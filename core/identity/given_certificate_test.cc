#include "core/identity/given_certificate.h"

#include <sys/stat.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

class GivenCertificateTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    const std::string path = JoinPath(folder_->path(), name);
    EXPECT_OK(WriteFileAtomically(path, text, /*durable=*/false, static_cast<int>(mode)));
    return path;
  }
  std::string ServersCertificate() const {
    return *authority_->SignServer(request_.request, kNow, absl::Hours(2));
  }

  const absl::StatusOr<TemporaryFolder> folder_ = TemporaryFolder::Create("slipway-given");
  const std::unique_ptr<CertificateAuthority> authority_ = *CertificateAuthority::Create(kNow);
  const CertificateRequest request_ = *NewCertificateRequest();
};

TEST_F(GivenCertificateTest, ReadsChainAndKeyFromTwoFilesOrOne) {
  const std::string chain = ServersCertificate() + authority_->certificate();
  const std::string key_file = Write("key.pem", request_.key);
  ASSERT_OK_AND_ASSIGN(const GivenCertificate two,
                       ReadGivenCertificate(Write("chain.pem", chain, 0644), key_file,
                                            CertificateUse::kServer, kNow));
  EXPECT_EQ(two.chain, chain);
  const std::string both = Write("both.pem", absl::StrCat("a remark\n", request_.key, chain));
  ASSERT_OK_AND_ASSIGN(const GivenCertificate one,
                       ReadGivenCertificate(both, both, CertificateUse::kServer, kNow));
  EXPECT_EQ(one.chain, chain);
  EXPECT_OK(CheckKeyFits(one.key, one.chain));
}

TEST_F(GivenCertificateTest, SaysWhatIsWrongAndWhatToDo) {
  const std::string certificate = Write("server.pem", ServersCertificate());
  const std::string key = Write("key.pem", request_.key);
  const auto read = [&](absl::Time now, CertificateUse use = CertificateUse::kServer) {
    return ReadGivenCertificate(certificate, key, use, now).status();
  };
  EXPECT_OK(read(kNow + absl::Hours(2) - absl::Seconds(1)));
  EXPECT_THAT(read(kNow + absl::Hours(2)),
              StatusIs(kRefused, AllOf(HasSubstr("server.pem"), HasSubstr("expired"),
                                       HasSubstr("put a new one there"))));
  EXPECT_THAT(read(kNow - absl::Hours(2)), StatusIs(kRefused, HasSubstr("not good before")));
  EXPECT_THAT(read(kNow, CertificateUse::kCaller),
              StatusIs(kRefused, HasSubstr("extendedKeyUsage clientAuth")));
  const std::string other = Write("other.pem", NewCertificateRequest()->key);
  EXPECT_THAT(ReadGivenCertificate(certificate, other, CertificateUse::kServer, kNow),
              StatusIs(kRefused, AllOf(HasSubstr("other.pem"), HasSubstr("not that of"))));
  EXPECT_THAT(ReadGivenCertificate(key, key, CertificateUse::kServer, kNow),
              StatusIs(kRefused, HasSubstr("key.pem")));
  EXPECT_THAT(ReadGivenCertificate(certificate, certificate, CertificateUse::kServer, kNow),
              StatusIs(kRefused, HasSubstr("no private key")));
  EXPECT_THAT(ReadGivenCertificate("/no/file", key, CertificateUse::kServer, kNow),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/file")));
}

TEST_F(GivenCertificateTest, AKeyThatOthersReadIsRefused) {
  EXPECT_THAT(
      ReadGivenCertificate(Write("server.pem", ServersCertificate(), 0644),
                           Write("key.pem", request_.key, 0644), CertificateUse::kServer, kNow),
      StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("chmod")));
}

TEST_F(GivenCertificateTest, OneAuthorityOfSeveralMustBeGood) {
  const std::string old =
      (*CertificateAuthority::Create(kNow - absl::Hours(24 * 8'000)))->certificate();
  ASSERT_OK_AND_ASSIGN(const std::string both,
                       ReadGivenAuthorities(Write("a.pem", old + authority_->certificate()), kNow));
  EXPECT_EQ(both, old + authority_->certificate());
  EXPECT_THAT(ReadGivenAuthorities(Write("a.pem", old), kNow),
              StatusIs(kRefused, HasSubstr("expired")));
  EXPECT_THAT(ReadGivenAuthorities(Write("a.pem", ServersCertificate()), kNow),
              StatusIs(kRefused, HasSubstr("not that of an authority")));
  EXPECT_THAT(ReadGivenAuthorities(Write("a.pem", "nothing"), kNow),
              StatusIs(kRefused, AllOf(HasSubstr("a.pem"), HasSubstr("no certificate"))));
  EXPECT_THAT(ReadGivenAuthorities(Write("a.pem", std::string(2 << 20, ' ')), kNow),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace slipway
