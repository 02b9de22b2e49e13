#include "core/http/http_listener.h"

#include <sys/socket.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/plain_connection.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::Ask;
using ::slipway::testing::Connect;
using ::slipway::testing::ReadAll;
using ::slipway::testing::Send;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::Duration kNever = absl::Hours(1);

// What a test's requests are answered with, by their paths.
class Echo final : public HttpHandler {
 public:
  HttpAdmission Admit(const HttpRequest& head) override {
    HttpAdmission admission{.max_body_bytes = 1'000};
    if (head.target == "/refused") admission.refusal = HttpResponse{.status = 403, .body = "no"};
    if (head.target == "/sink") {
      admission.max_body_bytes = 1 << 20;
      admission.sink = std::make_unique<Counter>();
    }
    admission.keeps_place = head.target == "/stays";
    return admission;
  }

  HttpResponse Answer(const HttpRequest& request, std::unique_ptr<HttpBodySink> sink) override {
    if (sink != nullptr) {
      return {.body = absl::StrCat(static_cast<Counter&>(*sink).bytes, " bytes")};
    }
    if (request.target == "/stream" || request.target == "/stays") {
      return {.headers = {{"Content-Type", "text/event-stream"}},
              .body = "",
              .stream = [this](std::shared_ptr<HttpStream> stream) {
                absl::MutexLock lock(&mutex_);
                stream_ = std::move(stream);
              }};
    }
    return {.body = absl::StrCat(request.method, " ", request.target, " ", request.body)};
  }

  HttpResponse AnswerError(const absl::Status& status) override {
    return {.status = 418, .body = std::string(status.message())};
  }

  std::shared_ptr<HttpStream> AwaitStream() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](std::shared_ptr<HttpStream>* stream) { return *stream != nullptr; }, &stream_));
    return std::exchange(stream_, nullptr);
  }

 private:
  struct Counter final : HttpBodySink {
    absl::Status Append(absl::string_view piece) override {
      bytes += piece.size();
      if (piece.find('!') != piece.npos) return absl::AbortedError("it has a \"!\"");
      return absl::OkStatus();
    }
    size_t bytes = 0;
  };

  absl::Mutex mutex_;
  std::shared_ptr<HttpStream> stream_ ABSL_GUARDED_BY(mutex_);
};

class HttpListenerTest : public ::testing::Test {
 protected:
  std::string Start(HttpListener::Options options) {
    options.listen = "127.0.0.1:0";
    absl::StatusOr<std::unique_ptr<HttpListener>> started = HttpListener::Start(options, &echo_);
    EXPECT_OK(started.status());
    listener_ = *std::move(started);
    return listener_->address();
  }

  static std::string Post(absl::string_view target, absl::string_view body) {
    return absl::StrCat("POST ", target, " HTTP/1.1\r\nHost: x\r\nContent-Length: ", body.size(),
                        "\r\nConnection: close\r\n\r\n", body);
  }

  Echo echo_;
  std::unique_ptr<HttpListener> listener_;
};

TEST_F(HttpListenerTest, AnswersSeveralRequestsOfAConnection) {
  const std::string address = Start({.keep_alive = true});
  const std::string answers =
      Ask(address, absl::StrCat("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", Post("/b", "body")));
  EXPECT_THAT(answers, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("GET /a "),
                             EndsWith("POST /b body")));
}

TEST_F(HttpListenerTest, EndsAConnectionAfterOneRequestUnlessToldOtherwise) {
  const std::string answer = Ask(Start({}), "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, AllOf(HasSubstr("\r\nConnection: close\r\n"), EndsWith("GET /a ")));
}

TEST_F(HttpListenerTest, BoundsBodies) {
  const std::string address = Start({});
  EXPECT_THAT(Ask(address, Post("/a", std::string(1'000, 'x'))), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask(address, Post("/a", std::string(1'001, 'x'))), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Ask(address, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000000\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  std::string chunks = "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&chunks, "64\r\n", std::string(100, 'x'), "\r\n");
  EXPECT_THAT(Ask(address, absl::StrCat(chunks, "0\r\n\r\n")), StartsWith("HTTP/1.1 413 "));
}

TEST_F(HttpListenerTest, GivesLargeBodiesToASink) {
  const std::string address = Start({.handler_threads = 4});
  EXPECT_THAT(Ask(address, Post("/sink", std::string(1 << 20, 'x'))), EndsWith("1048576 bytes"));
  EXPECT_THAT(Ask(address, Post("/sink", "oh!")),
              AllOf(StartsWith("HTTP/1.1 418 "), EndsWith("it has a \"!\"")));
}

TEST_F(HttpListenerTest, RefusesByTheHeadAlone) {
  EXPECT_THAT(Ask(Start({}), "POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 403 "), EndsWith("no")));
}

TEST_F(HttpListenerTest, SaysToGoOnWhereThatIsWaitedFor) {
  const UniqueFd fd = Connect(Start({}));
  Send(fd, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nhi");
  EXPECT_THAT(ReadAll(fd), AllOf(StartsWith("HTTP/1.1 100 Continue\r\n\r\n"), EndsWith("hi")));
}

TEST_F(HttpListenerTest, SaysWhatIsWrongWithARequest) {
  const std::string address = Start({});
  EXPECT_THAT(Ask(address, "nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Ask(address, absl::StrCat("GET /", std::string(1 << 16, 'a'))),
              StartsWith("HTTP/1.1 431 "));
}

TEST_F(HttpListenerTest, StreamsUntilItEnds) {
  const UniqueFd fd = Connect(Start({.patience = kNever}));
  Send(fd, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::shared_ptr<HttpStream> stream = echo_.AwaitStream();
  EXPECT_TRUE(stream->Send("one"));
  EXPECT_TRUE(stream->Send("two"));
  stream->End();
  EXPECT_FALSE(stream->Send("three"));
  EXPECT_THAT(ReadAll(fd), AllOf(HasSubstr("Transfer-Encoding: chunked"),
                                 EndsWith("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")));
}

TEST_F(HttpListenerTest, TellsAStreamThatItsReaderIsGone) {
  UniqueFd fd = Connect(Start({.patience = kNever}));
  Send(fd, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::shared_ptr<HttpStream> stream = echo_.AwaitStream();
  absl::Notification gone;
  stream->OnGone([&gone] { gone.Notify(); });
  fd.reset();
  gone.WaitForNotification();
  EXPECT_TRUE(stream->is_gone());
  EXPECT_FALSE(stream->Send("to nobody"));
}

TEST_F(HttpListenerTest, EndsAStreamWhoseReaderTakesNothing) {
  // More than the system's own buffers hold.
  constexpr size_t kMost = 64 << 20;
  const UniqueFd fd = Connect(Start({.patience = kNever, .most_waiting_bytes = kMost}));
  Send(fd, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::shared_ptr<HttpStream> stream = echo_.AwaitStream();
  absl::Notification gone;
  stream->OnGone([&gone] { gone.Notify(); });
  ASSERT_TRUE(stream->Send(std::string(kMost / 2, '!')));
  // From the first byte on, the rest of them is under way.
  for (char byte = 0; byte != '!';) ASSERT_EQ(recv(fd.get(), &byte, 1, 0), 1);
  while (stream->Send(std::string(64 << 10, 'x'))) {
  }
  gone.WaitForNotification();
}

TEST_F(HttpListenerTest, AStreamOutlivesItsListener) {
  const UniqueFd fd = Connect(Start({.patience = kNever}));
  Send(fd, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::shared_ptr<HttpStream> stream = echo_.AwaitStream();
  listener_.reset();
  EXPECT_TRUE(stream->is_gone());
  EXPECT_FALSE(stream->Send("to nobody"));
}

TEST_F(HttpListenerTest, WhoHasAPlaceIsNotPushedOut) {
  const std::string address = Start({.most_connections = 4, .patience = kNever});
  const UniqueFd stays = Connect(address);
  Send(stays, "GET /stays HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::shared_ptr<HttpStream> stream = echo_.AwaitStream();
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(Connect(address));
  for (int i = 0; i < 97; ++i) EXPECT_EQ(ReadAll(silent[static_cast<size_t>(i)]), "");
  EXPECT_FALSE(stream->is_gone());
  stream->End();
  EXPECT_THAT(ReadAll(stays), EndsWith("0\r\n\r\n"));
}

TEST_F(HttpListenerTest, OutlivesWhateverIsSent) {
  const std::string address = Start({.patience = kNever, .keep_alive = true, .handler_threads = 2});
  std::mt19937 random(1);
  const std::string seed = absl::StrCat(
      "POST /sink HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      Post("/a", "body"));
  for (int i = 0; i < 300; ++i) {
    std::string bytes = seed;
    for (int changes = 0; changes < 4; ++changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const UniqueFd fd = Connect(address);
    Send(fd, bytes);
    shutdown(fd.get(), SHUT_WR);
    ReadAll(fd);
  }
  EXPECT_THAT(Ask(address, Post("/a", "still there")), EndsWith("still there"));
}

TEST_F(HttpListenerTest, WantsAKeyThatIsASecret) {
  EXPECT_THAT(
      HttpListener::Start({.listen = "127.0.0.1:0", .certificate_file = "/nonexistent"}, &echo_),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nonexistent")));
}

}  // namespace
}  // namespace slipway
