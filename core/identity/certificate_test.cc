#include "core/identity/certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/civil_time.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/openssl_handles.h"
#include "core/identity/x509.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// Made by the command `openssl ca`, which also says what it holds.
constexpr char kForeign[] = R"(-----BEGIN CERTIFICATE-----
MIIB1DCCAXugAwIBAgIBATAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARyb290MCAX
DTI0MDIyOTEyMzQ1NloYDzIwNTEwMTAyMDMwNDA1WjAhMQ8wDQYDVQQKDAZCb2Fy
ZHMxDjAMBgNVBAMMBUvDpHRlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQ/1m
vFBQ64wB44OZlRWgyl1goMPaD02aTznblOO/XV3IqOH4AbRAEVahwzK9NhU3Cmek
I7BiPRqqloJJOGmMfqOBszCBsDAMBgNVHRMBAf8EAjAAMGAGA1UdEQRZMFeGJXVy
bjpzbGlwd2F5OmlkZW50aXR5OjAxMjM0NTY3ODlhYmNkZWaCCWEuZXhhbXBsZYYS
aHR0cHM6Ly9iLmV4YW1wbGUvhwR/AAABggliLmV4YW1wbGUwHQYDVR0OBBYEFNXG
N1zK2NvlEMHry/xC5vzpU1TOMB8GA1UdIwQYMBaAFFDgBxJsPXEZIan97qoXKw8N
F2HzMAoGCCqGSM49BAMCA0cAMEQCIEgZyD1OD4bacQIvhDGgdhmyvNhD/Ut5Tm1t
uSeOtRgSAiBWxD7nMWXdwQY+ztfOT9YSIohl6L1hRBW8yMcveOn1tw==
-----END CERTIFICATE-----
)";

std::string PemOf(absl::string_view der) {
  const std::string text = absl::Base64Escape(der);
  std::string pem = "-----BEGIN CERTIFICATE-----\n";
  for (size_t at = 0; at < text.size(); at += 64) {
    absl::StrAppend(&pem, text.substr(at, 64), "\n");
  }
  return absl::StrCat(pem, "-----END CERTIFICATE-----\n");
}

std::string ForeignDer() {
  auto parsed = ParseCertificate(kForeign);
  EXPECT_OK(parsed);
  return parsed.ok() ? parsed->der : "";
}

// A certificate with its key.
struct Made {
  std::string key;
  std::string certificate;
};
absl::StatusOr<Made> Make() {
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  auto authority = CertificateAuthority::Create(now);
  if (!authority.ok()) return authority.status();
  auto request = NewCertificateRequest();
  if (!request.ok()) return request.status();
  auto certificate = (*authority)->SignServer(request->request, now, absl::Hours(1));
  if (!certificate.ok()) return certificate.status();
  return Made{.key = request->key, .certificate = *certificate};
}

// What OpenSSL does not clear would be an error of whoever asks it next.
class CertificateTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(ERR_peek_error(), 0u); }
};

TEST_F(CertificateTest, ARequestIsSignedByAKeyOfP256) {
  ASSERT_OK_AND_ASSIGN(const CertificateRequest made, NewCertificateRequest());
  EXPECT_THAT(made.key, StartsWith("-----BEGIN PRIVATE KEY-----\n"));
  ASSERT_OK_AND_ASSIGN(const UniquePkey key, ParseKey(made.key));
  char group[32];
  ASSERT_EQ(EVP_PKEY_get_group_name(key.get(), group, sizeof(group), nullptr), 1);
  EXPECT_STREQ(group, "prime256v1");

  const auto* bytes = reinterpret_cast<const unsigned char*>(made.request.data());
  const UniqueRequest request(
      d2i_X509_REQ(nullptr, &bytes, static_cast<long>(made.request.size())));
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(X509_REQ_verify(request.get(), key.get()), 1);
  EXPECT_EQ(X509_REQ_check_private_key(request.get(), key.get()), 1);
  EXPECT_EQ(X509_REQ_get_signature_nid(request.get()), NID_ecdsa_with_SHA256);
  EXPECT_EQ(X509_NAME_entry_count(X509_REQ_get_subject_name(request.get())), 0);

  ASSERT_OK_AND_ASSIGN(const CertificateRequest other, NewCertificateRequest());
  EXPECT_NE(other.key, made.key);
}

TEST_F(CertificateTest, ReadsWhatOthersHaveMade) {
  ASSERT_OK_AND_ASSIGN(const CertificateFacts facts, ReadCertificate(kForeign));
  EXPECT_EQ(facts.common_name, "K\xc3\xa4te");
  EXPECT_THAT(facts.uris,
              ElementsAre("urn:slipway:identity:0123456789abcdef", "https://b.example/"));
  EXPECT_THAT(facts.dns_names, ElementsAre("a.example", "b.example"));
  const absl::TimeZone utc = absl::UTCTimeZone();
  EXPECT_EQ(facts.not_before, absl::FromCivil(absl::CivilSecond(2024, 2, 29, 12, 34, 56), utc));
  EXPECT_EQ(facts.not_after, absl::FromCivil(absl::CivilSecond(2051, 1, 2, 3, 4, 5), utc));
  EXPECT_FALSE(facts.is_authority);
}

TEST_F(CertificateTest, FingerprintsAreOpensslsOwn) {
  ASSERT_OK_AND_ASSIGN(const Digest fingerprint, FingerprintOf(kForeign));
  EXPECT_EQ(fingerprint.ToString(),
            "9e4992c0494616f0eeb6f9a38519d9de07ddde5d80b9631499ca4bdb3a488fe3/472");
}

TEST_F(CertificateTest, TheFirstCertificateIsMeant) {
  ASSERT_OK_AND_ASSIGN(const Made made, Make());
  ASSERT_OK_AND_ASSIGN(const CertificateFacts facts,
                       ReadCertificate(absl::StrCat(made.key, made.certificate, kForeign)));
  EXPECT_EQ(facts.common_name, kServerCertificateName);
  EXPECT_EQ(FingerprintOf(absl::StrCat("remarks\n", kForeign, made.certificate)),
            FingerprintOf(kForeign));
  EXPECT_OK(CheckKeyFits(made.key, absl::StrCat(made.certificate, kForeign)));
  EXPECT_THAT(CheckKeyFits(made.key, absl::StrCat(kForeign, made.certificate)), StatusIs(kInvalid));
}

TEST_F(CertificateTest, WhatIsNoneIsRefused) {
  ASSERT_OK_AND_ASSIGN(const CertificateRequest request, NewCertificateRequest());
  const std::string der = ForeignDer();
  std::string broken_length = der;
  broken_length[3] = static_cast<char>(broken_length[3] + 1);
  for (const std::string& pem :
       {std::string(), std::string("x"), std::string(1, '\0'), request.key, der,
        std::string(kForeign).substr(0, sizeof(kForeign) / 2), PemOf(""), PemOf("x"),
        PemOf(request.request), PemOf(der.substr(0, der.size() - 1)),
        PemOf(absl::StrCat(der, std::string(1, '\0'))), PemOf(broken_length)}) {
    EXPECT_THAT(ReadCertificate(pem), StatusIs(kInvalid)) << pem;
    EXPECT_THAT(FingerprintOf(pem), StatusIs(kInvalid)) << pem;
    EXPECT_THAT(CheckKeyFits(request.key, pem), StatusIs(kInvalid)) << pem;
    EXPECT_EQ(ERR_peek_error(), 0u) << pem;
  }
}

TEST_F(CertificateTest, ACertificateHasOneEncoding) {
  const std::string der = ForeignDer();
  ASSERT_EQ(der.substr(0, 2), "\x30\x82");
  EXPECT_EQ(FingerprintOf(PemOf(der)), FingerprintOf(kForeign));
  // Its length in three bytes instead of two: OpenSSL reads the same from it.
  const std::string longer = absl::StrCat("\x30\x83", std::string(1, '\0'), der.substr(2));
  const auto* bytes = reinterpret_cast<const unsigned char*>(longer.data());
  const UniqueX509 x509(d2i_X509(nullptr, &bytes, static_cast<long>(longer.size())));
  EXPECT_NE(x509, nullptr);
  EXPECT_THAT(FingerprintOf(PemOf(longer)), StatusIs(kInvalid, HasSubstr("DER")));
  EXPECT_THAT(ReadCertificate(PemOf(longer)), StatusIs(kInvalid, HasSubstr("DER")));
}

TEST_F(CertificateTest, DamagedExtensionsAreRefused) {
  // The first byte of the list of alternative names, and that of the constraints, becomes a tag of something else.
  for (const char* const before : {"\x55\x1d\x11\x04\x59", "\x55\x1d\x13\x01\x01\xff\x04\x02"}) {
    std::string der = ForeignDer();
    const size_t at = der.find(before);
    ASSERT_NE(at, std::string::npos);
    der[at + std::string(before).size()] = '\x04';
    EXPECT_OK(FingerprintOf(PemOf(der)));
    EXPECT_THAT(ReadCertificate(PemOf(der)), StatusIs(kInvalid, HasSubstr("damaged")));
  }
}

TEST_F(CertificateTest, TimesThatAreNoneAreRefused) {
  std::string der = ForeignDer();
  const size_t at = der.find("240229123456Z");
  ASSERT_NE(at, std::string::npos);
  der.replace(at, 4, "2413");
  EXPECT_THAT(ReadCertificate(PemOf(der)), StatusIs(kInvalid, HasSubstr("times")));
}

TEST_F(CertificateTest, TooMuchIsRefusedUnread) {
  const std::string filler(kMaxPemBytes - std::string(kForeign).size(), '\n');
  EXPECT_OK(ReadCertificate(absl::StrCat(filler, kForeign)));
  EXPECT_THAT(ReadCertificate(absl::StrCat(filler, "\n", kForeign)),
              StatusIs(kInvalid, HasSubstr("65537 bytes")));
  EXPECT_THAT(FingerprintOf(absl::StrCat(filler, "\n", kForeign)), StatusIs(kInvalid));
  EXPECT_THAT(CheckKeyFits(absl::StrCat(filler, "\n", kForeign), kForeign), StatusIs(kInvalid));
}

TEST_F(CertificateTest, AKeyFitsItsOwnCertificateAlone) {
  ASSERT_OK_AND_ASSIGN(const Made made, Make());
  ASSERT_OK_AND_ASSIGN(const Made other, Make());
  EXPECT_OK(CheckKeyFits(made.key, made.certificate));
  EXPECT_THAT(CheckKeyFits(other.key, made.certificate), StatusIs(kInvalid, HasSubstr("not that")));
  EXPECT_THAT(CheckKeyFits(made.certificate, made.certificate), StatusIs(kInvalid));
  EXPECT_THAT(CheckKeyFits("", made.certificate), StatusIs(kInvalid));
  EXPECT_THAT(CheckKeyFits(made.key.substr(0, made.key.size() / 2), made.certificate),
              StatusIs(kInvalid));
}

TEST_F(CertificateTest, AKeyWhosePrivateHalfIsDamagedFitsNothing) {
  ASSERT_OK_AND_ASSIGN(const Made made, Make());
  const std::string begin = "-----BEGIN PRIVATE KEY-----\n";
  const std::string end = "-----END PRIVATE KEY-----\n";
  const std::string text = absl::StrReplaceAll(made.key, {{begin, ""}, {end, ""}, {"\n", ""}});
  std::string der;
  ASSERT_TRUE(absl::Base64Unescape(text, &der));
  const std::string before_scalar("\x02\x01\x01\x04\x20", 5);
  const size_t at = der.find(before_scalar);
  ASSERT_NE(at, std::string::npos);
  der[at + before_scalar.size() + 31] ^= 1;
  EXPECT_THAT(
      CheckKeyFits(absl::StrCat(begin, absl::Base64Escape(der), "\n", end), made.certificate),
      StatusIs(kInvalid, HasSubstr("not that")));
  der[at + before_scalar.size() + 31] ^= 1;
  EXPECT_OK(
      CheckKeyFits(absl::StrCat(begin, absl::Base64Escape(der), "\n", end), made.certificate));
}

// OpenSSL would ask for a password at the terminal.
TEST_F(CertificateTest, NobodyIsAskedForAPassword) {
  ASSERT_OK_AND_ASSIGN(const Made made, Make());
  ASSERT_OK_AND_ASSIGN(const UniquePkey key, ParseKey(made.key));
  const UniqueBio writer(BIO_new(BIO_s_mem()));
  char password[] = "";
  ASSERT_EQ(PEM_write_bio_PKCS8PrivateKey(writer.get(), key.get(), EVP_aes_128_cbc(), password, 0,
                                          nullptr, nullptr),
            1);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(writer.get(), &bytes);
  const std::string encrypted(bytes, static_cast<size_t>(size));
  ASSERT_THAT(encrypted, HasSubstr("ENCRYPTED"));
  EXPECT_THAT(CheckKeyFits(encrypted, made.certificate),
              StatusIs(kInvalid, HasSubstr("encrypted")));
  const std::string header =
      "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,000102030405060708090A0B0C0D0E0F\n\n";
  const std::string first_line = "-----BEGIN CERTIFICATE-----\n";
  EXPECT_THAT(ReadCertificate(
                  absl::StrReplaceAll(kForeign, {{first_line, absl::StrCat(first_line, header)}})),
              StatusIs(kInvalid));
}

TEST_F(CertificateTest, WithoutNamesTheyAreEmpty) {
  ASSERT_OK_AND_ASSIGN(const auto authority,
                       CertificateAuthority::Create(absl::FromUnixSeconds(1'700'000'000)));
  ASSERT_OK_AND_ASSIGN(const CertificateFacts facts, ReadCertificate(authority->certificate()));
  EXPECT_THAT(facts.uris, IsEmpty());
  EXPECT_THAT(facts.dns_names, IsEmpty());
  EXPECT_TRUE(facts.is_authority);
}

}  // namespace
}  // namespace slipway
