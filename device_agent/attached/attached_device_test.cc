#include "device_agent/attached/attached_device.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class AttachedDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = *TemporaryFolder::Create("attached");
    device_.exec_prefix =
        absl::StrCat("device_agent/testing/stand_in_shell.sh ", folder_.path(), "/home");
    device_.folder = "a folder's place";
    Bring("#!/bin/sh\nexit 3\n");
  }
  void Bring(const std::string& binary) {
    device_.binary = JoinPath(folder_.path(), "binary");
    ASSERT_OK(WriteFileAtomically(device_.binary, binary, /*durable=*/false));
    device_.digest = Digest::Of(binary);
  }
  absl::Status Run() {
    return RunOnDevice(device_, "attached", {"it's", "$HOME"}, ChildStream::Tail(),
                       SystemClock().Monotonic() + absl::Seconds(60))
        .status();
  }
  std::string OnDevice(const std::string& name) {
    return JoinPath(JoinPath(folder_.path(), "home/a folder's place"), name);
  }
  std::string Binary() { return OnDevice("slipway-agent-" + device_.digest.hex().substr(0, 16)); }

  TemporaryFolder folder_;
  AttachedDevice device_;
};

TEST(QuoteForShell, KeepsAWordOne) {
  EXPECT_EQ(QuoteForShell("a b"), R"('a b')");
  EXPECT_EQ(QuoteForShell("it's; $(x)"), R"('it'\''s; $(x)')");
  EXPECT_EQ(QuoteForShell(""), R"('')");
}

TEST(LastLine, IsForPeople) {
  EXPECT_EQ(LastLine(""), "");
  EXPECT_EQ(LastLine("\n\n"), "");
  EXPECT_EQ(LastLine("one\r\ntwo\r\n"), ": two");
  EXPECT_EQ(LastLine("bad \xff byte\n"), ": bad ? byte");
  EXPECT_LT(LastLine(std::string(10'000, 'x')).size(), 600u);
}

TEST_F(AttachedDeviceTest, TheBinaryIsBroughtOnceAndToldItsArguments) {
  Bring(absl::StrCat("#!/bin/sh\nprintf '%s\\n' \"$@\" > ", folder_.path(), "/told\nexit 3\n"));
  EXPECT_THAT(Run(), StatusIs(Code::kUnavailable));
  EXPECT_THAT(ReadFile(JoinPath(folder_.path(), "told"), 4096),
              IsOkAndHolds(std::string("attached\na folder's place\nit's\n$HOME\n")));
  struct stat first {};
  ASSERT_EQ(stat(Binary().c_str(), &first), 0);
  EXPECT_EQ(first.st_mode & 0777, 0700u);
  EXPECT_THAT(Run(), StatusIs(Code::kUnavailable));
  struct stat second {};
  ASSERT_EQ(stat(Binary().c_str(), &second), 0);
  EXPECT_EQ(first.st_ino, second.st_ino);
}

TEST_F(AttachedDeviceTest, AnotherBinaryTakesThePlaceOfTheOneBefore) {
  EXPECT_THAT(Run(), StatusIs(Code::kUnavailable));
  const std::string before = Binary();
  EXPECT_TRUE(std::filesystem::exists(before));
  Bring("#!/bin/sh\nexit 4\n");
  EXPECT_THAT(Run(), StatusIs(Code::kUnavailable));
  EXPECT_TRUE(std::filesystem::exists(Binary()));
  EXPECT_FALSE(std::filesystem::exists(before));
}

TEST_F(AttachedDeviceTest, HalfABinaryIsNone) {
  device_.digest = Digest::Of("something longer than what comes: the connection breaks on its way");
  EXPECT_THAT(Run(), StatusIs(Code::kUnavailable, HasSubstr("cannot bring the agent")));
  EXPECT_TRUE(std::filesystem::is_empty(OnDevice("")));
}

TEST_F(AttachedDeviceTest, ADeviceWithoutRoomSaysSo) {
  device_.folder = "/dev/full/x";
  EXPECT_THAT(Run(), StatusIs(Code::kUnavailable,
                              AllOf(HasSubstr("cannot bring the agent"), HasSubstr("/dev/full"))));
}

TEST_F(AttachedDeviceTest, WhatDoesNotRunThereIsNamed) {
  std::string binary =
      "\x7f"
      "ELF slipway-agent-stamp 0.1.0 arm-64-linux; of another machine";
  binary.push_back('\0');
  Bring(binary);
  EXPECT_THAT(Run(), StatusIs(Code::kFailedPrecondition,
                              AllOf(HasSubstr("for arm-64-linux does not run on the device"),
                                    HasSubstr("--exec-binary"))));
}

TEST_F(AttachedDeviceTest, WhyTheDeviceCannotBeReachedIsTold) {
  device_.exec_prefix = R"(sh -c 'echo connect to host board: no route >&2; exit 255')";
  EXPECT_THAT(Run(), StatusIs(Code::kUnavailable, HasSubstr("connect to host board: no route")));
  device_.exec_prefix = "/no/such/command";
  EXPECT_FALSE(Run().ok());
}

TEST_F(AttachedDeviceTest, AnotherVersionIsRefused) {
  // The greeting, and a message of 5 bytes: version "9.9".
  Bring(
      "#!/bin/sh\nprintf 'slipway-attached-device "
      "\\001\\003\\004\\021\\023\\177\\377\\r\\n\\n\\r'\n"
      "printf '\\005\\000\\000\\000\\012\\0039.9'\nsleep 60\n");
  EXPECT_THAT(Run(), StatusIs(Code::kFailedPrecondition, HasSubstr("is version 9.9")));
}

}  // namespace
}  // namespace slipway
