#include "server/services/admission.h"

#include <string>

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

absl::Status Check(const std::string& authorization) {
  return Admission(kToken).Check(authorization);
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
  EXPECT_OK(Admission("").Check(""));
  EXPECT_OK(Admission("").Check("Bearer anything"));
}

}  // namespace
}  // namespace slipway::server
