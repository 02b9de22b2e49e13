#include "server/services/admission.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kToken[] = "0123456789abcdef";

absl::Status Check(const std::string& authorization, const std::string& token = kToken) {
  return Admission({.token = token}).Admit({.authorization = authorization}).status();
}

TEST(Admission, TakesTheToken) { EXPECT_OK(Check("Bearer 0123456789abcdef")); }

TEST(Admission, RefusesEveryOtherWithoutRepeatingIt) {
  for (const std::string given : {
           "",
           "0",
           "1",
           "0123456789abcde",                   // begins as the right one does
           "0123456789abcdef0",                 // begins with the right one
           "0123456789abcdef0123456789abcdef",  // is the right one, twice
           "0123456789abcdeF",
           "x123456789abcdef",
           " 0123456789abcdef",
       }) {
    EXPECT_THAT(Check("Bearer " + given),
                StatusIs(absl::StatusCode::kUnauthenticated,
                         AllOf(HasSubstr("--token-file"), Not(HasSubstr("0123")))))
        << given;
  }
}

TEST(Admission, WantsABearer) {
  for (const std::string given :
       {"", "Bearer", "Bearer0123456789abcdef", "bearer 0123456789abcdef", "0123456789abcdef"}) {
    EXPECT_THAT(Check(given), StatusIs(absl::StatusCode::kUnauthenticated)) << given;
  }
}

TEST(Admission, AsksNobodyWithoutAToken) {
  EXPECT_OK(Check("", ""));
  EXPECT_OK(Check("Bearer anything", ""));
}

TEST(Admission, MakesTheCaller) {
  const absl::Time deadline = absl::FromUnixSeconds(7);
  const auto caller = Admission({}).Admit(
      {.request_id = "call 1", .deadline = deadline, .address = "ipv4:127.0.0.1:1"});
  ASSERT_OK(caller);
  EXPECT_EQ(caller->owner, "local");
  EXPECT_EQ(caller->deadline, deadline);
  EXPECT_EQ(caller->request_id, "call 1");
  EXPECT_EQ(caller->address, "ipv4:127.0.0.1:1");
  EXPECT_EQ(caller->roles, RoleSet({Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin}));
  EXPECT_TRUE(caller->is_own_user);
  EXPECT_EQ(caller->identity, "");
}

TEST(Admission, WhoHasTheTokenAloneIsNoAdministrator) {
  const Admission admission({.token = kToken});
  for (const auto& [address, is_admin] :
       {std::pair("ipv4:127.0.0.1:1", false), std::pair("unix:", true),
        std::pair("unix:/run/slipway", true)}) {
    const auto caller =
        admission.Admit({.authorization = "Bearer 0123456789abcdef", .address = address});
    ASSERT_OK(caller);
    EXPECT_EQ(caller->roles.Has(Role::kAdmin), is_admin) << address;
    EXPECT_TRUE(caller->roles.Has(Role::kUser)) << address;
  }
}

TEST(Admission, KnowsTheServersOwnWorkers) {
  for (const std::string token : {"", kToken}) {
    const Admission admission({.token = token, .own_worker = "fedcba9876543210"});
    const auto own = admission.Admit({.authorization = "Bearer fedcba9876543210"});
    ASSERT_OK(own);
    EXPECT_TRUE(own->is_own_worker);
    EXPECT_FALSE(own->is_own_user);
    EXPECT_EQ(own->roles, RoleSet({Role::kWorker}));
    const auto other = admission.Admit({.authorization = "Bearer 0123456789abcdef"});
    ASSERT_OK(other);
    EXPECT_FALSE(other->is_own_worker);
  }
}

TEST(Admission, RefusesRequestIdsThatAreNone) {
  const std::string longest(128, 'x');
  for (const std::string& good : {std::string(), longest}) {
    EXPECT_OK(Admission({}).Admit({.request_id = good}));
  }
  for (const std::string& bad : {longest + "x", std::string("a\nb")}) {
    EXPECT_THAT(Admission({}).Admit({.request_id = bad}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x-request-id")));
  }
}

}  // namespace
}  // namespace slipway::server
