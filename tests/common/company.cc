#include "tests/common/company.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <utility>
#include <vector>

#include "core/base/check.h"

namespace slipway::testing {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using X509Owner = std::unique_ptr<X509, decltype(&X509_free)>;

Key NewKey() {
  // What many authorities still hand out.
  Key key(EVP_RSA_gen(2048), &EVP_PKEY_free);
  SLIPWAY_CHECK(key != nullptr, "a key");
  return key;
}

X509Owner NewCertificate(EVP_PKEY* key, const char* name, absl::Time begin, X509* issuer,
                         EVP_PKEY* issuer_key,
                         const std::vector<std::pair<int, std::string>>& extensions) {
  static int64_t serial = 0;
  X509Owner x509(X509_new(), &X509_free);
  X509_set_version(x509.get(), X509_VERSION_3);
  ASN1_INTEGER_set_int64(X509_get_serialNumber(x509.get()), ++serial);
  ASN1_TIME_set(X509_getm_notBefore(x509.get()), absl::ToTimeT(begin));
  ASN1_TIME_set(X509_getm_notAfter(x509.get()), absl::ToTimeT(begin + absl::Hours(1)));
  X509_set_pubkey(x509.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(x509.get(), X509_get_subject_name(issuer == nullptr ? x509.get() : issuer));
  for (const auto& [nid, value] : extensions) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
    SLIPWAY_CHECK(extension != nullptr, "an extension");
    X509_add_ext(x509.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }
  SLIPWAY_CHECK(X509_sign(x509.get(), issuer_key, EVP_sha256()) > 0, "signing");
  return x509;
}

template <typename Write>
std::string PemBy(const Write& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), &BIO_free);
  SLIPWAY_CHECK(write(out.get()) == 1, "writing PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

}  // namespace

struct Company::Parts {
  Key key = NewKey();
  // Each has a name of its own, as authorities have.
  const std::string name = "Company " + std::to_string(absl::ToUnixNanos(absl::Now()));
  X509Owner certificate = NewCertificate(
      key.get(), name.c_str(), absl::Now() - absl::Minutes(30), nullptr, key.get(),
      {{NID_basic_constraints, "critical,CA:TRUE"}, {NID_key_usage, "critical,keyCertSign"}});
};

Company::Company() : parts_(std::make_unique<Parts>()) {
  authority_ =
      PemBy([this](BIO* out) { return PEM_write_bio_X509(out, parts_->certificate.get()); });
}

Company::~Company() = default;

std::string Company::Certificate(const std::string& names, absl::Time begin) const {
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const X509Owner certificate =
      NewCertificate(key.get(), "somebody", begin, parts_->certificate.get(), parts_->key.get(),
                     {{NID_basic_constraints, "critical,CA:FALSE"},
                      {NID_key_usage, "critical,digitalSignature"},
                      {NID_ext_key_usage, "serverAuth,clientAuth"},
                      {NID_subject_alt_name, names}});
  return PemBy([&key](BIO* out) {
           return PEM_write_bio_PKCS8PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr,
                                                nullptr);
         }) +
         PemBy([&certificate](BIO* out) { return PEM_write_bio_X509(out, certificate.get()); });
}

}  // namespace slipway::testing
