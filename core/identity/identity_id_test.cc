#include "core/identity/identity_id.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(IdentityIdTest, NewOnesAreIdsAndDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) {
    const std::string id = NewIdentityId();
    EXPECT_TRUE(IsIdentityId(id)) << id;
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 100u);
}

TEST(IdentityIdTest, OthersAreNone) {
  EXPECT_TRUE(IsIdentityId("0123456789abcdef"));
  for (const char* const text : {"", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF",
                                 "0123456789abcdeg", "0123456789abcde\n", "../../../../etc/p"}) {
    EXPECT_FALSE(IsIdentityId(text)) << text;
  }
}

TEST(IdentityIdTest, AreReadBackFromUris) {
  EXPECT_EQ(IdentityUri("0123456789abcdef"), "urn:slipway:identity:0123456789abcdef");
  EXPECT_EQ(IdentityOfUri("urn:slipway:identity:0123456789abcdef"), "0123456789abcdef");
  for (const absl::string_view uri :
       {absl::string_view(), absl::string_view("0123456789abcdef"),
        absl::string_view("urn:slipway:identity:"),
        absl::string_view("urn:slipway:identity:0123456789abcde"),
        absl::string_view("URN:slipway:identity:0123456789abcdef"),
        absl::string_view(" urn:slipway:identity:0123456789abcdef"),
        absl::string_view("urn:slipway:identity:0123456789abcdef\0", 38),
        absl::string_view("urn:slipway:other:0123456789abcdef")}) {
    EXPECT_EQ(IdentityOfUri(uri), std::nullopt) << uri;
  }
}

TEST(IdentityNameTest, IsLowerCaseWithoutDots) {
  for (const std::string& name : {std::string("a"), std::string("7"), std::string("ada"),
                                  std::string("board_7-a"), std::string(63, 'x')}) {
    EXPECT_OK(CheckIdentityName(name));
  }
  for (const std::string& name :
       {std::string(), std::string("-a"), std::string("_a"), std::string("a.b"), std::string("Ada"),
        std::string("a b"), std::string("a/b"), std::string("a\n"), std::string("a\0b", 3),
        std::string("\xc3\xa4"), std::string(64, 'x')}) {
    EXPECT_THAT(CheckIdentityName(name),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no name")))
        << name;
  }
  EXPECT_THAT(CheckIdentityName("a\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"a\\n\"")));
}

}  // namespace
}  // namespace slipway
