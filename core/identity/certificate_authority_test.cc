#include "core/identity/certificate_authority.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "core/identity/certificate.h"
#include "core/identity/identity_id.h"
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
constexpr char kId[] = "0123456789abcdef";
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
constexpr absl::Duration kLifetime = absl::Hours(24);

using UniqueParameters = std::unique_ptr<X509_VERIFY_PARAM, OpensslDeleter<X509_VERIFY_PARAM_free>>;

// What OpenSSL, who is asked as TLS asks it, says of a certificate: X509_V_OK or why not. `between` is what the peer sends
// along. Strict: everything has to be as RFC 5280 wants it.
int VerifyError(const std::string& certificate, const std::string& trusted, int purpose,
                absl::Time time, const std::string& between = "") {
  auto leaf = ParseCertificate(certificate);
  auto root = ParseCertificate(trusted);
  EXPECT_OK(leaf);
  EXPECT_OK(root);
  const UniqueStore store(X509_STORE_new());
  EXPECT_EQ(X509_STORE_add_cert(store.get(), root->x509.get()), 1);
  STACK_OF(X509)* const untrusted = sk_X509_new_null();
  UniqueX509 sent;
  if (!between.empty()) {
    auto parsed = ParseCertificate(between);
    EXPECT_OK(parsed);
    sent = std::move(parsed->x509);
    sk_X509_push(untrusted, sent.get());
  }
  const UniqueStoreContext context(X509_STORE_CTX_new());
  EXPECT_EQ(X509_STORE_CTX_init(context.get(), store.get(), leaf->x509.get(), untrusted), 1);
  X509_VERIFY_PARAM* const parameters = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_purpose(parameters, purpose);
  X509_VERIFY_PARAM_set_time(parameters, absl::ToTimeT(time));
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_X509_STRICT);
  const bool is_good = X509_verify_cert(context.get()) == 1;
  const int error = X509_STORE_CTX_get_error(context.get());
  EXPECT_EQ(is_good, error == X509_V_OK);
  sk_X509_free(untrusted);
  ERR_clear_error();
  return error;
}

// A request for `key` that asks for a name, to be an authority, and for the names of others.
std::string GreedyRequest(EVP_PKEY* key, const EVP_MD* hash = EVP_sha256()) {
  const UniqueRequest request(X509_REQ_new());
  X509_NAME_add_entry_by_NID(X509_REQ_get_subject_name(request.get()), NID_commonName,
                             MBSTRING_UTF8, reinterpret_cast<const unsigned char*>("mallory"), -1,
                             -1, 0);
  X509_EXTENSIONS* extensions = nullptr;
  for (const auto& [nid, value] : std::vector<std::pair<int, const char*>>{
           {NID_basic_constraints, "critical,CA:TRUE"},
           {NID_key_usage, "critical,keyCertSign"},
           {NID_ext_key_usage, "clientAuth,serverAuth"},
           {NID_subject_alt_name,
            "DNS:slipway-server,URI:urn:slipway:identity:fedcba9876543210"}}) {
    const UniqueExtension extension(X509V3_EXT_conf_nid(nullptr, nullptr, nid, value));
    EXPECT_NE(X509v3_add_ext(&extensions, extension.get(), -1), nullptr);
  }
  EXPECT_EQ(X509_REQ_add_extensions(request.get(), extensions), 1);
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  EXPECT_EQ(X509_REQ_set_pubkey(request.get(), key), 1);
  EXPECT_GT(X509_REQ_sign(request.get(), key, hash), 0);
  unsigned char* bytes = nullptr;
  const int size = i2d_X509_REQ(request.get(), &bytes);
  EXPECT_GT(size, 0);
  const UniqueOpensslBytes owner(bytes);
  return std::string(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

// A certificate of `subject_key` for clients that `issuer` has signed with its key, whether it may or not.
std::string SignedBy(const std::string& issuer, EVP_PKEY* issuer_key, EVP_PKEY* subject_key) {
  auto parsed = ParseCertificate(issuer);
  EXPECT_OK(parsed);
  const UniqueX509 x509(X509_new());
  X509_set_version(x509.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x509.get()), 1);
  ASN1_TIME_set(X509_getm_notBefore(x509.get()), absl::ToTimeT(kNow) - 10);
  ASN1_TIME_set(X509_getm_notAfter(x509.get()), absl::ToTimeT(kNow) + 10);
  X509_NAME_add_entry_by_NID(X509_get_subject_name(x509.get()), NID_commonName, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>("mallory"), -1, -1, 0);
  X509_set_issuer_name(x509.get(), X509_get_subject_name(parsed->x509.get()));
  X509_set_pubkey(x509.get(), subject_key);
  X509V3_CTX context;
  X509V3_set_ctx(&context, parsed->x509.get(), x509.get(), nullptr, nullptr, 0);
  for (const auto& [nid, value] : std::vector<std::pair<int, const char*>>{
           {NID_basic_constraints, "critical,CA:FALSE"},
           {NID_key_usage, "critical,digitalSignature"},
           {NID_ext_key_usage, "clientAuth"},
           {NID_subject_alt_name, "URI:urn:slipway:identity:fedcba9876543210"},
           {NID_subject_key_identifier, "hash"},
           {NID_authority_key_identifier, "keyid:always"}}) {
    const UniqueExtension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
    EXPECT_EQ(X509_add_ext(x509.get(), extension.get(), -1), 1);
  }
  EXPECT_GT(X509_sign(x509.get(), issuer_key, EVP_sha256()), 0);
  auto pem = ToPemText(x509.get());
  EXPECT_OK(pem);
  return pem.ok() ? *pem : "";
}

class CertificateAuthorityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(authority_, CertificateAuthority::Create(kNow));
    ASSERT_OK_AND_ASSIGN(request_, NewCertificateRequest());
    ASSERT_OK_AND_ASSIGN(caller_,
                         authority_->SignCaller(request_.request, kId, "ada", kNow, kLifetime));
    ASSERT_OK_AND_ASSIGN(server_, authority_->SignServer(request_.request, kNow, kLifetime));
  }

  // What OpenSSL does not clear would be an error of whoever asks it next.
  void TearDown() override { EXPECT_EQ(ERR_peek_error(), 0u); }

  absl::StatusOr<std::string> Sign(absl::string_view request) const {
    return authority_->SignCaller(request, kId, "ada", kNow, kLifetime);
  }

  std::unique_ptr<CertificateAuthority> authority_;
  CertificateRequest request_;
  std::string caller_;
  std::string server_;
};

TEST_F(CertificateAuthorityTest, CallersAreClientsAlone) {
  const std::string& root = authority_->certificate();
  EXPECT_EQ(VerifyError(caller_, root, X509_PURPOSE_SSL_CLIENT, kNow), X509_V_OK);
  EXPECT_EQ(VerifyError(caller_, root, X509_PURPOSE_SSL_SERVER, kNow), X509_V_ERR_INVALID_PURPOSE);
}

TEST_F(CertificateAuthorityTest, AnAgentsIsForBoth) {
  const std::string& root = authority_->certificate();
  ASSERT_OK_AND_ASSIGN(const std::string agent,
                       authority_->SignAgent(request_.request, kId, "board-1", kNow, kLifetime));
  EXPECT_EQ(VerifyError(agent, root, X509_PURPOSE_SSL_CLIENT, kNow), X509_V_OK);
  EXPECT_EQ(VerifyError(agent, root, X509_PURPOSE_SSL_SERVER, kNow), X509_V_OK);
  ASSERT_OK_AND_ASSIGN(const CertificateFacts facts, ReadCertificate(agent));
  EXPECT_EQ(facts.uris, std::vector<std::string>{IdentityUri(kId)});
  EXPECT_EQ(facts.dns_names, std::vector<std::string>{"board-1.slipway-agent"});
}

TEST_F(CertificateAuthorityTest, TheServerIsAServerAlone) {
  const std::string& root = authority_->certificate();
  EXPECT_EQ(VerifyError(server_, root, X509_PURPOSE_SSL_SERVER, kNow), X509_V_OK);
  EXPECT_EQ(VerifyError(server_, root, X509_PURPOSE_SSL_CLIENT, kNow), X509_V_ERR_INVALID_PURPOSE);
}

TEST_F(CertificateAuthorityTest, ASignerIsNeither) {
  ASSERT_OK_AND_ASSIGN(const std::string signer,
                       authority_->SignSigner(request_.request, kNow, kLifetime));
  for (const int purpose : {X509_PURPOSE_SSL_CLIENT, X509_PURPOSE_SSL_SERVER}) {
    EXPECT_EQ(VerifyError(signer, authority_->certificate(), purpose, kNow),
              X509_V_ERR_INVALID_PURPOSE);
  }
  EXPECT_EQ(VerifyError(signer, authority_->certificate(), X509_PURPOSE_ANY, kNow), X509_V_OK);
  ASSERT_OK_AND_ASSIGN(const CertificateFacts facts, ReadCertificate(signer));
  EXPECT_EQ(facts.common_name, kSignerCertificateName);
}

TEST_F(CertificateAuthorityTest, TheAuthorityIsNeither) {
  const std::string& root = authority_->certificate();
  for (const int purpose : {X509_PURPOSE_SSL_CLIENT, X509_PURPOSE_SSL_SERVER}) {
    EXPECT_EQ(VerifyError(root, root, purpose, kNow), X509_V_ERR_INVALID_PURPOSE);
  }
  EXPECT_EQ(VerifyError(root, root, X509_PURPOSE_ANY, kNow), X509_V_OK);
}

TEST_F(CertificateAuthorityTest, AnotherAuthoritysAreNotTaken) {
  ASSERT_OK_AND_ASSIGN(const auto other, CertificateAuthority::Create(kNow));
  EXPECT_NE(VerifyError(caller_, other->certificate(), X509_PURPOSE_SSL_CLIENT, kNow), X509_V_OK);
  EXPECT_NE(VerifyError(server_, other->certificate(), X509_PURPOSE_SSL_SERVER, kNow), X509_V_OK);
  ASSERT_OK_AND_ASSIGN(const CertificateFacts one, ReadCertificate(authority_->certificate()));
  ASSERT_OK_AND_ASSIGN(const CertificateFacts two, ReadCertificate(other->certificate()));
  EXPECT_NE(one.common_name, two.common_name);
}

TEST_F(CertificateAuthorityTest, AreValidInTheirTimeAlone) {
  const std::string& root = authority_->certificate();
  const auto error = [&](absl::Time time) {
    return VerifyError(caller_, root, X509_PURPOSE_SSL_CLIENT, time);
  };
  const absl::Duration second = absl::Seconds(1);
  EXPECT_EQ(error(kNow - kClockSkew), X509_V_OK);
  EXPECT_EQ(error(kNow + kLifetime - second), X509_V_OK);
  // The authority's own does not begin before either, and is looked at first.
  EXPECT_EQ(error(kNow - kClockSkew - second), X509_V_ERR_CERT_NOT_YET_VALID);
  EXPECT_EQ(error(kNow + kLifetime + second), X509_V_ERR_CERT_HAS_EXPIRED);

  ASSERT_OK_AND_ASSIGN(
      const std::string later,
      authority_->SignCaller(request_.request, kId, "ada", kNow + 2 * kClockSkew, kLifetime));
  EXPECT_EQ(VerifyError(later, root, X509_PURPOSE_SSL_CLIENT, kNow + kClockSkew - second),
            X509_V_ERR_CERT_NOT_YET_VALID);
  EXPECT_EQ(VerifyError(later, root, X509_PURPOSE_SSL_CLIENT, kNow + kClockSkew), X509_V_OK);
}

TEST_F(CertificateAuthorityTest, TheAuthorityLastsForTwentyYears) {
  const std::string& root = authority_->certificate();
  const absl::Time end = kNow + absl::Hours(24) * 7305;
  ASSERT_OK_AND_ASSIGN(
      const std::string last,
      authority_->SignCaller(request_.request, kId, "ada", end - absl::Hours(2), kLifetime));
  EXPECT_EQ(VerifyError(last, root, X509_PURPOSE_SSL_CLIENT, end - absl::Hours(1)), X509_V_OK);
  EXPECT_EQ(VerifyError(last, root, X509_PURPOSE_SSL_CLIENT, end + absl::Hours(1)),
            X509_V_ERR_CERT_HAS_EXPIRED);
}

TEST_F(CertificateAuthorityTest, ACallerCannotSignOthers) {
  ASSERT_OK_AND_ASSIGN(const UniquePkey key, ParseKey(request_.key));
  ASSERT_OK_AND_ASSIGN(const UniquePkey other_key, NewKey());
  const std::string forged = SignedBy(caller_, key.get(), other_key.get());
  EXPECT_NE(VerifyError(forged, authority_->certificate(), X509_PURPOSE_SSL_CLIENT, kNow, caller_),
            X509_V_OK);

  // The same by who may sign is good: nothing else was wrong with it.
  ASSERT_OK_AND_ASSIGN(const UniquePkey authority_key, ParseKey(authority_->ToPem()));
  const std::string sound =
      SignedBy(authority_->certificate(), authority_key.get(), other_key.get());
  EXPECT_EQ(VerifyError(sound, authority_->certificate(), X509_PURPOSE_SSL_CLIENT, kNow),
            X509_V_OK);
}

TEST_F(CertificateAuthorityTest, SaysWhatItWasTold) {
  ASSERT_OK_AND_ASSIGN(const CertificateFacts caller, ReadCertificate(caller_));
  EXPECT_EQ(caller.common_name, "ada");
  EXPECT_THAT(caller.uris, ElementsAre("urn:slipway:identity:0123456789abcdef"));
  EXPECT_THAT(caller.dns_names, IsEmpty());
  EXPECT_EQ(caller.not_before, kNow - kClockSkew);
  EXPECT_EQ(caller.not_after, kNow + kLifetime);
  EXPECT_FALSE(caller.is_authority);
  EXPECT_OK(CheckKeyFits(request_.key, caller_));

  ASSERT_OK_AND_ASSIGN(const CertificateFacts server, ReadCertificate(server_));
  EXPECT_EQ(server.common_name, kServerCertificateName);
  EXPECT_THAT(server.uris, IsEmpty());
  EXPECT_THAT(server.dns_names, ElementsAre("slipway-server"));
  EXPECT_EQ(server.not_after, kNow + kLifetime);
  EXPECT_FALSE(server.is_authority);

  ASSERT_OK_AND_ASSIGN(const CertificateFacts own, ReadCertificate(authority_->certificate()));
  EXPECT_THAT(own.common_name, StartsWith("slipway authority "));
  EXPECT_EQ(own.not_before, kNow - kClockSkew);
  EXPECT_TRUE(own.is_authority);
}

TEST_F(CertificateAuthorityTest, ExtensionsAreAsTheyAreMeant) {
  struct Expected {
    const std::string& pem;
    uint32_t key_usage;
    uint32_t extended_key_usage;
    int64_t path_length;
  };
  for (const Expected& each :
       {Expected{caller_, KU_DIGITAL_SIGNATURE, XKU_SSL_CLIENT, -1},
        Expected{server_, KU_DIGITAL_SIGNATURE, XKU_SSL_SERVER, -1},
        Expected{authority_->certificate(), KU_KEY_CERT_SIGN | KU_CRL_SIGN, UINT32_MAX, 0}}) {
    ASSERT_OK_AND_ASSIGN(const ParsedCertificate parsed, ParseCertificate(each.pem));
    X509* const x509 = parsed.x509.get();
    EXPECT_EQ(X509_get_version(x509), X509_VERSION_3);
    EXPECT_EQ(X509_get_signature_nid(x509), NID_ecdsa_with_SHA256);
    EXPECT_EQ(X509_get_key_usage(x509), each.key_usage);
    EXPECT_EQ(X509_get_extended_key_usage(x509), each.extended_key_usage);
    EXPECT_EQ(X509_get_pathlen(x509), each.path_length);
    EXPECT_NE(X509_get0_subject_key_id(x509), nullptr);
    for (const int nid : {NID_basic_constraints, NID_key_usage}) {
      const int at = X509_get_ext_by_NID(x509, nid, -1);
      ASSERT_GE(at, 0);
      EXPECT_EQ(X509_EXTENSION_get_critical(X509_get_ext(x509, at)), 1);
    }
    const ASN1_INTEGER* const serial = X509_get0_serialNumber(x509);
    EXPECT_EQ(ASN1_STRING_type(serial), V_ASN1_INTEGER) << "not positive";
    EXPECT_EQ(ASN1_STRING_length(serial), 16);
    EXPECT_GE(ASN1_STRING_get0_data(serial)[0], 0x80);
  }
  ASSERT_OK_AND_ASSIGN(const ParsedCertificate caller, ParseCertificate(caller_));
  ASSERT_OK_AND_ASSIGN(const ParsedCertificate own, ParseCertificate(authority_->certificate()));
  ASSERT_NE(X509_get0_authority_key_id(caller.x509.get()), nullptr);
  EXPECT_EQ(ASN1_OCTET_STRING_cmp(X509_get0_authority_key_id(caller.x509.get()),
                                  X509_get0_subject_key_id(own.x509.get())),
            0);
}

TEST_F(CertificateAuthorityTest, NothingARequestAsksForIsGiven) {
  ASSERT_OK_AND_ASSIGN(const UniquePkey key, NewKey());
  ASSERT_OK_AND_ASSIGN(const std::string pem, Sign(GreedyRequest(key.get())));
  ASSERT_OK_AND_ASSIGN(const CertificateFacts facts, ReadCertificate(pem));
  EXPECT_EQ(facts.common_name, "ada");
  EXPECT_THAT(facts.uris, ElementsAre(IdentityUri(kId)));
  EXPECT_THAT(facts.dns_names, IsEmpty());
  EXPECT_FALSE(facts.is_authority);
  EXPECT_EQ(VerifyError(pem, authority_->certificate(), X509_PURPOSE_SSL_CLIENT, kNow), X509_V_OK);
  EXPECT_EQ(VerifyError(pem, authority_->certificate(), X509_PURPOSE_SSL_SERVER, kNow),
            X509_V_ERR_INVALID_PURPOSE);
  ASSERT_OK_AND_ASSIGN(const ParsedCertificate parsed, ParseCertificate(pem));
  EXPECT_EQ(X509_get_ext_count(parsed.x509.get()), 6);
}

TEST_F(CertificateAuthorityTest, OtherKeysAreRefused) {
  const UniquePkey p384(EVP_EC_gen("P-384"));
  const UniquePkey rsa(EVP_RSA_gen(2048));
  const UniquePkey ed25519(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  EXPECT_THAT(Sign(GreedyRequest(p384.get())), StatusIs(kInvalid, HasSubstr("P-256")));
  EXPECT_THAT(Sign(GreedyRequest(rsa.get())), StatusIs(kInvalid, HasSubstr("P-256")));
  EXPECT_THAT(Sign(GreedyRequest(ed25519.get(), nullptr)), StatusIs(kInvalid, HasSubstr("P-256")));
}

TEST_F(CertificateAuthorityTest, ACurveThatIsWrittenOutIsRefused) {
  ASSERT_OK_AND_ASSIGN(const UniquePkey key, NewKey());
  EXPECT_OK(Sign(GreedyRequest(key.get())));
  ASSERT_EQ(EVP_PKEY_set_utf8_string_param(key.get(), OSSL_PKEY_PARAM_EC_ENCODING, "explicit"), 1);
  EXPECT_THAT(Sign(GreedyRequest(key.get())), StatusIs(kInvalid, HasSubstr("P-256")));
}

// With the point at infinity for a key anybody can make signatures: r is the x of k times the curve's base point and s is the
// hash over k, here for k = 1.
TEST_F(CertificateAuthorityTest, AKeyAtInfinityIsRefused) {
  const std::string info = absl::HexStringToBytes(
      absl::StrCat("3022020100", "3000", "3019", "3013", "06072a8648ce3d0201",
                   "06082a8648ce3d030107", "03020000", "a000"));
  const std::string hash = absl::HexStringToBytes(Digest::Of(info).hex());
  const UniqueBignum hash_number(
      BN_bin2bn(reinterpret_cast<const unsigned char*>(hash.data()), 32, nullptr));
  BIGNUM* number = nullptr;
  BN_hex2bn(&number, "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296");
  ECDSA_SIG* const signature = ECDSA_SIG_new();
  ECDSA_SIG_set0(signature, number, BN_dup(hash_number.get()));
  unsigned char* bytes = nullptr;
  const int size = i2d_ECDSA_SIG(signature, &bytes);
  ECDSA_SIG_free(signature);
  const UniqueOpensslBytes owner(bytes);
  const std::string bits = absl::StrCat(
      std::string(1, '\0'), absl::string_view(reinterpret_cast<const char*>(bytes), size));
  const std::string tail = absl::StrCat(absl::HexStringToBytes("300a06082a8648ce3d040302"), "\x03",
                                        std::string(1, static_cast<char>(bits.size())), bits);
  const std::string body = absl::StrCat(info, tail);
  const std::string request =
      absl::StrCat("\x30", std::string(1, static_cast<char>(body.size())), body);
  const auto* at = reinterpret_cast<const unsigned char*>(request.data());
  const UniqueRequest parsed(d2i_X509_REQ(nullptr, &at, static_cast<long>(request.size())));
  ASSERT_NE(parsed, nullptr);
  ASSERT_EQ(X509_REQ_verify(parsed.get(), X509_REQ_get0_pubkey(parsed.get())), 1);
  EXPECT_THAT(Sign(request), StatusIs(kInvalid, HasSubstr("point")));
}

TEST_F(CertificateAuthorityTest, DamagedRequestsAreRefused) {
  const std::string& der = request_.request;
  for (const std::string& request : {std::string(), std::string("x"), der.substr(0, der.size() - 1),
                                     absl::StrCat(der, "x"), request_.key, caller_}) {
    EXPECT_THAT(Sign(request), StatusIs(kInvalid, HasSubstr("damaged")));
    EXPECT_THAT(authority_->SignServer(request, kNow, kLifetime), StatusIs(kInvalid));
  }
  EXPECT_THAT(Sign(std::string(4096, '0')), StatusIs(kInvalid, HasSubstr("damaged")));
  EXPECT_THAT(Sign(std::string(4097, '0')), StatusIs(kInvalid, HasSubstr("4097 bytes")));
}

// Of every byte: what it says is signed, or part of the signature.
TEST_F(CertificateAuthorityTest, ARequestIsSignedByItsKey) {
  for (size_t i = 0; i < request_.request.size(); ++i) {
    std::string request = request_.request;
    request[i] ^= 1;
    EXPECT_THAT(Sign(request), StatusIs(kInvalid)) << i;
    EXPECT_EQ(ERR_peek_error(), 0u);
  }
}

TEST_F(CertificateAuthorityTest, WhatIsNoIdOrNameIsRefused) {
  for (const char* const id : {"", "0123456789abcde", "0123456789abcdef,DNS:slipway-server"}) {
    EXPECT_THAT(authority_->SignCaller(request_.request, id, "ada", kNow, kLifetime),
                StatusIs(kInvalid, HasSubstr("id")));
  }
  for (const char* const name : {"", "Ada", "a.b"}) {
    EXPECT_THAT(authority_->SignCaller(request_.request, kId, name, kNow, kLifetime),
                StatusIs(kInvalid, HasSubstr("name")));
  }
  EXPECT_THAT(authority_->SignCaller(request_.request, kId, "ada", kNow, absl::InfiniteDuration()),
              StatusIs(kInvalid, HasSubstr("valid")));
}

TEST_F(CertificateAuthorityTest, IsReadBack) {
  ASSERT_OK_AND_ASSIGN(const auto read, CertificateAuthority::Parse(authority_->ToPem()));
  EXPECT_EQ(read->ToPem(), authority_->ToPem());
  EXPECT_EQ(read->certificate(), authority_->certificate());
  EXPECT_FALSE(absl::StrContains(read->certificate(), "KEY"));
  ASSERT_OK_AND_ASSIGN(const std::string caller,
                       read->SignCaller(request_.request, kId, "ada", kNow, kLifetime));
  EXPECT_EQ(VerifyError(caller, authority_->certificate(), X509_PURPOSE_SSL_CLIENT, kNow),
            X509_V_OK);
}

TEST_F(CertificateAuthorityTest, ADamagedOneIsRefused) {
  const std::string pem = authority_->ToPem();
  ASSERT_OK_AND_ASSIGN(const auto other, CertificateAuthority::Create(kNow));
  ASSERT_OK_AND_ASSIGN(const UniquePkey other_key, ParseKey(other->ToPem()));
  ASSERT_OK_AND_ASSIGN(const std::string other_key_pem, ToPemText(other_key.get()));
  for (const std::string& damaged :
       {std::string(), std::string("x"), authority_->certificate(), pem.substr(0, pem.size() / 2),
        absl::StrCat(other_key_pem, authority_->certificate()), absl::StrCat(request_.key, caller_),
        absl::StrCat(pem, std::string(65536, '\n'))}) {
    EXPECT_THAT(CertificateAuthority::Parse(damaged), StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_EQ(ERR_peek_error(), 0u);
  }
  // A certificate that has signed itself and may sign no other.
  ASSERT_OK_AND_ASSIGN(const UniquePkey key, ParseKey(request_.key));
  const std::string other_leaf = SignedBy(authority_->certificate(), key.get(), key.get());
  const std::string own_leaf = SignedBy(other_leaf, key.get(), key.get());
  EXPECT_THAT(CertificateAuthority::Parse(absl::StrCat(request_.key, own_leaf)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not that of an authority")));
  // One that was altered says nothing that its own key has signed.
  for (size_t i = 0; i < pem.size(); i += 5) {
    std::string damaged = pem;
    damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
    const auto read = CertificateAuthority::Parse(damaged);
    if (read.ok()) {
      // Bits after the last byte, which the base 64 ignores.
      EXPECT_EQ((*read)->ToPem(), pem) << i;
    } else {
      EXPECT_THAT(read, StatusIs(absl::StatusCode::kDataLoss)) << i;
    }
    EXPECT_EQ(ERR_peek_error(), 0u);
  }
}

TEST_F(CertificateAuthorityTest, SignsOnManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 20;
  std::vector<std::vector<std::string>> signed_ones(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < kEach; ++j) {
        auto pem = Sign(request_.request);
        EXPECT_OK(pem);
        if (pem.ok()) signed_ones[i].push_back(*std::move(pem));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> serials;
  for (const std::vector<std::string>& each : signed_ones) {
    for (const std::string& pem : each) {
      EXPECT_EQ(VerifyError(pem, authority_->certificate(), X509_PURPOSE_SSL_CLIENT, kNow),
                X509_V_OK);
      ASSERT_OK_AND_ASSIGN(const ParsedCertificate parsed, ParseCertificate(pem));
      const ASN1_INTEGER* const serial = X509_get0_serialNumber(parsed.x509.get());
      serials.emplace(reinterpret_cast<const char*>(ASN1_STRING_get0_data(serial)),
                      static_cast<size_t>(ASN1_STRING_length(serial)));
    }
  }
  EXPECT_EQ(serials.size(), static_cast<size_t>(kThreads * kEach));
}

}  // namespace
}  // namespace slipway
