#include "core/rpc/tls_stream.h"

#include <errno.h>
#include <sys/socket.h>

#include <cstdint>
#include <utility>

#include "core/base/status_macros.h"
#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/join_code.h"
#include "core/identity/x509.h"
#include "core/rpc/client_hello.h"

namespace slipway {
namespace {

using SslContext = std::unique_ptr<SSL_CTX, OpensslDeleter<SSL_CTX_free>>;

absl::Status Unusable(absl::string_view what) {
  ERR_clear_error();
  return absl::InternalError(absl::StrCat("OpenSSL does not take ", what));
}

// "slipway-join/1" as ALPN has it: after its length.
std::string ProtocolList() {
  const std::string name = kJoinProtocol;
  return std::string(1, static_cast<char>(name.size())) + name;
}

int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                   const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr absl::string_view kName = kJoinProtocol;
  // The listener has seen that it is the first one.
  if (offered_size <= kName.size() || offered[0] != kName.size()) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = offered + 1;
  *chosen_size = static_cast<unsigned char>(kName.size());
  return absl::string_view(reinterpret_cast<const char*>(*chosen), kName.size()) == kName
             ? SSL_TLSEXT_ERR_OK
             : SSL_TLSEXT_ERR_ALERT_FATAL;
}

SslContext NewContext(const SSL_METHOD* method) {
  SslContext context(SSL_CTX_new(method));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return context;
}

// OpenSSL's own socket would raise SIGPIPE where the other side has gone.
int FdOf(BIO* bio) { return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))); }

bool ShallTryAgain(ssize_t result) {
  return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

int Send(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t result = send(FdOf(bio), data, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (ShallTryAgain(result)) BIO_set_retry_write(bio);
  return static_cast<int>(result);
}

int Receive(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t result = recv(FdOf(bio), data, static_cast<size_t>(size), 0);
  if (ShallTryAgain(result)) BIO_set_retry_read(bio);
  return static_cast<int>(result);
}

// Nothing is buffered, so that there is nothing to flush.
long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

// Whether `authority` signed `server`, to be a server of the name that all servers have.
bool IsServerOf(X509* server, X509* authority) {
  const OpensslErrorScope errors;
  const UniqueStore store(X509_STORE_new());
  const UniqueStoreContext check(X509_STORE_CTX_new());
  const bool is_signed = X509_STORE_add_cert(store.get(), authority) == 1 &&
                         X509_STORE_CTX_init(check.get(), store.get(), server, nullptr) == 1 &&
                         X509_STORE_CTX_set_default(check.get(), "ssl_server") == 1 &&
                         X509_verify_cert(check.get()) == 1;
  return is_signed && X509_check_host(server, kServerCertificateName, 0, 0, nullptr) == 1;
}

}  // namespace

absl::StatusOr<TlsStream> TlsStream::Make(UniqueFd fd, SSL_CTX* context) {
  SocketMethod method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket"));
  // It keeps the context.
  Ssl ssl(SSL_new(context));
  if (method == nullptr || ssl == nullptr) return Unusable("a connection");
  BIO_meth_set_write(method.get(), &Send);
  BIO_meth_set_read(method.get(), &Receive);
  BIO_meth_set_ctrl(method.get(), &Control);
  BIO* const bio = BIO_new(method.get());
  if (bio == nullptr) return Unusable("a connection");
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(fd.get())));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl.get(), bio, bio);
  return TlsStream(std::move(fd), std::move(method), std::move(ssl));
}

absl::StatusOr<TlsStream::Context> TlsStream::ServerContext(const Identity& identity) {
  SslContext context = NewContext(TLS_server_method());
  SLIPWAY_ASSIGN_OR_RETURN(const ParsedCertificate certificate,
                           ParseCertificate(identity.certificate));
  SLIPWAY_ASSIGN_OR_RETURN(const ParsedCertificate authority, ParseCertificate(identity.authority));
  SLIPWAY_ASSIGN_OR_RETURN(const UniquePkey key, ParseKey(identity.key));
  if (SSL_CTX_use_certificate(context.get(), certificate.x509.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1 ||
      SSL_CTX_add1_chain_cert(context.get(), authority.x509.get()) != 1) {
    return Unusable("the server's identity");
  }
  SSL_CTX_set_alpn_select_cb(context.get(), &ChooseProtocol, nullptr);
  return Context(std::move(context));
}

absl::StatusOr<TlsStream> TlsStream::Serve(UniqueFd fd, const Context& context) {
  SLIPWAY_ASSIGN_OR_RETURN(TlsStream stream, Make(std::move(fd), context.get()));
  SSL_set_accept_state(stream.ssl_.get());
  return stream;
}

absl::StatusOr<TlsStream> TlsStream::Call(UniqueFd fd) {
  const SslContext context = NewContext(TLS_client_method());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  SLIPWAY_ASSIGN_OR_RETURN(TlsStream stream, Make(std::move(fd), context.get()));
  const std::string protocols = ProtocolList();
  SSL_set_alpn_protos(stream.ssl_.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                      static_cast<unsigned>(protocols.size()));
  SSL_set_connect_state(stream.ssl_.get());
  return stream;
}

TlsProgress TlsStream::ProgressOf(int result) {
  const int error = SSL_get_error(ssl_.get(), result);
  ERR_clear_error();
  switch (error) {
    case SSL_ERROR_WANT_READ:
      return TlsProgress::kWantsRead;
    case SSL_ERROR_WANT_WRITE:
      return TlsProgress::kWantsWrite;
    default:
      return TlsProgress::kOver;
  }
}

TlsProgress TlsStream::Handshake() {
  const int result = SSL_do_handshake(ssl_.get());
  return result == 1 ? TlsProgress::kDone : ProgressOf(result);
}

TlsProgress TlsStream::Read(std::string& bytes, size_t size) {
  while (bytes.size() < size) {
    const size_t before = bytes.size();
    bytes.resize(size);
    const int result = SSL_read(ssl_.get(), bytes.data() + before, static_cast<int>(size - before));
    bytes.resize(before + static_cast<size_t>(result > 0 ? result : 0));
    if (result <= 0) return ProgressOf(result);
  }
  return TlsProgress::kDone;
}

TlsProgress TlsStream::Write(std::string& bytes) {
  while (!bytes.empty()) {
    const int result = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (result <= 0) return ProgressOf(result);
    bytes.erase(0, static_cast<size_t>(result));
  }
  return TlsProgress::kDone;
}

void TlsStream::Close() {
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

absl::StatusOr<std::string> TlsStream::CheckServer(absl::string_view authority) const {
  // The server's own certificate comes first.
  STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(ssl_.get());
  for (int i = 1; i < sk_X509_num(chain); ++i) {
    X509* const candidate = sk_X509_value(chain, i);
    SLIPWAY_ASSIGN_OR_RETURN(std::string pem, ToPemText(candidate));
    SLIPWAY_ASSIGN_OR_RETURN(const Digest fingerprint, FingerprintOf(pem));
    if (AuthorityText(fingerprint) != authority) continue;
    if (IsServerOf(sk_X509_value(chain, 0), candidate)) return pem;
  }
  return absl::PermissionDeniedError(
      "it is another server than the one that the code is for, or somebody between us pretends to "
      "be it, or a clock is "
      "wrong: nothing was sent to it");
}

}  // namespace slipway
