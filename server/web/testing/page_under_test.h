// PageUnderTest: the page's handler over a fake server, asked without a socket.
#ifndef SLIPWAY_SERVER_WEB_TESTING_PAGE_UNDER_TEST_H_
#define SLIPWAY_SERVER_WEB_TESTING_PAGE_UNDER_TEST_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "server/web/guard.h"
#include "server/web/live_lists.h"
#include "server/web/sessions.h"
#include "server/web/testing/fake_upstream.h"
#include "server/web/upload.h"
#include "server/web/web_handler.h"

namespace slipway::web {

class PageUnderTest {
 public:
  static constexpr char kOrigin[] = "http://127.0.0.1:7480";

  explicit PageUnderTest(const Clock* clock)
      : folder_(TemporaryFolder::Create("page").value()),
        uploads_(UploadFolder::Open(folder_.path(), 2).value()),
        sessions_({.most_failures = 3}, server_.Connector(), "", clock),
        lists_({}, [this](const SignedIn& who) { sessions_.Forget(who); }),
        handler_({.max_upload_bytes = 1'000}, &sessions_, &lists_, uploads_.get()) {
    handler_.SetOrigins({{kOrigin}});
  }

  // As an HttpListener does: lets it in, gives its body to where it belongs, and answers.
  HttpResponse Ask(HttpRequest request) {
    HttpAdmission admission = handler_.Admit(request);
    if (admission.refusal.has_value()) return *std::move(admission.refusal);
    if (static_cast<int64_t>(request.body.size()) > admission.max_body_bytes) {
      return {.status = 413, .headers = {}, .body = ""};
    }
    if (admission.sink != nullptr) {
      if (const absl::Status kept = admission.sink->Append(request.body); !kept.ok()) {
        return handler_.AnswerError(kept);
      }
      request.body.clear();
    }
    return handler_.Answer(request, std::move(admission.sink));
  }

  // What the page itself sends in a browser that is signed in.
  HttpRequest Request(std::string method, std::string target, std::string body = "") const {
    HttpRequest request = {.method = std::move(method),
                           .target = std::move(target),
                           .headers = {{"host", "127.0.0.1:7480"}, {"origin", kOrigin}},
                           .body = std::move(body),
                           .peer = "1.2.3.4"};
    if (!cookie_.empty()) {
      request.headers.emplace_back("cookie", absl::StrCat("slipway_session=", cookie_));
    }
    return request;
  }
  HttpResponse Ask(std::string method, std::string target, std::string body = "") {
    return Ask(Request(std::move(method), std::move(target), std::move(body)));
  }

  HttpResponse SignIn(absl::string_view token) {
    HttpResponse response =
        Ask("POST", "/api/v1/session", absl::StrCat("{\"token\":\"", token, "\"}"));
    for (const auto& [name, value] : response.headers) {
      if (name != "Set-Cookie") continue;
      const size_t begin = value.find('=') + 1;
      cookie_ = value.substr(begin, value.find(';') - begin);
    }
    return response;
  }

  FakePageServer& server() { return server_; }
  Sessions& sessions() { return sessions_; }
  const std::string& cookie() const { return cookie_; }

 private:
  FakePageServer server_;
  const TemporaryFolder folder_;
  const std::unique_ptr<UploadFolder> uploads_;
  Sessions sessions_;
  LiveLists lists_;
  WebHandler handler_;
  std::string cookie_;
};

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_TESTING_PAGE_UNDER_TEST_H_
