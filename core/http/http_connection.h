// HttpConnection: one connection of an HttpListener, over a plain socket or TLS. Used on the listener's thread alone, but for its
// stream. Part of http_listener.cc.
#ifndef SLIPWAY_CORE_HTTP_HTTP_CONNECTION_H_
#define SLIPWAY_CORE_HTTP_HTTP_CONNECTION_H_

#include <algorithm>
#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/http/http_listener.h"

namespace slipway {

using HttpProtocol = boost::asio::generic::stream_protocol;
using PlainHttpStream = boost::beast::basic_stream<HttpProtocol>;
using TlsHttpStream = boost::asio::ssl::stream<PlainHttpStream>;

inline std::chrono::nanoseconds ToChrono(absl::Duration duration) {
  return std::chrono::nanoseconds(absl::ToInt64Nanoseconds(duration));
}

// What connections of a listener have in common; outlives them.
struct HttpConnectionHost {
  const HttpListener::Options& options;
  HttpHandler& handler;
  boost::asio::io_context& io;
  boost::asio::thread_pool& handlers;
};

// What a listener knows of a connection.
class HttpConnectionBase {
 public:
  virtual ~HttpConnectionBase() = default;
  virtual void Begin() = 0;
  // What is under way ends with an error.
  virtual void Close() = 0;
  // Nothing of the listener is used any more.
  virtual void Abandon() = 0;
  bool keeps_place() const { return keeps_place_; }

 protected:
  bool keeps_place_ = false;
};

// The bytes of an answer that goes on, between whoever makes them and the connection that sends them.
class WaitingBytes final : public HttpStream {
 public:
  // `wake` is called, from any thread, when there is something to be sent; never after Gone().
  WaitingBytes(size_t most, std::function<void()> wake) : most_(most), wake_(std::move(wake)) {}

  bool Send(absl::string_view bytes) override {
    absl::MutexLock lock(&mutex_);
    if (gone_ || ended_ || overflowed_) return false;
    if (bytes.empty()) return true;
    // Each is a chunk (RFC 9112, section 7.1).
    absl::StrAppend(&waiting_, absl::Hex(bytes.size()), "\r\n", bytes, "\r\n");
    overflowed_ = waiting_.size() > most_;
    wake_();
    return !overflowed_;
  }
  void End() override {
    absl::MutexLock lock(&mutex_);
    if (gone_ || ended_) return;
    ended_ = true;
    waiting_ += "0\r\n\r\n";
    wake_();
  }
  bool is_gone() const override {
    absl::MutexLock lock(&mutex_);
    return gone_;
  }
  void OnGone(std::function<void()> gone) override {
    {
      absl::MutexLock lock(&mutex_);
      if (!gone_) {
        on_gone_ = std::move(gone);
        return;
      }
    }
    gone();
  }

  // For the connection.
  void Gone() {
    std::function<void()> tell;
    {
      absl::MutexLock lock(&mutex_);
      gone_ = true;
      std::swap(tell, on_gone_);
    }
    if (tell) tell();
  }
  bool has_overflowed() const {
    absl::MutexLock lock(&mutex_);
    return overflowed_;
  }
  struct Taken {
    std::string bytes;
    bool has_ended = false;
  };
  Taken Take() {
    absl::MutexLock lock(&mutex_);
    return {std::exchange(waiting_, ""), ended_};
  }

 private:
  const size_t most_;
  const std::function<void()> wake_;
  mutable absl::Mutex mutex_;
  std::string waiting_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool overflowed_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_gone_ ABSL_GUARDED_BY(mutex_);
};

template <typename Stream>
class HttpConnection final : public HttpConnectionBase,
                             public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  // `forget` is called once, when it has ended.
  HttpConnection(const HttpConnectionHost& host, std::string peer, std::function<void()> forget,
                 Stream stream)
      : host_(host),
        peer_(std::move(peer)),
        forget_(std::move(forget)),
        end_(host.options.longest < absl::Hours(24 * 365)
                 ? std::chrono::steady_clock::now() + ToChrono(host.options.longest)
                 : std::chrono::steady_clock::time_point::max()),
        stream_(std::move(stream)),
        write_timer_(host.io) {}

  void Begin() override {
    if constexpr (kIsTls) {
      Wait(host_.options.patience);
      stream_.async_handshake(boost::asio::ssl::stream_base::server, [self = Self()](Error error) {
        if (error) return self->Forget();
        self->ReadHead();
      });
    } else {
      ReadHead();
    }
  }

  void Close() override { boost::beast::get_lowest_layer(stream_).close(); }

  void Abandon() override {
    if (waiting_ != nullptr) waiting_->Gone();
  }

 private:
  using Error = boost::beast::error_code;
  using Parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;
  static constexpr bool kIsTls = std::is_same_v<Stream, TlsHttpStream>;

  std::shared_ptr<HttpConnection> Self() { return this->shared_from_this(); }

  // What is under way ends with an error after this, or when the connection has lasted too long.
  void Wait(absl::Duration patience) {
    const auto now = std::chrono::steady_clock::now();
    boost::beast::get_lowest_layer(stream_).expires_at(
        end_ - now < ToChrono(patience) ? end_ : now + ToChrono(patience));
  }
  void WaitForHandler() { boost::beast::get_lowest_layer(stream_).expires_at(end_); }

  void Forget() {
    if (waiting_ != nullptr) waiting_->Gone();
    write_timer_.cancel();
    Close();
    if (forget_) std::exchange(forget_, nullptr)();
  }

  void ReadHead() {
    parser_.emplace();
    parser_->header_limit(host_.options.max_header_bytes);
    parser_->body_limit(std::numeric_limits<uint64_t>::max());  // Admit says how much.
    request_ = HttpRequest{.peer = peer_};
    sink_ = nullptr;
    keeps_place_ = false;
    Wait(host_.options.patience);
    boost::beast::http::async_read_header(
        stream_, buffer_, *parser_, [self = Self()](Error error, size_t) {
          if (!error) return self->Admit();
          self->may_go_on_ = false;
          if (error == boost::beast::http::error::header_limit ||
              error == boost::beast::http::error::buffer_overflow) {
            return self->Refuse({.status = 431});
          }
          if (error.category() ==
                  boost::beast::http::make_error_code(boost::beast::http::error::bad_target)
                      .category() &&
              error != boost::beast::http::error::end_of_stream &&
              error != boost::beast::http::error::partial_message) {
            return self->Refuse({.status = 400});
          }
          self->Forget();
        });
  }

  void Admit() {
    const auto& head = parser_->get();
    request_.method = std::string(head.method_string());
    request_.target = std::string(head.target());
    for (const auto& field : head) {
      request_.headers.emplace_back(absl::AsciiStrToLower(std::string(field.name_string())),
                                    std::string(field.value()));
    }
    may_go_on_ = host_.options.keep_alive && head.keep_alive();
    HttpAdmission admission = host_.handler.Admit(request_);
    keeps_place_ = admission.keeps_place;
    if (admission.refusal.has_value()) return Refuse(*std::move(admission.refusal));
    max_body_bytes_ = admission.max_body_bytes;
    sink_ = std::move(admission.sink);
    const auto length = parser_->content_length();
    if ((length.has_value() && *length > static_cast<uint64_t>(max_body_bytes_)) ||
        (parser_->chunked() && max_body_bytes_ == 0)) {
      return RefuseBody();
    }
    if (parser_->is_done()) return Dispatch();
    body_bytes_ = 0;
    if (request_.Header("expect") != "100-continue") return ReadBody();
    static constexpr absl::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    boost::asio::async_write(stream_, boost::asio::buffer(kContinue.data(), kContinue.size()),
                             [self = Self()](Error error, size_t) {
                               if (error) return self->Forget();
                               self->ReadBody();
                             });
  }

  void RefuseBody() {
    HttpResponse response = host_.handler.AnswerError(absl::ResourceExhaustedError(
        absl::StrCat("the body may have ", max_body_bytes_, " bytes")));
    response.status = 413;
    Refuse(std::move(response));
  }

  // Answers though more may come.
  void Refuse(HttpResponse response) {
    if (!parser_->is_done()) {
      may_go_on_ = false;
      more_comes_ = true;
    }
    Write(std::move(response));
  }

  void ReadBody() {
    auto& body = parser_->get().body();
    body.data = piece_.data();
    body.size = piece_.size();
    body.more = true;
    Wait(host_.options.patience);
    boost::beast::http::async_read(
        stream_, buffer_, *parser_, [self = Self()](Error error, size_t) {
          if (error && error != boost::beast::http::error::need_buffer) return self->Forget();
          self->TakePiece(self->piece_.size() - self->parser_->get().body().size);
        });
  }

  void TakePiece(size_t size) {
    body_bytes_ += static_cast<int64_t>(size);
    if (body_bytes_ > max_body_bytes_) return RefuseBody();
    const absl::string_view piece(piece_.data(), size);
    if (sink_ == nullptr) {
      request_.body.append(piece.data(), piece.size());
      return GoOnReading();
    }
    boost::asio::post(host_.handlers, [self = Self(), piece] {
      absl::Status status = self->sink_->Append(piece);
      boost::asio::post(self->host_.io, [self, status = std::move(status)] {
        if (status.ok()) return self->GoOnReading();
        self->Refuse(self->host_.handler.AnswerError(status));
      });
    });
  }

  void GoOnReading() { parser_->is_done() ? Dispatch() : ReadBody(); }

  void Dispatch() {
    WaitForHandler();
    boost::asio::post(host_.handlers, [self = Self()]() mutable {
      auto response = std::make_shared<HttpResponse>(
          self->host_.handler.Answer(self->request_, std::move(self->sink_)));
      auto& io = self->host_.io;
      // The last who holds the connection is the listener's thread.
      boost::asio::post(io,
                        [self = std::move(self), response] { self->Write(std::move(*response)); });
    });
  }

  void Write(HttpResponse response) {
    namespace http = boost::beast::http;
    http::response<http::string_body> message;
    message.version(11);
    message.result(static_cast<unsigned>(response.status));
    for (auto& [name, value] : response.headers) message.insert(name, value);
    const bool is_stream = response.stream != nullptr;
    if (is_stream) {
      may_go_on_ = false;
      message.chunked(true);
    } else {
      message.body() = std::move(response.body);
      message.prepare_payload();
      if (request_.method == "HEAD") message.body().clear();
    }
    message.keep_alive(may_go_on_);
    answer_ = std::move(message);
    Wait(host_.options.patience);
    if (!is_stream) {
      return http::async_write(stream_, answer_, [self = Self()](Error error, size_t) {
        if (error || !self->may_go_on_) return self->End();
        self->ReadHead();
      });
    }
    serializer_.emplace(answer_);
    http::async_write_header(
        stream_, *serializer_,
        [self = Self(), begin = std::move(response.stream)](Error error, size_t) {
          if (error) return self->Forget();
          self->BeginStream(begin);
        });
  }

  // Nothing follows. Who is still sending would take a connection that is closed for one that broke, and see no answer.
  void End() {
    if constexpr (kIsTls) {
      Wait(std::min(host_.options.patience, absl::Seconds(2)));
      stream_.async_shutdown([self = Self()](Error) { self->EndSocket(); });
    } else {
      EndSocket();
    }
  }

  void EndSocket() {
    Error ignored;
    boost::beast::get_lowest_layer(stream_).socket().shutdown(HttpProtocol::socket::shutdown_send,
                                                              ignored);
    if (!more_comes_) return Forget();
    Wait(std::min(host_.options.patience, absl::Seconds(2)));
    Drain();
  }

  void Drain() {
    boost::beast::get_lowest_layer(stream_).async_read_some(boost::asio::buffer(piece_),
                                                            [self = Self()](Error error, size_t) {
                                                              if (error) return self->Forget();
                                                              self->Drain();
                                                            });
  }

  void BeginStream(const std::function<void(std::shared_ptr<HttpStream>)>& begin) {
    WaitForHandler();
    std::weak_ptr<HttpConnection> weak = this->weak_from_this();
    boost::asio::io_context& io = host_.io;
    waiting_ = std::make_shared<WaitingBytes>(host_.options.most_waiting_bytes, [weak, &io] {
      boost::asio::post(io, [weak] {
        if (const auto self = weak.lock(); self != nullptr) self->SendWaiting();
      });
    });
    begin(waiting_);
    AwaitEnd();
  }

  // The other side has nothing to say any more: whatever comes is its end.
  void AwaitEnd() {
    stream_.async_read_some(boost::asio::buffer(piece_), [self = Self()](Error, size_t) {
      if (self->waiting_ != nullptr) self->Forget();
    });
  }

  void SendWaiting() {
    if (!forget_) return;
    // Also while some are under way, which a reader that takes nothing would hold up.
    if (waiting_->has_overflowed()) return Forget();
    if (is_sending_) return;
    WaitingBytes::Taken taken = waiting_->Take();
    if (taken.bytes.empty()) {
      if (taken.has_ended) Forget();
      return;
    }
    is_sending_ = true;
    sent_ = std::move(taken.bytes);
    write_timer_.expires_after(ToChrono(host_.options.patience));
    write_timer_.async_wait([self = Self()](Error error) {
      if (!error) self->Close();
    });
    boost::asio::async_write(stream_, boost::asio::buffer(sent_),
                             [self = Self()](Error error, size_t) {
                               self->write_timer_.cancel();
                               self->is_sending_ = false;
                               if (error) return self->Forget();
                               self->SendWaiting();
                             });
  }

  const HttpConnectionHost host_;
  const std::string peer_;
  std::function<void()> forget_;
  const std::chrono::steady_clock::time_point end_;
  Stream stream_;
  boost::beast::flat_buffer buffer_{64 << 10};
  std::optional<Parser> parser_;
  HttpRequest request_;
  std::unique_ptr<HttpBodySink> sink_;
  int64_t max_body_bytes_ = 0;
  int64_t body_bytes_ = 0;
  bool may_go_on_ = false;
  bool more_comes_ = false;
  std::array<char, 64 << 10> piece_;
  boost::beast::http::response<boost::beast::http::string_body> answer_;
  std::optional<boost::beast::http::response_serializer<boost::beast::http::string_body>>
      serializer_;
  std::shared_ptr<WaitingBytes> waiting_;
  bool is_sending_ = false;
  std::string sent_;
  boost::asio::steady_timer write_timer_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_HTTP_HTTP_CONNECTION_H_
