#include "core/base/flags.h"

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOk;
using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FlagsTest : public ::testing::Test {
 protected:
  FlagsTest() : flags_("tool [flags] FILE", "Does things.") {
    flags_.Add("server", &server_, "ADDRESS", "Server to use.");
    flags_.Add("json", &json_, "Print JSON.");
    flags_.Add("max-samples", &samples_, 1, 1000, "N", "Samples.");
    flags_.Add("limit", &limit_, "DURATION", "Time limit.");
    flags_.Add("input", &inputs_, "NAME=FILE", "An input.");
    flags_.AddBytes("memory", &memory_, 1 << 20, int64_t{1} << 40, "Memory limit.");
  }

  absl::StatusOr<std::vector<std::string>> Parse(std::vector<std::string> arguments) {
    return flags_.Parse(arguments);
  }

  std::string server_ = "here";
  bool json_ = false;
  int64_t samples_ = 100;
  absl::Duration limit_ = absl::Seconds(2);
  std::vector<std::string> inputs_;
  int64_t memory_ = 512 << 20;
  FlagSet flags_;
};

TEST_F(FlagsTest, SetsEveryKindAndReturnsTheRest) {
  EXPECT_THAT(Parse({"a", "--server=there", "--json", "--max-samples", "7", "--limit", "1.5s",
                     "--input", "x=1", "--input=y=2", "b", "--", "--c"}),
              IsOkAndHolds(ElementsAre("a", "b", "--c")));
  EXPECT_EQ(server_, "there");
  EXPECT_TRUE(json_);
  EXPECT_EQ(samples_, 7);
  EXPECT_EQ(limit_, absl::Milliseconds(1500));
  EXPECT_THAT(inputs_, ElementsAre("x=1", "y=2"));
  EXPECT_TRUE(flags_.IsSet("server"));
}

TEST_F(FlagsTest, BoolsCanBeTurnedOff) {
  json_ = true;
  EXPECT_OK(Parse({"--no-json"}));
  EXPECT_FALSE(json_);
  EXPECT_TRUE(flags_.IsSet("json"));
  EXPECT_OK(Parse({"--no-json", "--json"}));  // The last one wins.
  EXPECT_TRUE(json_);
  EXPECT_FALSE(Parse({"--no-server"}).ok());
  EXPECT_FALSE(Parse({"--no-json=true"}).ok());
}

TEST_F(FlagsTest, BytesHaveUnits) {
  EXPECT_OK(Parse({"--memory=1.5GiB"}));
  EXPECT_EQ(memory_, 3 << 29);
  EXPECT_THAT(flags_.Help(), HasSubstr("--memory BYTES"));
  EXPECT_THAT(flags_.Help(), HasSubstr("Memory limit. [512MiB]"));
  EXPECT_THAT(flags_.Config(), HasSubstr("memory: \"1536MiB\""));
  ASSERT_OK(flags_.ParseConfig("memory: \"2MiB\""));
  EXPECT_EQ(memory_, 2 << 20);
  EXPECT_THAT(Parse({"--memory=1KiB"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("a number of bytes from 1MiB to 1TiB, not \"1KiB\"")));
}

TEST_F(FlagsTest, DefaultsStay) {
  EXPECT_THAT(Parse({}), IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(server_, "here");
  EXPECT_EQ(samples_, 100);
  EXPECT_FALSE(flags_.IsSet("server"));
}

TEST_F(FlagsTest, RefusesWithTheFlagsName) {
  EXPECT_THAT(Parse({"--sever=x"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--sever"), HasSubstr("did you mean \"--server\""))));
  EXPECT_THAT(Parse({"--nonsense"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--help")));
  EXPECT_THAT(Parse({"-x"}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-x")));
  EXPECT_THAT(Parse({"--server"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs a value")));
  EXPECT_THAT(Parse({"--max-samples=0"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("from 1 to 1000, not \"0\"")));
  EXPECT_THAT(Parse({"--json=maybe"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("true or false")));
  EXPECT_THAT(Parse({"--limit=-1s"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--limit")));
}

TEST_F(FlagsTest, FileSetsAndCommandLineWins) {
  ASSERT_OK_AND_ASSIGN(TemporaryFolder folder, TemporaryFolder::Create("flags"));
  const std::string path = JoinPath(folder.path(), "tool.textproto");
  ASSERT_THAT(WriteFileAtomically(path,
                                  "# a comment\nserver: \"file\\\"s\"\njson: true\n"
                                  "max_samples: 9, input: ['a', \"b\"]\n",
                                  false),
              IsOk());
  EXPECT_THAT(Parse({"--max-samples=3", "--config", path, "--input=c"}), IsOk());
  EXPECT_EQ(server_, "file\"s");
  EXPECT_TRUE(json_);
  EXPECT_EQ(samples_, 3);
  EXPECT_THAT(inputs_, ElementsAre("c"));
  EXPECT_TRUE(flags_.IsSet("json"));
  EXPECT_THAT(Parse({"--config", path + "x"}), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FlagsTest, FileErrorsNameTheLine) {
  EXPECT_THAT(flags_.ParseConfig("json: true\nnothing: 1\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 2: unknown flag")));
  EXPECT_THAT(flags_.ParseConfig("json true"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expected \":\"")));
  EXPECT_THAT(flags_.ParseConfig("server: \"open\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("closing quote")));
  EXPECT_THAT(flags_.ParseConfig("server: { a: 1 }"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expected a value")));
  EXPECT_THAT(flags_.ParseConfig("json: true json: false"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("twice")));
}

TEST_F(FlagsTest, PrintedConfigReadsBack) {
  ASSERT_THAT(Parse({"--server=a \"b\"\n", "--input=1", "--input=2", "--print-config"}), IsOk());
  const std::string printed = flags_.TextAskedFor();
  EXPECT_EQ(printed,
            "server: \"a \\\"b\\\"\\n\"\njson: false\nmax_samples: 100\nlimit: \"2s\"\n"
            "input: \"1\"\ninput: \"2\"\nmemory: \"512MiB\"\n");
  server_.clear();
  EXPECT_THAT(flags_.ParseConfig(printed), IsOk());
  EXPECT_EQ(server_, "a \"b\"\n");
}

TEST_F(FlagsTest, HelpLinesUp) {
  ASSERT_THAT(Parse({"--help"}), IsOk());
  EXPECT_EQ(flags_.TextAskedFor(),
            "usage: tool [flags] FILE\n\nDoes things.\n\nflags:\n"
            "  --server ADDRESS   Server to use. [here]\n"
            "  --json             Print JSON.\n"
            "  --max-samples N    Samples. [100]\n"
            "  --limit DURATION   Time limit. [2s]\n"
            "  --input NAME=FILE  An input.\n"
            "  --memory BYTES     Memory limit. [512MiB]\n"
            "  --config FILE      Read flags from a file of `name: value` lines.\n"
            "  --print-config     Print all flags and values as such a file, and exit.\n"
            "  --version          Print the version, and exit.\n"
            "  --help             Print this, and exit.\n");
}

TEST_F(FlagsTest, VersionIsOfTheBinary) {
  ASSERT_THAT(Parse({"--version", "--print-config"}), IsOk());
  EXPECT_EQ(flags_.TextAskedFor(), absl::StrCat("tool ", kVersion, "\n"));
}

}  // namespace
}  // namespace slipway
