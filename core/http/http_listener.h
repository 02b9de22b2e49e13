// HttpListener: the one server of HTTP/1.1 in all processes, with or without TLS, with bounds on whatever others do.
//
// One thread moves bytes; handlers work on a few others. What costs nothing until somebody has proven who he is has a bound
// of its own: connections whose request was not let in with `keeps_place` give way to newer ones.
#ifndef SLIPWAY_CORE_HTTP_HTTP_LISTENER_H_
#define SLIPWAY_CORE_HTTP_HTTP_LISTENER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/http/http_message.h"

namespace slipway {

// Takes a body that is too large to be kept. Used by one handler thread at a time; may wait. Dropped where the body does not come whole.
class HttpBodySink {
 public:
  virtual ~HttpBodySink() = default;
  // An error is answered in place of what the request would have been.
  virtual absl::Status Append(absl::string_view piece) = 0;
};

// What becomes of a request, by its head alone.
struct HttpAdmission {
  // Answered at once; nobody reads the body.
  std::optional<HttpResponse> refusal = std::nullopt;
  // One that is longer is answered with 413, at once where it says its length.
  int64_t max_body_bytes = 0;
  // Gets the body; null: it is kept in HttpRequest::body.
  std::unique_ptr<HttpBodySink> sink = nullptr;
  // Newer connections do not push this one out.
  bool keeps_place = false;
};

// Thread-safe.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // On the listener's thread: must not wait.
  virtual HttpAdmission Admit(const HttpRequest& head) = 0;
  // On a handler thread; may wait. `sink` is the one of Admit, which has the whole body.
  virtual HttpResponse Answer(const HttpRequest& request, std::unique_ptr<HttpBodySink> sink) = 0;
  // An error of a sink, as an answer.
  virtual HttpResponse AnswerError(const absl::Status& status) = 0;
};

// Serves from Start to destruction.
class HttpListener {
 public:
  struct Options {
    std::string listen;  // HOST:PORT or unix:PATH; port 0 takes a free one.
    // TLS 1.2 or newer: PEM files as ReadGivenCertificate wants them, read anew when they change. Empty: no TLS.
    std::string certificate_file;
    std::string key_file;
    // Connections at a time. When another comes, the one that came first without a place of its own is closed; where there is none,
    // the new one.
    size_t most_connections = 16;
    // Of a request: its line and headers.
    uint32_t max_header_bytes = 8 << 10;
    // For the head of a request to come, from when the connection began or the answer before was taken; for an answer to be
    // taken; and for each piece of a body.
    absl::Duration patience = absl::Seconds(10);
    // From the beginning of a connection to its end, whatever happens on it.
    absl::Duration longest = absl::InfiniteDuration();
    // Of a stream, bytes that its reader has not taken.
    size_t most_waiting_bytes = 4 << 20;
    // More than one request on a connection.
    bool keep_alive = false;
    int handler_threads = 1;
  };
  // `handler` must outlive this. Errors of ListenAt and of ReadGivenCertificate.
  static absl::StatusOr<std::unique_ptr<HttpListener>> Start(const Options& options,
                                                             HttpHandler* handler);
  // Ends all connections; returns when no handler works any more.
  virtual ~HttpListener() = default;

  // As `listen`, with the port taken.
  virtual const std::string& address() const = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_HTTP_HTTP_LISTENER_H_
