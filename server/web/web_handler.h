// WebHandler: requests of browsers and programs to answers. Knows no socket, and the server by Upstream alone.
#ifndef SLIPWAY_SERVER_WEB_WEB_HANDLER_H_
#define SLIPWAY_SERVER_WEB_WEB_HANDLER_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/http/http_listener.h"
#include "core/http/url.h"
#include "server/web/exports.h"
#include "server/web/guard.h"
#include "server/web/live_lists.h"
#include "server/web/page_agents.h"
#include "server/web/routes.h"
#include "server/web/sessions.h"
#include "server/web/upload.h"

namespace slipway::web {

struct WebHandlerOptions {
  int64_t max_upload_bytes = int64_t{2} << 30;
};

// Thread-safe.
class WebHandler final : public HttpHandler {
 public:
  // All must outlive this.
  WebHandler(const WebHandlerOptions& options, Sessions* sessions, LiveLists* lists,
             UploadFolder* uploads);

  // What browsers call the page, once that is known.
  void SetOrigins(PageOrigins origins);

  HttpAdmission Admit(const HttpRequest& head) override;
  HttpResponse Answer(const HttpRequest& request, std::unique_ptr<HttpBodySink> sink) override;
  HttpResponse AnswerError(const absl::Status& status) override;

 private:
  absl::StatusOr<HttpResponse> AnswerApi(const HttpRequest& request, const Url& url,
                                         HttpBodySink* sink);
  absl::StatusOr<HttpResponse> AnswerSignedIn(const HttpRequest& request,
                                              const RoutedRequest& routed, const Url& url,
                                              const std::shared_ptr<const SignedIn>& signed_in,
                                              HttpBodySink* sink);
  absl::StatusOr<HttpResponse> AnswerCall(const HttpRequest& request, const RoutedRequest& routed,
                                          const Url& url, Upstream& upstream);
  absl::StatusOr<HttpResponse> AnswerEvents(const Url& url,
                                            const std::shared_ptr<const SignedIn>& signed_in);
  absl::StatusOr<HttpResponse> AnswerJobEvents(const HttpRequest& request,
                                               const RoutedRequest& routed, const Url& url,
                                               const std::shared_ptr<const SignedIn>& signed_in);
  absl::StatusOr<HttpResponse> AnswerAgent(const HttpRequest& request, const RoutedRequest& routed,
                                           const Url& url,
                                           const std::shared_ptr<const SignedIn>& signed_in);
  absl::StatusOr<HttpResponse> SignIn(const HttpRequest& request);
  HttpResponse ShowSession(const SignedIn* signed_in) const;
  // Of one file.
  int64_t MaxUpload(const SignedIn& signed_in) const;
  // Who asks, where that is known at once.
  std::shared_ptr<const SignedIn> FindKnown(const HttpRequest& request);
  std::string CookieText(absl::string_view value, absl::Duration age) const;
  PageOrigins Origins() const;

  const WebHandlerOptions options_;
  Sessions& sessions_;
  LiveLists& lists_;
  UploadFolder& uploads_;
  Exports exports_;
  PageAgents agents_;
  mutable absl::Mutex mutex_;
  PageOrigins origins_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_WEB_HANDLER_H_
