#include "server/workers/compiler_identity.h"

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;

TargetFingerprints Of(char digit) { return {{"x86-64-linux", std::string(64, digit)}}; }

class CompilerIdentityTest : public ::testing::Test {
 protected:
  // A compiler for one family that tells `fingerprint`, and leaves a line behind each time it is asked.
  void WriteCompiler(const std::string& fingerprint) {
    std::ofstream(worker_) << "#!/bin/sh\necho >> " << folder_.path() << "/asked\necho "
                           << "x86-64-linux " << fingerprint << "\n";
    chmod(worker_.c_str(), 0700);
  }
  size_t Asked() {
    const auto asked = ReadFile(JoinPath(folder_.path(), "asked"), 1'000);
    return asked.ok() ? asked->size() : 0;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("compiler_identity_test");
  const std::string worker_ = JoinPath(folder_.path(), "worker");
};

TEST_F(CompilerIdentityTest, AsksOnceAndKeepsTheAnswerOverRestarts) {
  WriteCompiler(std::string(64, 'a'));
  {
    CompilerIdentity identity(worker_, folder_.path());
    EXPECT_EQ(*identity.Targets(), Of('a'));
    EXPECT_EQ(*identity.Targets(), Of('a'));
  }
  CompilerIdentity again(worker_, folder_.path());
  EXPECT_EQ(*again.Targets(), Of('a'));
  EXPECT_EQ(Asked(), 1u);
}

TEST_F(CompilerIdentityTest, AsksAnewWhenTheProgramChanges) {
  WriteCompiler(std::string(64, 'a'));
  CompilerIdentity identity(worker_, folder_.path());
  EXPECT_EQ(*identity.Targets(), Of('a'));
  ASSERT_TRUE(RemoveTree(worker_).ok());
  WriteCompiler(std::string(64, 'b') + "\necho");
  EXPECT_EQ(*identity.Targets(), Of('b'));
}

TEST_F(CompilerIdentityTest, AWorkersOwnWordCorrectsIt) {
  WriteCompiler(std::string(64, 'a'));
  CompilerIdentity identity(worker_, folder_.path());
  EXPECT_EQ(*identity.Targets(), Of('a'));
  identity.Correct(Of('c'));
  EXPECT_EQ(*identity.Targets(), Of('c'));
  CompilerIdentity again(worker_, folder_.path());
  EXPECT_EQ(*again.Targets(), Of('c'));
}

TEST_F(CompilerIdentityTest, ACompilerThatIsNotThereOrTalksNonsense) {
  CompilerIdentity absent(worker_, folder_.path());
  const absl::Status status = absent.Targets().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("--worker"));
  WriteCompiler("hello");
  EXPECT_THAT(CompilerIdentity(worker_, folder_.path()).Targets(),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace slipway::server
