#include "server/web/sessions.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/web/testing/fake_upstream.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::web {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

class SessionsTest : public ::testing::Test {
 protected:
  Sessions Make(SessionLimits limits = {}, std::string own_token = "") {
    return Sessions(limits, server_.Connector(), std::move(own_token), &clock_);
  }
  FakePageServer server_;
  FakeClock clock_;
};

TEST_F(SessionsTest, KnowsWhoSignedInByHisCookieAlone) {
  Sessions sessions = Make();
  ASSERT_OK_AND_ASSIGN(const auto ada, sessions.SignIn(FakePageServer::kAdministrator, "1"));
  ASSERT_OK_AND_ASSIGN(const auto bob, sessions.SignIn(FakePageServer::kUser, "1"));
  EXPECT_TRUE(sessions.Find(ada.cookie)->is_administrator);
  EXPECT_FALSE(sessions.Find(bob.cookie)->is_administrator);
  EXPECT_EQ(sessions.Find("").get(), nullptr);
  EXPECT_EQ(sessions.Find(FakePageServer::kUser).get(), nullptr);
  sessions.SignOut(ada.cookie);
  EXPECT_EQ(sessions.Find(ada.cookie).get(), nullptr);
  EXPECT_NE(sessions.Find(bob.cookie).get(), nullptr);
}

TEST_F(SessionsTest, EndsAfterIdleTimeAndAfterAWeek) {
  Sessions sessions = Make({.idle = absl::Hours(1), .longest = absl::Hours(3)});
  ASSERT_OK_AND_ASSIGN(const auto idle, sessions.SignIn(FakePageServer::kUser, "1"));
  ASSERT_OK_AND_ASSIGN(const auto used, sessions.SignIn(FakePageServer::kUser, "1"));
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(absl::Minutes(30));
    EXPECT_NE(sessions.Find(used.cookie).get(), nullptr) << i;
  }
  EXPECT_EQ(sessions.Find(idle.cookie).get(), nullptr);
  clock_.Advance(absl::Minutes(31));
  EXPECT_EQ(sessions.Find(used.cookie).get(), nullptr);
}

TEST_F(SessionsTest, BoundsWrongTokensOfAnAddress) {
  Sessions sessions = Make({.most_failures = 2, .failure_pause = absl::Seconds(10)});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(sessions.SignIn("wrong", "1"), StatusIs(absl::StatusCode::kUnauthenticated));
  }
  EXPECT_THAT(sessions.SignIn(FakePageServer::kUser, "1"),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_OK(sessions.SignIn(FakePageServer::kAdministrator, "2").status());
  // Whose token is known already is not shut out with those of his address.
  EXPECT_OK(sessions.SignIn(FakePageServer::kAdministrator, "1").status());
  clock_.Advance(absl::Seconds(10));
  EXPECT_OK(sessions.SignIn(FakePageServer::kUser, "1").status());
}

TEST_F(SessionsTest, ForgetsWhoseTokenIsNoneAnyMore) {
  Sessions sessions = Make();
  ASSERT_OK_AND_ASSIGN(const auto one, sessions.SignIn(FakePageServer::kUser, "1"));
  ASSERT_OK_AND_ASSIGN(const auto two, sessions.SignIn(FakePageServer::kUser, "1"));
  sessions.Forget(*one.signed_in);
  EXPECT_EQ(sessions.Find(two.cookie).get(), nullptr);
  EXPECT_EQ(sessions.size(), 0u);
}

TEST_F(SessionsTest, TheOneThatWasUsedLeastGoesWhenThereAreTooMany) {
  Sessions sessions = Make({.most_sessions = 2});
  ASSERT_OK_AND_ASSIGN(const auto one, sessions.SignIn(FakePageServer::kUser, "1"));
  clock_.Advance(absl::Seconds(1));
  ASSERT_OK_AND_ASSIGN(const auto two, sessions.SignIn(FakePageServer::kUser, "1"));
  clock_.Advance(absl::Seconds(1));
  sessions.Find(one.cookie);
  ASSERT_OK(sessions.SignIn(FakePageServer::kUser, "1").status());
  EXPECT_EQ(sessions.Find(two.cookie).get(), nullptr);
  EXPECT_NE(sessions.Find(one.cookie).get(), nullptr);
}

TEST_F(SessionsTest, WantsItsOwnTokenWhereTheServerAsksNobody) {
  Sessions sessions = Make({}, FakePageServer::kUser);
  EXPECT_THAT(sessions.SignIn(FakePageServer::kAdministrator, "1"),
              StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_OK(sessions.SignIn(FakePageServer::kUser, "1").status());
}

TEST_F(SessionsTest, AsksTheServerOnceForATokenThatComesWithEachRequest) {
  Sessions sessions = Make();
  EXPECT_EQ(sessions.FindKnownToken(FakePageServer::kUser).get(), nullptr);
  ASSERT_OK(sessions.FindByToken(FakePageServer::kUser, "1").status());
  const size_t calls = server_.calls().size();
  ASSERT_OK(sessions.FindByToken(FakePageServer::kUser, "1").status());
  EXPECT_EQ(server_.calls().size(), calls);
  EXPECT_NE(sessions.FindKnownToken(FakePageServer::kUser).get(), nullptr);
}

TEST_F(SessionsTest, AServerThatIsAwayIsNoWrongToken) {
  Sessions sessions = Make({.most_failures = 1});
  server_.SetStatus(absl::UnavailableError("away"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(sessions.SignIn(FakePageServer::kUser, "1"),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr("away")));
  }
}

}  // namespace
}  // namespace slipway::web
