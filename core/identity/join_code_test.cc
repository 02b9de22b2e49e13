#include "core/identity/join_code.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kText[] = "000000-000000-0000Q9-W1DFWF-077YMG-A183F5";

// The first 100 bits of the SHA-256 of "abc" and of nothing, as Python has them in Crockford's base 32.
TEST(JoinCodeTest, AuthoritiesStandInItByTheirFingerprint) {
  EXPECT_EQ(AuthorityText(Digest::Of("abc")), "Q9W1DFWF077YMGA183F5");
  EXPECT_EQ(AuthorityText(Digest::Of("")), "WERC8GMRZGE196QVYK49");
}

TEST(JoinCodeTest, IsForOneAuthority) {
  const JoinCode code = JoinCode::New(Digest::Of("abc"));
  EXPECT_TRUE(code.IsFor(Digest::Of("abc")));
  EXPECT_FALSE(code.IsFor(Digest::Of("abd")));
  EXPECT_FALSE(JoinCode().IsFor(Digest::Of("abc")));
  // All of the characters count.
  for (size_t i = 0; i < code.authority.size(); ++i) {
    JoinCode other = code;
    other.authority[i] = other.authority[i] == '0' ? '1' : '0';
    EXPECT_FALSE(other.IsFor(Digest::Of("abc"))) << i;
  }
}

TEST(JoinCodeTest, IsReadBack) {
  for (int i = 0; i < 50; ++i) {
    const JoinCode code = JoinCode::New(Digest::Of("abc"));
    const std::string text = code.ToString();
    EXPECT_THAT(text, MatchesRegex("([0-9A-HJKMNP-TV-Z]{6}-){5}[0-9A-HJKMNP-TV-Z]{6}"));
    ASSERT_OK_AND_ASSIGN(const JoinCode read, JoinCode::Parse(text));
    EXPECT_EQ(read.secret, code.secret);
    EXPECT_EQ(read.authority, code.authority);
    EXPECT_TRUE(read.IsFor(Digest::Of("abc")));
  }
}

TEST(JoinCodeTest, SecretsHaveSixteenCharactersAndDiffer) {
  const JoinCode a = JoinCode::New(Digest::Of("abc"));
  const JoinCode b = JoinCode::New(Digest::Of("abc"));
  EXPECT_EQ(a.secret.size(), 16u);
  EXPECT_NE(a.secret, b.secret);
  // Every bit is random: each character takes many values. 8 or fewer in 200 draws of 32 has a chance of 1e-110.
  for (size_t i = 0; i < a.secret.size(); ++i) {
    std::string seen;
    for (int draw = 0; draw < 200; ++draw) {
      const char c = JoinCode::New(Digest::Of("abc")).secret[i];
      if (seen.find(c) == std::string::npos) seen.push_back(c);
    }
    EXPECT_GT(seen.size(), 8u) << i;
  }
}

TEST(JoinCodeTest, ToleratesWhatPeopleType) {
  const std::string lower = absl::AsciiStrToLower(kText);
  for (const std::string& text :
       {lower, absl::StrReplaceAll(kText, {{"-", ""}}), absl::StrReplaceAll(kText, {{"-", " "}}),
        absl::StrCat(" \t", kText, "\r\n"), absl::StrReplaceAll(kText, {{"0", "O"}}),
        absl::StrReplaceAll(kText, {{"1", "I"}}), absl::StrReplaceAll(kText, {{"1", "l"}}),
        absl::StrReplaceAll(lower, {{"0", "o"}, {"1", "i"}}), absl::StrCat("--", kText, "--")}) {
    ASSERT_OK_AND_ASSIGN(const JoinCode code, JoinCode::Parse(text));
    EXPECT_EQ(code.ToString(), kText) << text;
    EXPECT_TRUE(code.IsFor(Digest::Of("abc"))) << text;
  }
}

TEST(JoinCodeTest, RefusesOtherLengthsWithoutRepeatingThem) {
  const std::string all = kText;
  for (const std::string& text :
       {std::string(), std::string("---"), all.substr(1), all.substr(0, all.size() - 1),
        absl::StrCat(all, "0"), absl::StrCat(all, all), std::string(100'000, 'Q')}) {
    EXPECT_THAT(JoinCode::Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("Q9"))))
        << text.size();
  }
  EXPECT_THAT(JoinCode::Parse(all.substr(1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("35")));
}

TEST(JoinCodeTest, RefusesOtherCharactersWithoutRepeatingThem) {
  for (const char c : {'U', 'u', '_', '.', '/', '\0', '\x7f', '\xe2', '='}) {
    std::string text = kText;
    text[3] = c;
    const absl::Status status = JoinCode::Parse(text).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("byte 4 ")));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("W1DFWF")));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("000")));
  }
}

}  // namespace
}  // namespace slipway
