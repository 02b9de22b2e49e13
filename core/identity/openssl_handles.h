// Owners of OpenSSL's objects, for the files of this folder and core/rpc/tls_stream.*: no other header names a type of OpenSSL.
#ifndef SLIPWAY_CORE_IDENTITY_OPENSSL_HANDLES_H_
#define SLIPWAY_CORE_IDENTITY_OPENSSL_HANDLES_H_

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <memory>

namespace slipway {

template <auto kFree>
struct OpensslDeleter {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using UniqueBignum = std::unique_ptr<BIGNUM, OpensslDeleter<BN_free>>;
using UniqueBio = std::unique_ptr<BIO, OpensslDeleter<BIO_free_all>>;
using UniqueDigestContext = std::unique_ptr<EVP_MD_CTX, OpensslDeleter<EVP_MD_CTX_free>>;
using UniqueExtension = std::unique_ptr<X509_EXTENSION, OpensslDeleter<X509_EXTENSION_free>>;
using UniqueGeneralNames = std::unique_ptr<GENERAL_NAMES, OpensslDeleter<GENERAL_NAMES_free>>;
using UniquePkey = std::unique_ptr<EVP_PKEY, OpensslDeleter<EVP_PKEY_free>>;
using UniquePkeyContext = std::unique_ptr<EVP_PKEY_CTX, OpensslDeleter<EVP_PKEY_CTX_free>>;
using UniqueRequest = std::unique_ptr<X509_REQ, OpensslDeleter<X509_REQ_free>>;
using UniqueStore = std::unique_ptr<X509_STORE, OpensslDeleter<X509_STORE_free>>;
using UniqueStoreContext = std::unique_ptr<X509_STORE_CTX, OpensslDeleter<X509_STORE_CTX_free>>;
using UniqueX509 = std::unique_ptr<X509, OpensslDeleter<X509_free>>;

// Bytes that OpenSSL has allocated.
struct OpensslFree {
  void operator()(unsigned char* bytes) const { OPENSSL_free(bytes); }
};
using UniqueOpensslBytes = std::unique_ptr<unsigned char, OpensslFree>;

// Leaves this thread's queue of errors empty when its scope ends: whatever asks OpenSSL next on the thread, gRPC among them,
// would take what stays there for an error of its own. Every function that calls OpenSSL by these has one, or clears the queue itself.
class OpensslErrorScope {
 public:
  OpensslErrorScope() = default;
  ~OpensslErrorScope() { ERR_clear_error(); }
  OpensslErrorScope(const OpensslErrorScope&) = delete;
  OpensslErrorScope& operator=(const OpensslErrorScope&) = delete;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_IDENTITY_OPENSSL_HANDLES_H_
