// Requests and answers of HTTP as values.
#ifndef SLIPWAY_CORE_HTTP_HTTP_MESSAGE_H_
#define SLIPWAY_CORE_HTTP_HTTP_MESSAGE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace slipway {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;   // "GET"; whatever was sent.
  std::string target;   // As it was sent: url.h takes it apart.
  HttpHeaders headers;  // Names in small letters, in the order in which they came.
  std::string body;     // Unless a sink has it.
  std::string
      peer;  // Numeric address of who is connected, without its port; empty over a unix socket.

  // The first of that name, which is in small letters; empty where there is none.
  absl::string_view Header(absl::string_view name) const;
  // Of all "cookie" headers, the value of the first cookie of that name; empty where there is none.
  absl::string_view Cookie(absl::string_view name) const;
};

// An answer that goes on: bytes of its body, as long as either side wants. Thread-safe; may outlive its listener.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // Behind what was sent before. False when the other side is gone, or takes so little that more waits than a listener's
  // `most_waiting_bytes`: then the connection is ended.
  virtual bool Send(absl::string_view bytes) = 0;
  // Ends the answer when all of it is sent.
  virtual void End() = 0;
  virtual bool is_gone() const = 0;
  // Called once when the other side is gone or the answer has ended, at once if that is so; must not wait. Set once.
  virtual void OnGone(std::function<void()> gone) = 0;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders
      headers;  // Without those on the body's length and the connection, which the listener makes.
  std::string body;
  // In place of a body: called with the stream when the answer has begun; must not wait.
  std::function<void(std::shared_ptr<HttpStream>)> stream = nullptr;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_HTTP_HTTP_MESSAGE_H_
