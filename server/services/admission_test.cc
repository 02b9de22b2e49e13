#include "server/services/admission.h"

#include <fstream>
#include <string>

#include "core/base/files.h"
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

class ReadToken : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> Read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return Admission::ReadToken(path_);
  }
  const TemporaryFolder folder_ = *TemporaryFolder::Create("admission_test");
  const std::string path_ = JoinPath(folder_.path(), "token");
};

TEST_F(ReadToken, DropsBlanksAroundIt) {
  EXPECT_EQ(Read("0123456789abcdef").value(), kToken);
  EXPECT_EQ(Read(" \t0123456789abcdef\r\n").value(), kToken);
}

TEST_F(ReadToken, WantsSixteenPrintableCharacters) {
  for (const std::string text : {"", "\n", "0123456789abcde", "01234567 89abcdef0",
                                 "0123456789abcdef\x7f", "0123456789abcde\xc3\xa9"}) {
    EXPECT_THAT(Read(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                     AllOf(HasSubstr(path_), HasSubstr("at least 16"))))
        << text;
  }
}

TEST_F(ReadToken, SaysWhichFlagNamesAFileThatIsNotThereOrTooLarge) {
  EXPECT_THAT(Admission::ReadToken(JoinPath(folder_.path(), "none")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("--token-file")));
  EXPECT_EQ(Read(std::string(4'096, 'a'))->size(), 4'096);
  EXPECT_FALSE(Read(std::string(4'097, 'a')).ok());
}

}  // namespace
}  // namespace slipway::server
