#include "server/handlers/fleet.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/selector/selector.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/handlers/runs.h"
#include "server/handlers/sessions.h"
#include "server/handlers/testing/handler_environment.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Code = absl::StatusCode;

class FleetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(server_.AddDevice("pc", "x86-64-v3-linux"));
    ASSERT_OK(server_.AddDevice("old-pc", "x86-64-linux"));
    ASSERT_OK(server_.AddDevice("board", "arm-64-linux"));
  }

  // The ids of those that are listed; `explanation_` is what goes along.
  std::vector<std::string> List(const std::string& selector, bool available = false) {
    v1::ListDevicesRequest request;
    request.set_selector(selector);
    request.set_available(available);
    v1::ListDevicesResponse response;
    EXPECT_OK(ListDevices(server_.caller, server_.env, request, &response));
    explanation_ = response.explanation();
    std::vector<std::string> ids;
    for (const v1::Device& device : response.devices()) ids.push_back(device.description().id());
    return ids;
  }

  absl::StatusOr<std::string> Label(const std::string& device, const std::string& key,
                                    const std::string& value,
                                    const std::vector<std::string>& removed = {}) {
    v1::SetDeviceLabelsRequest request;
    request.set_device(device);
    if (!key.empty()) {
      v1::Label& label = *request.add_labels();
      label.set_key(key);
      label.set_value(value);
    }
    for (const std::string& other : removed) request.add_removed(other);
    v1::SetDeviceLabelsResponse response;
    const absl::Status status = SetDeviceLabels(server_.caller, server_.env, request, &response);
    if (!status.ok()) return status;
    std::string text;
    for (const v1::Label& each : response.labels()) {
      absl::StrAppend(&text, each.key(), "=", each.value(), " ");
    }
    return text;
  }

  absl::Status Run(const std::string& device) {
    v1::CreateRunRequest request;
    request.set_request_id(absl::StrCat("r", ++requests_));
    *request.mutable_spec()->mutable_manifest() = server_.PutProgram();  // For x86-64-linux.
    request.mutable_spec()->set_device(device);
    v1::CreateJobResponse response;
    return CreateRun(server_.caller, server_.env, request, &response);
  }

  testing::HandlerEnvironment server_;
  std::string explanation_;
  int requests_ = 0;
};

TEST_F(FleetTest, ThoseAreListedThatMatch) {
  EXPECT_THAT(List(""), ElementsAre("board", "old-pc", "pc"));
  EXPECT_THAT(List("arch=x86-64"), ElementsAre("old-pc", "pc"));
  EXPECT_THAT(List("feature=avx2"), ElementsAre("pc"));
  EXPECT_THAT(List("board"), ElementsAre("board"));
  EXPECT_EQ(explanation_, "");
}

TEST_F(FleetTest, WhenNoneMatchesItIsSaidWhatThereIs) {
  EXPECT_THAT(List("arch=x86-64 feature=avx512f"), IsEmpty());
  EXPECT_EQ(explanation_,
            "no device matches arch=x86-64 feature=avx512f: of 3 devices, 2 lack avx512f, 1 has "
            "arch arm-64");
  EXPECT_THAT(List("boat"), IsEmpty());
  EXPECT_EQ(explanation_, "no device matches boat: of 3 devices, 3 have another id");
  server_.clock.Advance(absl::Minutes(1));
  ASSERT_OK(server_.AddDevice("new", "arm-64-linux"));
  EXPECT_THAT(List("arch=x86-64"), ElementsAre("old-pc", "pc"));
  EXPECT_THAT(List("arch=x86-64", /*available=*/true), IsEmpty());
  EXPECT_EQ(
      explanation_,
      "no device matches arch=x86-64: of 4 devices, 2 have arch arm-64, 2 match but are lost");
  EXPECT_THAT(List("", /*available=*/true), ElementsAre("new"));
}

TEST_F(FleetTest, ASelectorThatDoesNotParseIsPointedInto) {
  v1::ListDevicesRequest request;
  request.set_selector("arch=");
  v1::ListDevicesResponse response;
  EXPECT_THAT(ListDevices(server_.caller, server_.env, request, &response),
              StatusIs(Code::kInvalidArgument, HasSubstr("\narch=\n     ^")));
  EXPECT_THAT(Run("arch="), StatusIs(Code::kInvalidArgument, HasSubstr("\narch=\n     ^")));
  EXPECT_THAT(Run(std::string(10 << 10, ' ')),
              StatusIs(Code::kInvalidArgument, HasSubstr("10240 bytes; at most 1024")));
}

TEST_F(FleetTest, ARunIsTakenWhenADeviceThatMatchesCouldDoIt) {
  EXPECT_OK(Run("arch=x86-64"));
  EXPECT_OK(Run("id=pc|board"));
  EXPECT_THAT(Run("memory>=1GiB"), StatusIs(Code::kNotFound,
                                            "no device matches memory>=1GiB: of 3 devices, 3 have "
                                            "memory<1GiB"));
  EXPECT_THAT(Run("arch=arm-64"),
              StatusIs(Code::kFailedPrecondition,
                       HasSubstr("no device that matches arch=arm-64 can run it; device 'board'")));
  EXPECT_THAT(Run("boat"), StatusIs(Code::kNotFound, HasSubstr("no device 'boat' is known")));
}

TEST_F(FleetTest, SoIsASession) {
  v1::SessionRequest::Open open;
  open.set_device("feature=avx2");
  EXPECT_THAT(CreateSession(server_.caller, server_.env, open),
              StatusIs(Code::kFailedPrecondition,
                       HasSubstr("no device that matches feature=avx2 can run it; device 'pc': its "
                                 "agent serves no sessions")));
  open.set_device("feature=sve");
  EXPECT_THAT(CreateSession(server_.caller, server_.env, open),
              StatusIs(Code::kNotFound, HasSubstr("of 3 devices, 3 lack sve")));
}

TEST_F(FleetTest, LabelsAreWhatAdministratorsMakeThem) {
  EXPECT_THAT(Run("label:lab=berlin"),
              StatusIs(Code::kNotFound, HasSubstr("of 3 devices, 3 have no label lab")));
  ASSERT_OK_AND_ASSIGN(std::string labels, Label("pc", "lab", "berlin"));
  EXPECT_EQ(labels, "lab=berlin ");
  EXPECT_THAT(List("label:lab=berlin"), ElementsAre("pc"));
  EXPECT_OK(Run("label:lab=berlin"));
  ASSERT_OK_AND_ASSIGN(labels, Label("pc", "rack", "2", {"lab"}));
  EXPECT_EQ(labels, "rack=2 ");
  EXPECT_THAT(List("label:lab"), IsEmpty());
}

TEST_F(FleetTest, LabelsThatAreNoneAreRefused) {
  EXPECT_THAT(Label("pc", "lab", "a b"),
              StatusIs(Code::kInvalidArgument, HasSubstr("the byte 0x20 at 1")));
  EXPECT_THAT(Label("pc", "", "", {"Lab"}), StatusIs(Code::kInvalidArgument, HasSubstr("0x4c")));
  EXPECT_THAT(Label("pc", "", "", std::vector<std::string>(33, "k")),
              StatusIs(Code::kInvalidArgument, HasSubstr("33 labels are to be removed")));
  EXPECT_THAT(Label("boat", "lab", "berlin"),
              StatusIs(Code::kNotFound, HasSubstr("no device 'boat'")));
  EXPECT_THAT(List("label:lab"), IsEmpty());
}

TEST_F(FleetTest, TheServerSaysThatItKnowsSelectors) {
  v1::ServerInfo info;
  ASSERT_OK(GetServerInfo(server_.caller, server_.env, &info));
  EXPECT_EQ(info.selectors(), kSelectorVersion);
}

TEST_F(FleetTest, TheServerSaysWhoItTakesTheCallerFor) {
  v1::ServerInfo info;
  ASSERT_OK(
      GetServerInfo({.owner = "eve", .roles = {Role::kUser, Role::kAdmin}}, server_.env, &info));
  EXPECT_EQ(info.caller().owner(), "eve");
  EXPECT_THAT(info.caller().roles(), ElementsAre(v1::ROLE_USER, v1::ROLE_ADMIN));
}

}  // namespace
}  // namespace slipway::server
