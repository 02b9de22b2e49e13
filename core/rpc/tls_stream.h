// TlsStream: one end of a TLS 1.3 connection over a non-blocking socket, by OpenSSL; for the join door alone.
#ifndef SLIPWAY_CORE_RPC_TLS_STREAM_H_
#define SLIPWAY_CORE_RPC_TLS_STREAM_H_

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/files.h"
#include "core/identity/identity_file.h"
#include "core/identity/openssl_handles.h"

namespace slipway {

// What a step of a stream came to: it is done, or is to be taken again when the socket can be read or written, or the connection is over.
enum class TlsProgress { kDone, kWantsRead, kWantsWrite, kOver };

// Movable; not thread-safe.
class TlsStream {
 public:
  // What a server's ends of connections have in common. Errors of an identity that cannot be used.
  using Context = std::shared_ptr<SSL_CTX>;
  static absl::StatusOr<Context> ServerContext(const Identity& identity);

  // The server's end.
  static absl::StatusOr<TlsStream> Serve(UniqueFd fd, const Context& context);
  // The caller's end: it believes nobody, so that who asks must call CheckServer before he sends anything.
  static absl::StatusOr<TlsStream> Call(UniqueFd fd);

  TlsProgress Handshake();
  // Appends what has come to `bytes` until it has `size`.
  TlsProgress Read(std::string& bytes, size_t size);
  // Writes `bytes` and takes what was written from it.
  TlsProgress Write(std::string& bytes);
  // Says that nothing follows. As far as it goes at once.
  void Close();

  // After the handshake, of the caller: the certificate (PEM) of the other side's authority, which `authority` stands for (join_code.h), when the
  // other side proved to be its server. PERMISSION_DENIED otherwise.
  absl::StatusOr<std::string> CheckServer(absl::string_view authority) const;

  int fd() const { return fd_.get(); }

 private:
  using Ssl = std::unique_ptr<SSL, OpensslDeleter<SSL_free>>;
  using SocketMethod = std::unique_ptr<BIO_METHOD, OpensslDeleter<BIO_meth_free>>;
  TlsStream(UniqueFd fd, SocketMethod method, Ssl ssl)
      : fd_(std::move(fd)), method_(std::move(method)), ssl_(std::move(ssl)) {}
  static absl::StatusOr<TlsStream> Make(UniqueFd fd, SSL_CTX* context);
  TlsProgress ProgressOf(int result);

  UniqueFd fd_;
  SocketMethod method_;
  Ssl ssl_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_TLS_STREAM_H_
