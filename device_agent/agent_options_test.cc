#include "device_agent/agent_options.h"

#include <sys/utsname.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

AgentOptions Options(const std::string& server, const std::string& listen,
                     const std::string& announce) {
  AgentOptions options;
  options.state_dir = "state";
  options.server = server;
  options.listen = listen;
  options.announce = announce;
  return options;
}

TEST(AgentOptions, AnAgentWorksForAServerOrListensOrBoth) {
  AgentOptions options = Options("", "", "");
  ASSERT_OK(CompleteOptions(options));
  EXPECT_EQ(options.server, "127.0.0.1:7411");
  EXPECT_EQ(options.cache_dir, "state/cache");
  options = Options("", "127.0.0.1:7412", "");
  ASSERT_OK(CompleteOptions(options));
  EXPECT_EQ(options.server, "");
  options = Options("buildhost:7411", "127.0.0.1:7412", "board-1:7412");
  EXPECT_OK(CompleteOptions(options));
}

TEST(AgentOptions, WhatDoesNotGoTogetherIsRefused) {
  AgentOptions options = Options("", "", "board-1:7412");
  EXPECT_THAT(CompleteOptions(options), StatusIs(Code::kInvalidArgument));
  options = Options("buildhost:7411", "127.0.0.1:7412", "board-1");
  const absl::Status no_address = CompleteOptions(options);
  EXPECT_THAT(no_address, StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(std::string(no_address.message()), HasSubstr("--announce"));
  // Others could reach it, and it asks nobody who he is.
  options = Options("unix:/run/slipway", "0.0.0.0:7412", "");
  EXPECT_THAT(CompleteOptions(options), StatusIs(Code::kPermissionDenied));
  for (const std::string server : {"", "buildhost:7411"}) {
    options = Options(server, "0.0.0.0:7412", "");
    EXPECT_OK(CompleteOptions(options)) << server;
  }
  options = Options("buildhost:7411", "127.0.0.1:7412", "");
  options.authority = "company.pem";
  EXPECT_THAT(CompleteOptions(options), StatusIs(Code::kInvalidArgument));
}

TEST(AgentOptions, AnAgentOnAPortWithoutAServerHasADoorOfItsOwn) {
  EXPECT_TRUE(HasOwnDoor(Options("", "127.0.0.1:7412", "")));
  EXPECT_FALSE(HasOwnDoor(Options("", "unix:/run/agent", "")));
  EXPECT_FALSE(HasOwnDoor(Options("buildhost:7411", "127.0.0.1:7412", "")));
  AgentOptions options = Options("", "127.0.0.1:7412", "");
  options.insecure = true;
  EXPECT_FALSE(HasOwnDoor(options));
}

TEST(AgentOptions, UpdatesWantAServerThatSigns) {
  for (const auto& [server, listen, is_ok] :
       {std::tuple<std::string, std::string, bool>{"", "", true},
        {"buildhost:7411", "127.0.0.1:7412", true},
        {"unix:/run/slipway", "", false},
        {"", "127.0.0.1:7412", false}}) {
    AgentOptions options = Options(server, listen, "");
    options.accept_updates = true;
    EXPECT_EQ(CompleteOptions(options).ok(), is_ok) << server << listen;
  }
  AgentOptions options = Options("buildhost:7411", "", "");
  options.accept_updates = true;
  options.insecure = true;
  EXPECT_THAT(CompleteOptions(options),
              StatusIs(Code::kInvalidArgument, HasSubstr("--accept-updates")));
}

TEST(AgentOptions, CompiledProgramsWantAServerThatSigns) {
  for (const std::string server : {"", "buildhost:7411"}) {
    AgentOptions options = Options(server, "", "");
    options.programs = "compiled";
    EXPECT_OK(CompleteOptions(options)) << server;
  }
  for (const auto& [server, listen] :
       {std::pair<std::string, std::string>{"unix:/run/slipway", ""}, {"", "127.0.0.1:7412"}}) {
    AgentOptions options = Options(server, listen, "");
    EXPECT_OK(CompleteOptions(options));
    options.programs = "compiled";
    EXPECT_THAT(CompleteOptions(options), StatusIs(Code::kInvalidArgument, HasSubstr("joined")));
  }
  AgentOptions options = Options("buildhost:7411", "", "");
  options.programs = "compiled";
  options.insecure = true;
  EXPECT_THAT(CompleteOptions(options), StatusIs(Code::kInvalidArgument));
  options.insecure = false;
  options.authority = "company.pem";
  EXPECT_THAT(CompleteOptions(options), StatusIs(Code::kInvalidArgument, HasSubstr("joined")));
  options.authority.clear();
  options.programs = "some";
  EXPECT_THAT(CompleteOptions(options), StatusIs(Code::kInvalidArgument, HasSubstr("--programs")));
  options.programs = "any";
  for (const char* when : {"never", "measured", "always"}) {
    options.vendor_libraries = when;
    EXPECT_OK(CompleteOptions(options));
  }
  options.vendor_libraries = "often";
  EXPECT_THAT(CompleteOptions(options),
              StatusIs(Code::kInvalidArgument, HasSubstr("--vendor-libraries is \"often\"")));
}

TEST(AgentOptions, ClientsAreToldAnAddressThatOthersCanUse) {
  utsname system;
  uname(&system);
  const std::string here = system.nodename;
  AgentOptions options;
  EXPECT_EQ(AddressForClients(options, "127.0.0.1:5"), "127.0.0.1:5");
  EXPECT_EQ(AddressForClients(options, "unix:/run/agent"), "unix:/run/agent");
  EXPECT_EQ(AddressForClients(options, "0.0.0.0:5"), absl::StrCat(here, ":5"));
  EXPECT_EQ(AddressForClients(options, "[::]:5"), absl::StrCat(here, ":5"));
  options.announce = "gateway:77";
  EXPECT_EQ(AddressForClients(options, "0.0.0.0:5"), "gateway:77");
}

TEST(CompleteOptions, LabelsAreChecked) {
  AgentOptions options;
  options.state_dir = "/state";
  options.labels = {"lab=berlin", "broken="};
  EXPECT_OK(CompleteOptions(options));
  options.labels.push_back("rack=2\t");
  EXPECT_THAT(CompleteOptions(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::AllOf(HasSubstr("--label"), HasSubstr("the byte 0x09 at 1"))));
  options.labels = std::vector<std::string>(33, "a=1");
  EXPECT_THAT(CompleteOptions(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("33 labels")));
}

}  // namespace
}  // namespace slipway
