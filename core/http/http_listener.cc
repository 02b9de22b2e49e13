#include "core/http/http_listener.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/system/system_error.hpp>
#include <list>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/http/http_connection.h"
#include "core/identity/given_certificate.h"
#include "core/rpc/listen_socket.h"
#include "core/rpc/peer_address.h"
#include "core/rpc/proof_files.h"

namespace slipway {
namespace {

namespace asio = boost::asio;

using Acceptor = asio::basic_socket_acceptor<HttpProtocol>;
using Error = boost::system::error_code;

// After accepting failed for want of descriptors or memory.
constexpr auto kPauseAfterFailure = std::chrono::milliseconds(100);

// Makes what connections over TLS begin with, anew when its files have changed.
class TlsFiles {
 public:
  TlsFiles(std::string certificate, std::string key)
      : certificate_(std::move(certificate)),
        key_(std::move(key)),
        // Two files, whatever they are for.
        files_({.identity_file = certificate_, .authority_file = key_}) {}

  absl::Status Read() {
    ERR_clear_error();  // What others left there would be taken for an error of this.
    SLIPWAY_ASSIGN_OR_RETURN(
        const GivenCertificate given,
        ReadGivenCertificate(certificate_, key_, CertificateUse::kServer, absl::Now()));
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    Error error;
    context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                             asio::ssl::context::no_tlsv1_1,
                         error);
    if (!error) context->use_certificate_chain(asio::buffer(given.chain), error);
    if (!error) context->use_private_key(asio::buffer(given.key), asio::ssl::context::pem, error);
    if (error) {
      return absl::FailedPreconditionError(
          absl::StrCat("\"", certificate_, "\" cannot be used: ", error.message()));
    }
    context_ = std::move(context);
    return absl::OkStatus();
  }

  // The files' contents may change at any time, and be unsound for a moment: then the last ones hold.
  const std::shared_ptr<asio::ssl::context>& Current() {
    if (!files_.HaveChanged()) return context_;
    if (const absl::Status read = Read(); !read.ok()) {
      Log(LogLevel::kWarning, "the certificate before is kept", {{"error", read.message()}});
    }
    return context_;
  }

 private:
  const std::string certificate_;
  const std::string key_;
  ProofFiles files_;
  std::shared_ptr<asio::ssl::context> context_;
};

class RunningListener final : public HttpListener {
 public:
  RunningListener(const Options& options, HttpHandler* handler, ListenSocket socket,
                  std::unique_ptr<TlsFiles> tls)
      : options_(options),
        address_(std::move(socket.address)),
        tls_(std::move(tls)),
        handlers_(static_cast<size_t>(options.handler_threads)),
        host_{options_, *handler, io_, handlers_},
        pause_(io_) {
    for (UniqueFd& fd : socket.fds) {
      int family = AF_UNSPEC;
      socklen_t size = sizeof(family);
      getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &family, &size);
      acceptors_.emplace_back(io_, HttpProtocol(family, 0), fd.release());
    }
    for (Acceptor& acceptor : acceptors_) Accept(acceptor);
    thread_ = std::thread([this] { io_.run(); });
  }

  ~RunningListener() override {
    io_.stop();
    thread_.join();
    for (const std::shared_ptr<HttpConnectionBase>& connection : connections_) {
      connection->Abandon();
    }
    handlers_.stop();
    handlers_.join();
  }

  const std::string& address() const override { return address_; }

 private:
  using Connections = std::list<std::shared_ptr<HttpConnectionBase>>;

  void Accept(Acceptor& acceptor) {
    acceptor.async_accept([this, &acceptor](Error error, HttpProtocol::socket socket) {
      if (error) {
        // What waits in the system's queue would fail again at once.
        pause_.expires_after(kPauseAfterFailure);
        return pause_.async_wait([this, &acceptor](Error) { Accept(acceptor); });
      }
      if (MakePlace()) Begin(std::move(socket));
      Accept(acceptor);
    });
  }

  // What is under way of the one that gives way ends with an error, and then it goes.
  bool MakePlace() {
    if (connections_.size() < options_.most_connections) return true;
    for (const std::shared_ptr<HttpConnectionBase>& connection : connections_) {
      if (connection->keeps_place()) continue;
      connection->Close();
      // Those that were closed and are not gone yet count on.
      return connections_.size() < 2 * options_.most_connections;
    }
    return false;
  }

  void Begin(HttpProtocol::socket socket) {
    sockaddr_storage name = {};
    socklen_t size = sizeof(name);
    std::string peer;
    if (getpeername(socket.native_handle(), reinterpret_cast<sockaddr*>(&name), &size) == 0) {
      peer = MachineOf(name);
    }
    const auto place = connections_.emplace(connections_.end());
    const auto forget = [this, place] { connections_.erase(place); };
    if (tls_ == nullptr) {
      *place = std::make_shared<HttpConnection<PlainHttpStream>>(
          host_, std::move(peer), forget, PlainHttpStream(std::move(socket)));
    } else {
      *place = std::make_shared<HttpConnection<TlsHttpStream>>(
          host_, std::move(peer), forget,
          TlsHttpStream(PlainHttpStream(std::move(socket)), *tls_->Current()));
    }
    (*place)->Begin();
  }

  const Options options_;
  const std::string address_;
  const std::unique_ptr<TlsFiles> tls_;

  // All below is used by the thread alone, once it runs.
  asio::io_context io_{1};
  asio::thread_pool handlers_;
  const HttpConnectionHost host_;
  asio::steady_timer pause_;
  std::list<Acceptor> acceptors_;
  Connections connections_;  // The one that came first in front.

  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpListener>> HttpListener::Start(const Options& options,
                                                                  HttpHandler* handler) {
  std::unique_ptr<TlsFiles> tls;
  if (!options.certificate_file.empty()) {
    tls = std::make_unique<TlsFiles>(options.certificate_file, options.key_file.empty()
                                                                   ? options.certificate_file
                                                                   : options.key_file);
    SLIPWAY_RETURN_IF_ERROR(tls->Read());
  }
  SLIPWAY_ASSIGN_OR_RETURN(ListenSocket socket, ListenAt(options.listen));
  try {
    return std::make_unique<RunningListener>(options, handler, std::move(socket), std::move(tls));
  } catch (const boost::system::system_error& error) {
    return absl::UnavailableError(absl::StrCat("cannot listen for HTTP: ", error.what()));
  }
}

}  // namespace slipway
