#include "core/identity/identity_file.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/files.h"
#include "core/identity/certificate_authority.h"
#include "core/identity/identity_id.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

absl::StatusOr<Identity> NewIdentity() {
  auto authority = CertificateAuthority::Create(kNow);
  if (!authority.ok()) return authority.status();
  auto request = NewCertificateRequest();
  if (!request.ok()) return request.status();
  auto certificate =
      (*authority)->SignCaller(request->request, NewIdentityId(), "ada", kNow, absl::Hours(1));
  if (!certificate.ok()) return certificate.status();
  return Identity{
      .key = request->key, .certificate = *certificate, .authority = (*authority)->certificate()};
}

MATCHER_P(IsIdentity, other, "") {
  return arg.key == other.key && arg.certificate == other.certificate &&
         arg.authority == other.authority;
}

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

class IdentityFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("identity_file"));
    ASSERT_OK_AND_ASSIGN(identity_, NewIdentity());
    path_ = JoinPath(folder_.path(), "servers/127.0.0.1:7411/user.pem");
  }

  // Puts a file there that WriteIdentity has not written.
  void Put(const std::string& text) { ASSERT_OK(WriteFileAtomically(path_, text, false, 0600)); }

  TemporaryFolder folder_;
  Identity identity_;
  std::string path_;
};

TEST_F(IdentityFileTest, IsReadBack) {
  EXPECT_THAT(ReadIdentity(path_), StatusIs(absl::StatusCode::kNotFound, HasSubstr("user.pem")));
  ASSERT_OK(WriteIdentity(path_, identity_));
  EXPECT_THAT(ReadIdentity(path_), IsOkAndHolds(IsIdentity(identity_)));
  // A new one takes its place.
  ASSERT_OK_AND_ASSIGN(const Identity other, NewIdentity());
  ASSERT_OK(WriteIdentity(path_, other));
  EXPECT_THAT(ReadIdentity(path_), IsOkAndHolds(IsIdentity(other)));
}

TEST_F(IdentityFileTest, IsItsOwnersAlone) {
  const mode_t mask = umask(0);
  const absl::Status status = WriteIdentity(path_, identity_);
  umask(mask);
  ASSERT_OK(status);
  EXPECT_EQ(ModeOf(path_), 0600u);
  EXPECT_EQ(ModeOf(JoinPath(folder_.path(), "servers")), 0700u);
  EXPECT_EQ(ModeOf(JoinPath(folder_.path(), "servers/127.0.0.1:7411")), 0700u);
}

TEST_F(IdentityFileTest, ALooseOneIsMadeItsOwnersAloneWhenItIsReplaced) {
  ASSERT_OK(WriteIdentity(path_, identity_));
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  ASSERT_OK(WriteIdentity(path_, identity_));
  EXPECT_EQ(ModeOf(path_), 0600u);
}

TEST_F(IdentityFileTest, OneThatOthersMayReadIsRefused) {
  ASSERT_OK(WriteIdentity(path_, identity_));
  for (const mode_t mode : {0644, 0640, 0602, 0666}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    EXPECT_THAT(ReadIdentity(path_),
                StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("chmod 600")))
        << mode;
  }
  ASSERT_EQ(chmod(path_.c_str(), 0400), 0);
  EXPECT_OK(ReadIdentity(path_));
}

TEST_F(IdentityFileTest, AFolderThatOthersMayWriteToIsRefused) {
  const std::string folder = JoinPath(folder_.path(), "shared");
  ASSERT_OK(MakeFolders(folder));
  ASSERT_EQ(chmod(folder.c_str(), 0770), 0);
  EXPECT_THAT(WriteIdentity(JoinPath(folder, "user.pem"), identity_),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("chmod go-w")));
  EXPECT_THAT(ReadIdentity(JoinPath(folder, "user.pem")), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(IdentityFileTest, WhatDoesNotBelongTogetherIsNotWritten) {
  ASSERT_OK_AND_ASSIGN(const Identity other, NewIdentity());
  ASSERT_OK(WriteIdentity(path_, identity_));
  Identity wrong[9];
  for (Identity& each : wrong) each = identity_;
  wrong[0].key = other.key;
  wrong[1].certificate = other.certificate;
  wrong[2].authority = other.authority;
  wrong[3].authority = identity_.certificate;
  wrong[4].key.clear();
  wrong[5].authority.clear();
  absl::StrAppend(&wrong[6].certificate, identity_.authority);
  wrong[7].key.pop_back();
  wrong[8].certificate.insert(0, "remark\n");
  for (const Identity& each : wrong) {
    EXPECT_THAT(WriteIdentity(path_, each), StatusIs(kInvalid, HasSubstr("user.pem")));
  }
  // What was there still is.
  EXPECT_THAT(ReadIdentity(path_), IsOkAndHolds(IsIdentity(identity_)));
}

TEST_F(IdentityFileTest, ADamagedOneIsRefused) {
  ASSERT_OK(WriteIdentity(path_, identity_));
  const std::string text = absl::StrCat(identity_.key, identity_.certificate, identity_.authority);
  for (const std::string& damaged :
       {std::string(), std::string("x"), identity_.key, text.substr(0, text.size() / 2),
        text.substr(0, text.size() - 1), absl::StrCat(text, "\n"), absl::StrCat("\n", text),
        absl::StrCat(text, identity_.authority), absl::StrCat(identity_.certificate, text),
        absl::StrCat(identity_.key, identity_.authority, identity_.certificate),
        absl::StrReplaceAll(text, {{"\n", "\r\n"}}), std::string(1000, '\0')}) {
    Put(damaged);
    const auto read = ReadIdentity(path_);
    EXPECT_THAT(read, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("join again"))) << damaged;
    // A message goes into logs, and the file is a secret.
    EXPECT_THAT(std::string(read.status().message()), Not(HasSubstr(identity_.key.substr(28, 20))));
  }
  Put(std::string(65'537, 'x'));
  EXPECT_THAT(ReadIdentity(path_), StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(IdentityFileTest, DamageAnywhereIsSeen) {
  ASSERT_OK(WriteIdentity(path_, identity_));
  const std::string text = absl::StrCat(identity_.key, identity_.certificate, identity_.authority);
  for (size_t i = 0; i < text.size(); i += 5) {
    std::string damaged = text;
    damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
    Put(damaged);
    const auto read = ReadIdentity(path_);
    if (!read.ok()) {
      EXPECT_THAT(read, StatusIs(absl::StatusCode::kDataLoss)) << i;
      continue;
    }
    // Bits after the last byte, which the base 64 ignores.
    EXPECT_EQ(FingerprintOf(read->certificate), FingerprintOf(identity_.certificate)) << i;
    EXPECT_EQ(FingerprintOf(read->authority), FingerprintOf(identity_.authority)) << i;
    EXPECT_OK(CheckKeyFits(read->key, identity_.certificate)) << i;
  }
}

TEST(IdentityPathTest, IsBelowTheUsersConfiguration) {
  setenv("XDG_CONFIG_HOME", "/x/config", 1);
  setenv("HOME", "/home/u", 1);
  EXPECT_THAT(IdentityPath("build.example:7411", Role::kAgent),
              IsOkAndHolds("/x/config/slipway/servers/build.example:7411/agent.pem"));
  EXPECT_THAT(IdentityPath("build.example:7411", Role::kUser),
              IsOkAndHolds("/x/config/slipway/servers/build.example:7411/user.pem"));
  unsetenv("XDG_CONFIG_HOME");
  EXPECT_THAT(IdentityPath("build.example:7411", Role::kAdmin),
              IsOkAndHolds("/home/u/.config/slipway/servers/build.example:7411/admin.pem"));
  unsetenv("HOME");
  EXPECT_THAT(IdentityPath("build.example:7411", Role::kAdmin),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(IdentityPathTest, AnAddressHasOneSpelling) {
  setenv("XDG_CONFIG_HOME", "/c", 1);
  const auto folder = [](const char* address) {
    return absl::StrCat("/c/slipway/servers/", address, "/user.pem");
  };
  for (const char* const address : {"127.0.0.1:7411", "localhost:7411", "LocalHost:7411"}) {
    EXPECT_THAT(IdentityPath(address, Role::kUser), IsOkAndHolds(folder("127.0.0.1:7411")));
  }
  EXPECT_THAT(IdentityPath("Build.Example:1", Role::kUser),
              IsOkAndHolds(folder("build.example:1")));
  EXPECT_THAT(IdentityPath("localhost.example:65535", Role::kUser),
              IsOkAndHolds(folder("localhost.example:65535")));
  for (const char* const address : {"[::1]:7411", "[0:0:0:0:0:0:0:1]:7411"}) {
    EXPECT_THAT(IdentityPath(address, Role::kUser), IsOkAndHolds(folder("[::1]:7411")));
  }
  EXPECT_THAT(IdentityPath("[FE80::A]:7411", Role::kUser), IsOkAndHolds(folder("[fe80::a]:7411")));
}

// What an address names becomes the name of a folder.
TEST(IdentityPathTest, OthersAreNoAddresses) {
  setenv("XDG_CONFIG_HOME", "/c", 1);
  for (const absl::string_view address : {absl::string_view(""),
                                          absl::string_view("localhost"),
                                          absl::string_view("localhost:"),
                                          absl::string_view(":7411"),
                                          absl::string_view("localhost:0"),
                                          absl::string_view("localhost:65536"),
                                          absl::string_view("localhost:07411"),
                                          absl::string_view("localhost:+1"),
                                          absl::string_view("localhost: 1"),
                                          absl::string_view("localhost:1 "),
                                          absl::string_view("localhost:http"),
                                          absl::string_view("unix:/tmp/socket"),
                                          absl::string_view("unix:/tmp/socket:1"),
                                          absl::string_view("dns:///a:1"),
                                          absl::string_view("a:b:1"),
                                          absl::string_view("::1:1"),
                                          absl::string_view("../../x:1"),
                                          absl::string_view("..:1"),
                                          absl::string_view(".:1"),
                                          absl::string_view("a..b:1"),
                                          absl::string_view(".a:1"),
                                          absl::string_view("a/b:1"),
                                          absl::string_view("/etc:1"),
                                          absl::string_view("a\\b:1"),
                                          absl::string_view("a b:1"),
                                          absl::string_view("a\0b:1", 5),
                                          absl::string_view("a\n:1"),
                                          absl::string_view("\xc3\xa4:1"),
                                          absl::string_view("[::1:1"),
                                          absl::string_view("[]:1"),
                                          absl::string_view("[../x]:1"),
                                          absl::string_view("[::1]x:1"),
                                          absl::string_view("[127.0.0.1]:1"),
                                          absl::string_view("[::1\0/../x]:1", 13)}) {
    EXPECT_THAT(IdentityPath(address, Role::kUser), StatusIs(kInvalid, HasSubstr("HOST:PORT")))
        << address;
  }
  EXPECT_OK(IdentityPath(absl::StrCat(std::string(248, 'a'), ":65535"), Role::kUser));
  EXPECT_THAT(IdentityPath(absl::StrCat(std::string(300, 'a'), ":1"), Role::kUser),
              StatusIs(kInvalid));
}

}  // namespace
}  // namespace slipway
