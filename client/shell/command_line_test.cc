#include "client/shell/command_line.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(CommandLineTest, NamesCommandWordsAndOptions) {
  ASSERT_OK_AND_ASSIGN(const CommandLine line,
                       ParseCommandLine("y,  z = call net x 3 function=main samples=7 # y = 1"));
  EXPECT_THAT(line.results, ElementsAre("y", "z"));
  EXPECT_EQ(line.command, "call");
  EXPECT_THAT(line.words, ElementsAre("net", "x", "3"));
  EXPECT_THAT(line.options, ElementsAre(Pair("function", "main"), Pair("samples", "7")));
  EXPECT_EQ(*line.Find("function"), "main");
  EXPECT_EQ(line.Find("other"), nullptr);
}

TEST(CommandLineTest, LinesWithoutACommand) {
  for (const char* const text : {"", "   ", "# y = call", "\t\r"}) {
    ASSERT_OK_AND_ASSIGN(const CommandLine line, ParseCommandLine(text));
    EXPECT_EQ(line.command, "");
    EXPECT_THAT(line.words, IsEmpty());
  }
}

TEST(CommandLineTest, QuotesHoldAWordTogether) {
  ASSERT_OK_AND_ASSIGN(const CommandLine line,
                       ParseCommandLine(R"("a, b", c = put "my file=\"1\\2\".npy")"));
  EXPECT_THAT(line.results, ElementsAre("a, b", "c"));
  EXPECT_THAT(line.words, ElementsAre("my file=\"1\\2\".npy"));
}

TEST(CommandLineTest, WordsThatOnlyLookLikeOptions) {
  ASSERT_OK_AND_ASSIGN(const CommandLine line, ParseCommandLine("put ./a=b.npy A=1 =x"));
  EXPECT_THAT(line.words, ElementsAre("./a=b.npy", "A=1", "=x"));
  EXPECT_THAT(line.options, IsEmpty());
}

TEST(CommandLineTest, WhatIsWrongIsTold) {
  const auto wrong = [](absl::string_view line, const std::string& what) {
    EXPECT_THAT(ParseCommandLine(line), StatusIs(kInvalid, HasSubstr(what))) << line;
  };
  wrong("x =", "command is missing");
  wrong("= call net", "name is missing");
  wrong(", y = call net", "name is missing");
  wrong("x y = call net", "\",\" is missing");
  wrong("x, = call net", "name is missing");
  wrong("x, x = call net", "given twice");
  wrong("\"\" = call net", "empty");
  wrong("x = y = call", "too many");
  wrong("put \"a", "not closed");
  wrong("put \"a\\", "not closed");
  wrong("put \"a\"b", "blank is missing");
  wrong("put b\"a\"", "blank is missing");
  wrong("time net samples=1 samples=2", "given twice");
  wrong(std::string(kMaxCommandBytes + 1, 'x'), "65536 bytes");
}

TEST(CommandLineTest, Numbers) {
  ASSERT_OK_AND_ASSIGN(const CommandLine line, ParseCommandLine("time net samples=7 x=-1 y=1e-3"));
  EXPECT_EQ(*line.Integer("samples", 1, 0, 10), 7);
  EXPECT_EQ(*line.Integer("other", 5, 0, 10), 5);
  EXPECT_THAT(line.Integer("samples", 1, 8, 10), StatusIs(kInvalid, HasSubstr("8 to 10")));
  EXPECT_THAT(line.Integer("y", 1, 0, 10), StatusIs(kInvalid));
  EXPECT_EQ(*line.Real("y", 0), 1e-3);
  EXPECT_EQ(*line.Real("z", 2), 2);
  EXPECT_THAT(line.Real("x", 0), StatusIs(kInvalid, HasSubstr("not negative")));
}

TEST(CommandLineTest, Types) {
  EXPECT_EQ(*ParseTensorType("f32[1,64]"), (TensorType{DataType::kFloat32, {1, 64}}));
  EXPECT_EQ(*ParseTensorType("i8[]"), (TensorType{DataType::kInt8, {}}));
  for (const char* const text : {"f32", "f32[n]", "f33[1]", "f32[-1]", "[1]", "", "f32[1"}) {
    EXPECT_THAT(ParseTensorType(text), StatusIs(kInvalid)) << text;
  }
}

TEST(CommandLineTest, Ranges) {
  const auto range = [](absl::string_view text) {
    const absl::StatusOr<Range> parsed = ParseRange(text, 10);
    EXPECT_THAT(parsed, IsOk()) << text;
    return parsed.ok() ? std::make_pair(parsed->begin, parsed->size) : std::make_pair(-1L, -1L);
  };
  EXPECT_THAT(range("2:5"), Pair(2, 3));
  EXPECT_THAT(range("2:"), Pair(2, 8));
  EXPECT_THAT(range(":5"), Pair(0, 5));
  EXPECT_THAT(range(":"), Pair(0, 10));
  EXPECT_THAT(range("10:10"), Pair(10, 0));
  for (const char* const text : {"5", "5:4", "0:11", "-1:3", "a:b", "", "1:2:3"}) {
    EXPECT_THAT(ParseRange(text, 10), StatusIs(kInvalid)) << text;
  }
}

}  // namespace
}  // namespace slipway::cli
