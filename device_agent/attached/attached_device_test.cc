#include "device_agent/attached/attached_device.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/bare_runner/protocol.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/target/target.h"
#include "device_agent/attached/bare_runners.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

// A stand-in for another machine's shell, with the real bare runner.
class AttachedDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = *TemporaryFolder::Create("attached");
    device_.exec_prefix = StandIn();
    device_.folder = "a folder's place";
  }
  std::string StandIn() const {
    return absl::StrCat("device_agent/testing/stand_in_shell.sh ", folder_.path(), "/home");
  }
  // The same shell, which does `first` before each line.
  std::string StandInAfter(const std::string& first) const {
    return absl::StrCat("sh -c ", QuoteForShell(absl::StrCat(first, R"(; exec $0 $1 "$2")")), " ",
                        StandIn());
  }
  absl::StatusOr<v1::DeviceDescription> Describe(bool require_confinement = false) {
    absl::StatusOr<AttachedDescription> described = DescribeAttached(
        device_, require_confinement, SystemClock().Monotonic() + absl::Seconds(60));
    if (!described.ok()) return described.status();
    return std::move(described->device);
  }
  std::string OnDevice(const std::string& name) {
    return JoinPath(JoinPath(folder_.path(), "home/a folder's place"), name);
  }
  std::string Runner() { return OnDevice(BareRunnerName()); }
  // Puts another file in the bare runner's place.
  void Replace(const std::string& text) {
    ASSERT_OK(MakeFolders(OnDevice("")));
    ASSERT_OK(WriteFileAtomically(Runner(), text, /*durable=*/false));
    ASSERT_EQ(chmod(Runner().c_str(), 0700), 0);
  }

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

TEST_F(AttachedDeviceTest, IsDescribedByItsBareRunner) {
  ASSERT_OK_AND_ASSIGN(const v1::DeviceDescription device, Describe(/*require_confinement=*/true));
  EXPECT_EQ(device.target(), HostTarget().ToString());
  EXPECT_GT(device.cores(), 0);
  EXPECT_GT(device.memory_bytes(), 1 << 20);
  EXPECT_THAT(device.os(), HasSubstr("Linux"));
  EXPECT_EQ(device.confinement().missing_size(), 0);
  // What its shell says.
  EXPECT_THAT(device.os(), HasSubstr(device.inventory().kernel()));
  EXPECT_FALSE(device.inventory().kernel().empty());
}

TEST_F(AttachedDeviceTest, OneSmallFileIsBroughtOnce) {
  ASSERT_OK(Describe().status());
  struct stat first {};
  ASSERT_EQ(stat(Runner().c_str(), &first), 0);
  EXPECT_EQ(first.st_mode & 0777, 0700u);
  EXPECT_LE(first.st_size, 300 << 10);
  ASSERT_OK(Describe().status());
  struct stat second {};
  ASSERT_EQ(stat(Runner().c_str(), &second), 0);
  EXPECT_EQ(first.st_ino, second.st_ino);
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(OnDevice(""))) {
    EXPECT_EQ(file.path().string(), Runner());
    ++files;
  }
  EXPECT_EQ(files, 1);
}

TEST_F(AttachedDeviceTest, ItTakesThePlaceOfWhatAgentsBroughtBefore) {
  ASSERT_OK(MakeFolders(OnDevice("")));
  for (const char* name : {"slipway-agent-0123", "slipway-bare-runner-0123", "another's"}) {
    ASSERT_OK(WriteFileAtomically(OnDevice(name), "x", /*durable=*/false));
  }
  ASSERT_OK(Describe().status());
  EXPECT_TRUE(std::filesystem::exists(Runner()));
  EXPECT_FALSE(std::filesystem::exists(OnDevice("slipway-agent-0123")));
  EXPECT_FALSE(std::filesystem::exists(OnDevice("slipway-bare-runner-0123")));
  EXPECT_TRUE(std::filesystem::exists(OnDevice("another's")));
}

TEST_F(AttachedDeviceTest, ACommandThatBreaksOffLeavesNoHalfFile) {
  // What is brought is cut off on its way.
  device_.exec_prefix = absl::StrCat(
      R"(sh -c 'case "$2" in *part*) head -c 1000 | $0 $1 "$2" ;; *) exec $0 $1 "$2" ;; esac' )",
      StandIn());
  EXPECT_THAT(Describe(), StatusIs(Code::kUnavailable, HasSubstr("cannot bring the bare runner")));
  EXPECT_TRUE(std::filesystem::is_empty(OnDevice("")));
}

TEST_F(AttachedDeviceTest, ADeviceWithoutRoomSaysSo) {
  // A limit on file sizes stands in for storage that is full.
  device_.exec_prefix = StandInAfter("ulimit -f 8");
  EXPECT_THAT(Describe(), StatusIs(Code::kResourceExhausted, HasSubstr("has no room")));
  EXPECT_TRUE(std::filesystem::is_empty(OnDevice("")));
  device_.exec_prefix = StandIn();
  EXPECT_OK(Describe().status());
}

TEST_F(AttachedDeviceTest, AFolderThatCannotBeIsNamed) {
  device_.folder = "/dev/null/x";
  EXPECT_THAT(Describe(),
              StatusIs(Code::kUnavailable,
                       AllOf(HasSubstr("cannot bring the bare runner"), HasSubstr("/dev/null"))));
}

TEST_F(AttachedDeviceTest, AMachineWithoutABareRunnerIsNamed) {
  const std::string folder = JoinPath(folder_.path(), "programs");
  ASSERT_OK(MakeFolders(folder));
  const std::string uname = JoinPath(folder, "uname");
  ASSERT_OK(WriteFileAtomically(uname, "#!/bin/sh\necho mips64\n", /*durable=*/false));
  ASSERT_EQ(chmod(uname.c_str(), 0700), 0);
  device_.exec_prefix = StandInAfter(absl::StrCat("PATH=", folder, ":$PATH"));
  EXPECT_THAT(Describe(), StatusIs(Code::kUnimplemented, HasSubstr("\"mips64\"")));
}

TEST_F(AttachedDeviceTest, WhatDoesNotRunThereIsTold) {
  std::string elf =
      "\x7f"
      "ELF";
  elf.push_back('\0');
  Replace(elf);
  EXPECT_THAT(Describe(),
              StatusIs(Code::kFailedPrecondition,
                       AllOf(HasSubstr("does not run on the device"), HasSubstr("--exec-folder"))));
}

TEST_F(AttachedDeviceTest, ConfinementThatIsRequiredAndIsNotThereIsAnError) {
  Replace("#!/bin/sh\necho no filter >&2\nexit 71\n");
  EXPECT_THAT(Describe(/*require_confinement=*/true),
              StatusIs(Code::kFailedPrecondition,
                       AllOf(HasSubstr("--require-confinement"), HasSubstr("no filter"))));
}

TEST_F(AttachedDeviceTest, WhyTheDeviceCannotBeReachedIsTold) {
  device_.exec_prefix = R"(sh -c 'echo connect to host board: no route >&2; exit 255')";
  EXPECT_THAT(Describe(),
              StatusIs(Code::kUnavailable, HasSubstr("connect to host board: no route")));
  device_.exec_prefix = "/no/such/command";
  EXPECT_FALSE(Describe().ok());
}

TEST_F(AttachedDeviceTest, WhatSaysSomethingElseBehindTheGreetingIsRefused) {
  const std::string greeting =
      "#!/bin/sh\nprintf 'slipway-attached-device "
      "\\001\\003\\004\\021\\023\\177\\377\\r\\n\\n\\r'\n";
  // Protocol 9, and as many bytes as are wanted.
  Replace(absl::StrCat(greeting, "printf '\\011\\000\\000\\000'\nhead -c 1000 /dev/zero\n"));
  EXPECT_THAT(Describe(), StatusIs(Code::kFailedPrecondition, HasSubstr("protocol 9")));
  const std::string known =
      absl::StrFormat("printf '\\%03o\\000\\000\\000'\n", SLIPWAY_BARE_PROTOCOL);
  Replace(absl::StrCat(greeting, known));
  EXPECT_THAT(Describe(), StatusIs(Code::kUnavailable));
  Replace(absl::StrCat(greeting, known, "head -c 1000 /dev/zero\n"));
  EXPECT_THAT(Describe(), StatusIs(Code::kUnimplemented, HasSubstr("not known here")));
}

}  // namespace
}  // namespace slipway
