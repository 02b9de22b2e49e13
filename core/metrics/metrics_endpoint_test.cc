#include "core/metrics/metrics_endpoint.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/fake_clock.h"
#include "tests/common/plain_connection.h"
#include "tests/common/socket_folder.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::Ask;
using ::slipway::testing::Connect;
using ::slipway::testing::ReadAll;
using ::slipway::testing::Send;
using ::slipway::testing::SocketFolder;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kGet[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr absl::Duration kNever = absl::Hours(1);

class MetricsEndpointTest : public ::testing::Test {
 protected:
  std::string Start(MetricsEndpoint::Options options) {
    if (options.listen.empty()) options.listen = "127.0.0.1:0";
    absl::StatusOr<std::unique_ptr<MetricsEndpoint>> started =
        MetricsEndpoint::Start(options, &clock_, [this] {
          ++made_;
          return text_;
        });
    EXPECT_OK(started.status());
    endpoint_ = *std::move(started);
    return endpoint_->address();
  }

  FakeClock clock_;
  std::atomic<int> made_ = 0;
  std::string text_ = "up 1\n";
  std::unique_ptr<MetricsEndpoint> endpoint_;
};

TEST_F(MetricsEndpointTest, AnswersAGet) {
  const std::string address = Start({});
  const std::string answer = Ask(address, kGet);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 5\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nup 1\n"));
}

TEST_F(MetricsEndpointTest, AnswersAHeadWithoutTheText) {
  const std::string answer = Ask(Start({}), "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                            HasSubstr("\r\nContent-Length: 5\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(MetricsEndpointTest, HasOnePathAndOnlyReads) {
  const std::string address = Start({});
  EXPECT_THAT(Ask(address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask(address, "GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask(address, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("\r\nAllow: GET, HEAD\r\n")));
}

TEST_F(MetricsEndpointTest, MakesTheTextOnceASecondAtMost) {
  const std::string address = Start({.fresh = absl::Seconds(1)});
  Ask(address, kGet);
  clock_.Advance(absl::Milliseconds(999));
  Ask(address, kGet);
  EXPECT_EQ(made_, 1);
  clock_.Advance(absl::Milliseconds(1));
  text_ = "up 2\n";
  EXPECT_THAT(Ask(address, kGet), EndsWith("up 2\n"));
  EXPECT_EQ(made_, 2);
}

TEST_F(MetricsEndpointTest, AUnixSocketIsForItsOwnerAlone) {
  const SocketFolder folder;
  const std::string address = Start({.listen = folder.address()});
  EXPECT_EQ(address, folder.address());
  struct stat found = {};
  ASSERT_EQ(stat(address.substr(5).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  EXPECT_THAT(Ask(address, kGet), EndsWith("up 1\n"));
}

TEST_F(MetricsEndpointTest, SaysWhenItCannotListen) {
  const std::string address = Start({});
  EXPECT_THAT(MetricsEndpoint::Start({.listen = address}, &clock_, [] { return ""; }),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(address)));
}

TEST_F(MetricsEndpointTest, EndsARequestThatIsTooLong) {
  const std::string address = Start({.patience = kNever});
  const std::string header =
      absl::StrCat("GET /metrics HTTP/1.1\r\nA: ", std::string(1 << 20, 'a'), "\r\n\r\n");
  EXPECT_THAT(Ask(address, header), Not(HasSubstr("200 OK")));
  EXPECT_THAT(Ask(address, absl::StrCat("GET /", std::string(1 << 20, 'a'))),
              Not(HasSubstr("200 OK")));
  EXPECT_EQ(made_, 0);
  EXPECT_THAT(Ask(address, kGet), EndsWith("up 1\n"));
}

TEST_F(MetricsEndpointTest, ReadsNoBody) {
  const std::string address = Start({.patience = kNever});
  const UniqueFd fd = Connect(address);
  Send(fd, "GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n");
  EXPECT_THAT(ReadAll(fd), Not(HasSubstr("200 OK")));
  EXPECT_THAT(Ask(address, kGet), EndsWith("up 1\n"));
}

TEST_F(MetricsEndpointTest, EndsConnectionsThatSayNothingOrReadNothing) {
  text_ = std::string(64 << 20, 'x');
  const std::string address = Start({.patience = absl::Milliseconds(300)});
  const UniqueFd reads_nothing = Connect(address);
  Send(reads_nothing, kGet);
  const UniqueFd says_nothing = Connect(address);
  const UniqueFd says_half = Connect(address);
  Send(says_half, "GET /metr");
  // They came after it, so its time is over when theirs is.
  EXPECT_EQ(ReadAll(says_nothing), "");
  EXPECT_EQ(ReadAll(says_half), "");
  const size_t had = ReadAll(reads_nothing).size();
  EXPECT_LT(had, text_.size());
}

TEST_F(MetricsEndpointTest, ClosesTheFirstOfTooManyConnections) {
  const std::string address = Start({.most_connections = 4, .patience = kNever});
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(Connect(address));
  for (int i = 0; i < 96; ++i) EXPECT_EQ(ReadAll(silent[static_cast<size_t>(i)]), "");
  // The other four are still there, and whoever means it is answered.
  EXPECT_THAT(Ask(address, kGet), EndsWith("up 1\n"));
  Send(silent[99], kGet);
  EXPECT_THAT(ReadAll(silent[99]), EndsWith("up 1\n"));
}

TEST_F(MetricsEndpointTest, OutlivesWhateverIsSent) {
  const std::string address = Start({.patience = kNever});
  std::mt19937 random(1);
  const std::string seed =
      "GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n";
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
  EXPECT_THAT(Ask(address, kGet), EndsWith("up 1\n"));
}

TEST_F(MetricsEndpointTest, EndsWithConnectionsOpen) {
  const std::string address = Start({.patience = kNever});
  const UniqueFd silent = Connect(address);
  EXPECT_THAT(Ask(address, kGet), EndsWith("up 1\n"));
  endpoint_.reset();
  EXPECT_EQ(ReadAll(silent), "");
}

}  // namespace
}  // namespace slipway
