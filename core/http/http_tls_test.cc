// The listener over TLS, with certificates of an authority that is not ours.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/http/http_listener.h"
#include "core/rpc/tls_stream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/company.h"
#include "tests/common/plain_connection.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::Company;
using ::slipway::testing::Connect;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Mirror final : public HttpHandler {
 public:
  HttpAdmission Admit(const HttpRequest&) override { return {.max_body_bytes = 1 << 20}; }
  HttpResponse Answer(const HttpRequest& request, std::unique_ptr<HttpBodySink>) override {
    return {.body = request.body};
  }
  HttpResponse AnswerError(const absl::Status&) override { return {.status = 500}; }
};

void Await(const TlsStream& stream, TlsProgress progress) {
  pollfd waits = {stream.fd(),
                  static_cast<int16_t>(progress == TlsProgress::kWantsWrite ? POLLOUT : POLLIN), 0};
  ASSERT_EQ(poll(&waits, 1, 60'000), 1);
}

// All that comes, or "" where there is no handshake.
std::string AskByTls(const std::string& address, std::string request) {
  UniqueFd fd = Connect(address);
  fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  absl::StatusOr<TlsStream> stream = TlsStream::Call(std::move(fd));
  if (!stream.ok()) return std::string(stream.status().message());
  for (;;) {
    const TlsProgress progress = stream->Handshake();
    if (progress == TlsProgress::kDone) break;
    if (progress == TlsProgress::kOver) return "";
    Await(*stream, progress);
  }
  while (!request.empty()) {
    const TlsProgress progress = stream->Write(request);
    if (progress == TlsProgress::kOver) return "";
    if (progress != TlsProgress::kDone) Await(*stream, progress);
  }
  std::string answer;
  for (;;) {
    const TlsProgress progress = stream->Read(answer, 64 << 20);
    if (progress == TlsProgress::kOver || progress == TlsProgress::kDone) return answer;
    Await(*stream, progress);
  }
}

class HttpTlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("tls"));
    file_ = JoinPath(folder_.path(), "page.pem");
    Write(company_.Certificate("DNS:lab.example"));
  }
  void Write(absl::string_view pem) {
    ASSERT_OK(WriteFileAtomically(file_, pem, /*durable=*/false, 0600));
  }
  std::string Start() {
    absl::StatusOr<std::unique_ptr<HttpListener>> started = HttpListener::Start(
        {.listen = "127.0.0.1:0", .certificate_file = file_, .keep_alive = true}, &mirror_);
    EXPECT_OK(started.status());
    listener_ = *std::move(started);
    return listener_->address();
  }
  static std::string Post(const std::string& body) {
    return absl::StrCat("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ",
                        body.size(), "\r\n\r\n", body);
  }

  const Company company_;
  TemporaryFolder folder_;
  std::string file_;
  Mirror mirror_;
  std::unique_ptr<HttpListener> listener_;
};

TEST_F(HttpTlsTest, AnswersByTlsAlone) {
  const std::string address = Start();
  const std::string body(300'000, 'x');
  EXPECT_THAT(AskByTls(address, Post(body)), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith(body)));
  EXPECT_THAT(slipway::testing::Ask(address, Post("in the open")), Not(HasSubstr("HTTP/1.1")));
}

TEST_F(HttpTlsTest, TakesACertificateThatWasReplacedAndNoneThatIsUnsound) {
  const std::string address = Start();
  Write(company_.Certificate("DNS:lab.example,DNS:page.example"));
  EXPECT_THAT(AskByTls(address, Post("new")), EndsWith("new"));
  Write("half of a cert");
  EXPECT_THAT(AskByTls(address, Post("kept")), EndsWith("kept"));
}

TEST_F(HttpTlsTest, WantsTheKeyToBeASecret) {
  ASSERT_EQ(chmod(file_.c_str(), 0644), 0);
  EXPECT_THAT(HttpListener::Start({.listen = "127.0.0.1:0", .certificate_file = file_}, &mirror_),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr(file_)));
}

}  // namespace
}  // namespace slipway
