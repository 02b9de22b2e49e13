#include "client/local/sibling.h"

#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOk;
using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Sibling>> StartScript(const std::string& script) {
  // The script sees --ready-fd=3 as $0.
  return Sibling::Start("script", {"/bin/sh", "-c", script});
}

TEST(SiblingTest, ReadyWhenItSaysSo) {
  ASSERT_OK_AND_ASSIGN(const auto sibling, StartScript("echo ready >&3; exec sleep 100"));
  EXPECT_THAT(sibling->WaitUntilReady(absl::Seconds(10)), IsOk());
  EXPECT_THAT(sibling->WaitUntilReady(absl::Seconds(10)), IsOk());
  sibling->Terminate();
  sibling->WaitForEnd(absl::Seconds(10));
}

TEST(SiblingTest, EndBeforeReadyShowsTheLog) {
  ASSERT_OK_AND_ASSIGN(const auto sibling, StartScript("echo 'disk is full' >&2; exit 7"));
  EXPECT_THAT(sibling->WaitUntilReady(absl::Seconds(10)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("disk is full"), HasSubstr("7"))));
}

TEST(SiblingTest, SilenceEndsAtTheTimeout) {
  ASSERT_OK_AND_ASSIGN(const auto sibling, StartScript("exec sleep 100"));
  EXPECT_THAT(sibling->WaitUntilReady(absl::Milliseconds(20)),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("script")));
  // Deaf to SIGTERM or not, it is gone after this.
  sibling->WaitForEnd(absl::ZeroDuration());
}

class FindSiblingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("sibling"));
    executable_ = MakeProgram("client/slipway");
  }
  std::string MakeProgram(const std::string& name) {
    const std::string path = JoinPath(folder_.path(), name);
    EXPECT_THAT(MakeFolders(path.substr(0, path.rfind('/'))), IsOk());
    EXPECT_THAT(WriteFileAtomically(path, "#!/bin/sh\n", false), IsOk());
    EXPECT_EQ(chmod(path.c_str(), 0755), 0);
    return path;
  }
  TemporaryFolder folder_;
  std::string executable_;
};

TEST_F(FindSiblingTest, BesideThenAsBuiltThenNot) {
  EXPECT_THAT(FindSibling("slipwayd", "server", "", executable_),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("client/slipwayd"), HasSubstr("server/slipwayd"),
                             HasSubstr("--server"))));
  const std::string built = MakeProgram("server/slipwayd");
  EXPECT_THAT(FindSibling("slipwayd", "server", "", executable_), IsOkAndHolds(built));
  const std::string installed = MakeProgram("client/slipwayd");
  EXPECT_THAT(FindSibling("slipwayd", "server", "", executable_), IsOkAndHolds(installed));
  EXPECT_THAT(FindSibling("slipwayd", "server", built, executable_), IsOkAndHolds(built));
  EXPECT_THAT(FindSibling("slipwayd", "server", "/nowhere", executable_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere")));
}

}  // namespace
}  // namespace slipway
