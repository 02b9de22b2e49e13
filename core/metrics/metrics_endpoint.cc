#include "core/metrics/metrics_endpoint.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/http/http_listener.h"
#include "core/http/http_message.h"
#include "core/metrics/metric.h"

namespace slipway {
namespace {

HttpResponse Refuse(int status, std::string why, HttpHeaders headers = {}) {
  headers.emplace_back("Content-Type", "text/plain; charset=utf-8");
  return {.status = status, .headers = std::move(headers), .body = std::move(why)};
}

// Decides by the head alone, and makes the text on the one handler thread.
class MetricsHandler final : public HttpHandler {
 public:
  MetricsHandler(absl::Duration fresh, const Clock* clock, std::function<std::string()> text)
      : fresh_(fresh), clock_(*clock), text_(std::move(text)) {}

  HttpAdmission Admit(const HttpRequest& head) override {
    if (head.target.substr(0, head.target.find('?')) != "/metrics") {
      return {.refusal = Refuse(404, "here is /metrics alone\n")};
    }
    if (head.method != "GET" && head.method != "HEAD") {
      return {.refusal = Refuse(405, "metrics are read alone\n", {{"Allow", "GET, HEAD"}})};
    }
    return {};
  }

  HttpResponse Answer(const HttpRequest&, std::unique_ptr<HttpBodySink>) override {
    const absl::Duration now = clock_.Monotonic();
    if (now - made_at_ >= fresh_) {
      made_ = text_();
      made_at_ = now;
    }
    return {.headers = {{"Content-Type", kMetricsContentType}}, .body = made_};
  }

  HttpResponse AnswerError(const absl::Status& status) override {
    return Refuse(500, std::string(status.message()));
  }

 private:
  const absl::Duration fresh_;
  const Clock& clock_;
  const std::function<std::string()> text_;
  std::string made_;
  absl::Duration made_at_ = -absl::InfiniteDuration();
};

class RunningEndpoint final : public MetricsEndpoint {
 public:
  RunningEndpoint(std::unique_ptr<MetricsHandler> handler, std::unique_ptr<HttpListener> listener)
      : handler_(std::move(handler)), listener_(std::move(listener)) {}

  const std::string& address() const override { return listener_->address(); }

 private:
  const std::unique_ptr<MetricsHandler> handler_;
  const std::unique_ptr<HttpListener> listener_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Start(
    const Options& options, const Clock* clock, std::function<std::string()> text) {
  auto handler = std::make_unique<MetricsHandler>(options.fresh, clock, std::move(text));
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<HttpListener> listener,
                           HttpListener::Start({.listen = options.listen,
                                                .most_connections = options.most_connections,
                                                .max_header_bytes = kMaxHeaderBytes,
                                                .patience = options.patience,
                                                .longest = options.patience},
                                               handler.get()));
  return std::make_unique<RunningEndpoint>(std::move(handler), std::move(listener));
}

}  // namespace slipway
