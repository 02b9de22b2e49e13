#include "tests/common/json.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ParseJson, TakesNothingButJson) {
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson("{\"a\": [1, -0.5, null, \"\\u00e9\"]}\n"));
  EXPECT_EQ(json["a"][1], -0.5);
  EXPECT_EQ(json["a"][3], "é");
  for (const std::string text : {"", "{", "{\"a\": 1,}", "{a: 1}", "[1] 2", "nan", "'a'",
                                 "\"\x01\"", "\"\xff\"", "[01]", "{\"a\": 1} // comment"}) {
    EXPECT_THAT(ParseJson(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
}

TEST(ParseJson, RefusesAKeyThatComesTwice) {
  EXPECT_OK(ParseJson("[{\"a\": {\"a\": 1}, \"b\": {\"a\": 1}}, {\"a\": 2}]"));
  EXPECT_THAT(ParseJson("{\"b\": [{\"a\": 1, \"c\": {}, \"a\": 1}]}"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"a\" comes twice")));
}

TEST(IsJson, ComparesValues) {
  EXPECT_THAT("{\"a\": 1, \"b\": [2]}", IsJson("{\"b\": [2.0],\n\"a\": 1}"));
  EXPECT_THAT("{\"a\": 1, \"b\": [2]}", Not(IsJson("{\"a\": 1}")));
  EXPECT_THAT("{\"a\": 1}", Not(IsJson("{\"a\": \"1\"}")));
  EXPECT_THAT("{", Not(IsJson("{")));
  ::testing::StringMatchResultListener why;
  EXPECT_FALSE(
      ::testing::ExplainMatchResult(IsJson("{\"a\": 1}"), std::string("{\"a\": 2}"), &why));
  EXPECT_THAT(why.str(), HasSubstr("\"path\":\"/a\""));
}

}  // namespace
}  // namespace slipway::testing
