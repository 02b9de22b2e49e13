#include "server/web/guard.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::web {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::StatusCode kDenied = absl::StatusCode::kPermissionDenied;

HttpRequest Make(std::string method, HttpHeaders headers) {
  HttpRequest request;
  request.method = std::move(method);
  request.headers = std::move(headers);
  return request;
}

TEST(GuardTest, KnowsWhatAPageOfThisMachineIsCalled) {
  ASSERT_OK_AND_ASSIGN(const PageOrigins page, OriginsOf("127.0.0.1:7480", false, ""));
  EXPECT_THAT(page.origins,
              ElementsAre("http://127.0.0.1:7480", "http://localhost:7480", "http://[::1]:7480"));
  EXPECT_FALSE(IsSecure(page));
}

TEST(GuardTest, TakesTheNameOfAProxy) {
  ASSERT_OK_AND_ASSIGN(const PageOrigins page,
                       OriginsOf("127.0.0.1:7480", false, "https://lab.example"));
  EXPECT_THAT(page.origins, ElementsAre("https://lab.example"));
  EXPECT_TRUE(IsSecure(page));
  for (const char* wrong : {"lab.example", "https://", "https://a/b", "ftp://a", "https://a b"}) {
    EXPECT_THAT(OriginsOf("127.0.0.1:1", false, wrong),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--origin")));
  }
}

TEST(GuardTest, OverTlsAnyNameIsTheCertificates) {
  ASSERT_OK_AND_ASSIGN(const PageOrigins page, OriginsOf("0.0.0.0:443", true, ""));
  EXPECT_THAT(page.origins, IsEmpty());
  EXPECT_TRUE(IsSecure(page));
  EXPECT_OK(CheckOrigin(Make("POST", {{"host", "a:1"}, {"origin", "https://a:1"}}), page));
  EXPECT_THAT(CheckOrigin(Make("POST", {{"host", "a:1"}, {"origin", "http://a:1"}}), page),
              StatusIs(kDenied));
}

TEST(GuardTest, ANameThatWasMadeToStandForThisMachineIsAnothersHost) {
  ASSERT_OK_AND_ASSIGN(const PageOrigins page, OriginsOf("127.0.0.1:7480", false, ""));
  EXPECT_OK(CheckOrigin(Make("GET", {{"host", "localhost:7480"}}), page));
  EXPECT_THAT(CheckOrigin(Make("GET", {{"host", "evil.example:7480"}}), page), StatusIs(kDenied));
  EXPECT_THAT(CheckOrigin(Make("GET", {}), page), StatusIs(kDenied));
}

TEST(GuardTest, OnlyThePageItselfChangesSomething) {
  ASSERT_OK_AND_ASSIGN(const PageOrigins page, OriginsOf("127.0.0.1:7480", false, ""));
  const auto post = [&page](HttpHeaders headers) {
    headers.emplace_back("host", "127.0.0.1:7480");
    return CheckOrigin(Make("POST", std::move(headers)), page);
  };
  EXPECT_OK(post({{"origin", "http://127.0.0.1:7480"}}));
  EXPECT_OK(post({{"sec-fetch-site", "same-origin"}}));
  EXPECT_THAT(post({}), StatusIs(kDenied));
  EXPECT_THAT(post({{"origin", "null"}}), StatusIs(kDenied));
  EXPECT_THAT(post({{"origin", "http://127.0.0.1:8080"}}), StatusIs(kDenied));
  EXPECT_THAT(post({{"origin", "http://evil.example"}, {"sec-fetch-site", "same-origin"}}),
              StatusIs(kDenied));
  EXPECT_THAT(post({{"sec-fetch-site", "cross-site"}}), StatusIs(kDenied));
}

}  // namespace
}  // namespace slipway::web
