#include "core/http/url.h"

#include "absl/strings/str_cat.h"
#include "core/http/http_message.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(UrlTest, TakesPathAndQueryApart) {
  ASSERT_OK_AND_ASSIGN(const Url url, ParseUrl("/api/v1/a%2Fb?x=1&name=a+b%26c&flag&=y#there"));
  EXPECT_THAT(url.path, ElementsAre("api", "v1", "a/b"));
  EXPECT_THAT(url.query,
              ElementsAre(Pair("x", "1"), Pair("name", "a b&c"), Pair("flag", ""), Pair("", "y")));
}

TEST(UrlTest, KeepsEmptyPartsAndDots) {
  ASSERT_OK_AND_ASSIGN(const Url root, ParseUrl("/"));
  EXPECT_THAT(root.path, IsEmpty());
  ASSERT_OK_AND_ASSIGN(const Url odd, ParseUrl("//../a+b/"));
  EXPECT_THAT(odd.path, ElementsAre("", "..", "a+b", ""));
}

TEST(UrlTest, RefusesWhatIsNone) {
  for (const char* target : {"", "x", "http://a/b", "/%", "/%4", "/%zz", "/a?b=%", "/%00", "/\x01",
                             "/%ff%fe", "/a?\x7f"}) {
    EXPECT_THAT(ParseUrl(target), StatusIs(absl::StatusCode::kInvalidArgument)) << target;
  }
  std::string deep, wide = "/?";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&deep, "/a");
  for (int i = 0; i < 300; ++i) absl::StrAppend(&wide, "a=b&");
  EXPECT_THAT(ParseUrl(deep), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("deep")));
  EXPECT_THAT(ParseUrl(wide), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("pairs")));
}

TEST(HttpRequestTest, FindsHeadersAndCookies) {
  HttpRequest request;
  request.headers = {{"host", "a"}, {"cookie", "x=1; session = abc=d ;y"}, {"cookie", "z=2"}};
  EXPECT_EQ(request.Header("host"), "a");
  EXPECT_EQ(request.Header("origin"), "");
  EXPECT_EQ(request.Cookie("x"), "1");
  EXPECT_EQ(request.Cookie("session"), "abc=d");
  EXPECT_EQ(request.Cookie("z"), "2");
  EXPECT_EQ(request.Cookie("y"), "");
}

}  // namespace
}  // namespace slipway
