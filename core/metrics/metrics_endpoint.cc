#include "core/metrics/metrics_endpoint.h"

#include <sys/socket.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/metrics/metric.h"
#include "core/rpc/listen_socket.h"

namespace slipway {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

using Protocol = asio::generic::stream_protocol;
using Stream = beast::basic_stream<Protocol>;
using Acceptor = asio::basic_socket_acceptor<Protocol>;
using Request = http::request_parser<http::empty_body>;
using Response = http::response<http::string_body>;

// After accepting failed for want of descriptors or memory.
constexpr auto kPauseAfterFailure = std::chrono::milliseconds(100);

struct Connection {
  explicit Connection(Protocol::socket socket) : stream(std::move(socket)) {}
  Stream stream;
  beast::flat_static_buffer<MetricsEndpoint::kMaxHeaderBytes> buffer;
  Request request;
  Response response;
};

class RunningEndpoint final : public MetricsEndpoint {
 public:
  RunningEndpoint(const Options& options, const Clock* clock, std::function<std::string()> text,
                  ListenSocket socket)
      : options_(options),
        clock_(*clock),
        text_(std::move(text)),
        address_(std::move(socket.address)),
        pause_(io_) {
    for (UniqueFd& fd : socket.fds) {
      int family = AF_UNSPEC;
      socklen_t size = sizeof(family);
      getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &family, &size);
      acceptors_.emplace_back(io_, Protocol(family, 0), fd.release());
    }
    for (Acceptor& acceptor : acceptors_) Accept(acceptor);
    thread_ = std::thread([this] { io_.run(); });
  }

  ~RunningEndpoint() override {
    io_.stop();
    thread_.join();
  }

  const std::string& address() const override { return address_; }

 private:
  using Connections = std::list<Connection>;

  void Accept(Acceptor& acceptor) {
    acceptor.async_accept([this, &acceptor](beast::error_code error, Protocol::socket socket) {
      if (error) {
        // What waits in the system's queue would fail again at once.
        pause_.expires_after(kPauseAfterFailure);
        return pause_.async_wait([this, &acceptor](beast::error_code) { Accept(acceptor); });
      }
      // What is under way of it ends with an error, and then it goes.
      if (connections_.size() >= options_.most_connections) connections_.front().stream.close();
      connections_.emplace_back(std::move(socket));
      Read(std::prev(connections_.end()));
      Accept(acceptor);
    });
  }

  void Read(Connections::iterator connection) {
    connection->request.header_limit(kMaxHeaderBytes);
    connection->request.body_limit(0);
    connection->stream.expires_after(
        std::chrono::nanoseconds(absl::ToInt64Nanoseconds(options_.patience)));
    http::async_read_header(connection->stream, connection->buffer, connection->request,
                            [this, connection](beast::error_code error, size_t) {
                              if (error) return Forget(connection);
                              Answer(connection);
                            });
  }

  void Answer(Connections::iterator connection) {
    connection->response = AnswerTo(connection->request.get());
    http::async_write(
        connection->stream, connection->response, [this, connection](beast::error_code, size_t) {
          beast::error_code ignored;
          connection->stream.socket().shutdown(Protocol::socket::shutdown_send, ignored);
          Forget(connection);
        });
  }

  void Forget(Connections::iterator connection) { connections_.erase(connection); }

  Response AnswerTo(const Request::value_type& request) {
    const auto answer = [&request](http::status status, std::string type, std::string body) {
      Response response(status, 11);
      response.keep_alive(false);
      response.set(http::field::content_type, type);
      response.body() = std::move(body);
      response.prepare_payload();
      if (request.method() == http::verb::head) response.body().clear();
      return response;
    };
    const auto refuse = [&answer](http::status status, std::string why) {
      return answer(status, "text/plain; charset=utf-8", std::move(why));
    };
    const beast::string_view path = request.target().substr(0, request.target().find('?'));
    if (path != "/metrics") return refuse(http::status::not_found, "here is /metrics alone\n");
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      Response response = refuse(http::status::method_not_allowed, "metrics are read alone\n");
      response.set(http::field::allow, "GET, HEAD");
      return response;
    }
    return answer(http::status::ok, kMetricsContentType, Text());
  }

  const std::string& Text() {
    const absl::Duration now = clock_.Monotonic();
    if (now - made_at_ >= options_.fresh) {
      made_ = text_();
      made_at_ = now;
    }
    return made_;
  }

  const Options options_;
  const Clock& clock_;
  const std::function<std::string()> text_;
  const std::string address_;

  // All below is used by the thread alone, once it runs.
  asio::io_context io_{1};
  asio::steady_timer pause_;
  std::list<Acceptor> acceptors_;
  Connections connections_;  // The one that came first in front.
  std::string made_;
  absl::Duration made_at_ = -absl::InfiniteDuration();

  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Start(
    const Options& options, const Clock* clock, std::function<std::string()> text) {
  SLIPWAY_ASSIGN_OR_RETURN(ListenSocket socket, ListenAt(options.listen));
  try {
    return std::make_unique<RunningEndpoint>(options, clock, std::move(text), std::move(socket));
  } catch (const boost::system::system_error& error) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen for who reads metrics: ", error.what()));
  }
}

}  // namespace slipway
