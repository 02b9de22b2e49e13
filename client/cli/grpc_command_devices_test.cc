// Devices by selectors, labels, and many devices at once, against a fake server.
#include <string>
#include <vector>

#include "client/cli/grpc_command_fixture.h"
#include "client/testing/grpc_fake_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::FakeBehaviour;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(CommandTest, ASelectorChoosesAmongDevicesThatDiffer) {
  server_.Configure([](FakeBehaviour& b) {
    v1::Device other = b.devices[0];
    other.mutable_description()->set_id("other");
    other.mutable_description()->set_target("arm-64-linux");
    other.mutable_description()->add_labels()->set_key("lab");
    other.mutable_description()->mutable_labels(0)->set_value("berlin");
    b.devices.push_back(other);
  });
  EXPECT_EQ(Command({"run", model_, "--device=arch=arm-64"}), 0) << err_;
  EXPECT_EQ(server_.jobs()[0].compilation().target().name(), "arm-64-linux");
  EXPECT_EQ(server_.jobs()[1].run().device(), "arch=arm-64");
  EXPECT_EQ(Command({"run", model_, "--device=cores=2"}), 2);
  EXPECT_THAT(Error(), HasSubstr("devices that match differ"));
  EXPECT_EQ(Command({"run", model_, "--device=cores>2"}), 3);
  EXPECT_THAT(Error(), HasSubstr("nothing matches"));
  EXPECT_EQ(Command({"devices", "--columns=id,labels", "arch=arm-64"}), 0);
  EXPECT_EQ(out_, "DEVICE  LABELS\nother   lab=berlin\n");
  EXPECT_EQ(Command({"devices", "--sort=id", "--columns", "id"}), 0);
  EXPECT_EQ(out_, "DEVICE\nfake\nother\n");
}

// Until it is interrupted, through a server that goes away.
TEST_F(CommandTest, DevicesAreWatched) {
  server_.Configure([](FakeBehaviour& b) { b.devices[0].set_state(v1::Device::IDLE); });
  int lists_before = -1;
  EagerInterrupts interrupts([&] {
    // When the second is under way, what the first brought was told.
    if (lists_before < 0 && server_.device_lists() >= 2) {
      server_.Configure([](FakeBehaviour& b) {
        b.devices[0].set_state(v1::Device::LOST);
        b.unavailable_calls = 2;
      });
      lists_before = server_.device_lists();
    }
    // Two that fail, one that may have been under way, one that tells, and one that shows that it was told.
    return lists_before > 0 && server_.device_lists() >= lists_before + 5;
  });
  interrupts_ = &interrupts;
  EXPECT_EQ(Command({"devices", "--watch", "--columns=id,state"}), 0) << err_;
  EXPECT_THAT(out_,
              ::testing::MatchesRegex("[-0-9: ]+UTC  fake  idle\n[-0-9: ]+UTC  fake  lost\n"));
  EXPECT_EQ(Command({"devices", "--watch", "--json"}), 2);
  EXPECT_EQ(Command({"devices", "--watch", "--sort=id"}), 2);
}

TEST_F(CommandTest, ASelectorThatDoesNotParseIsPointedInto) {
  for (const std::vector<std::string>& call : {std::vector<std::string>{"devices", "arch= cores=1"},
                                               {"run", slip_, "--device=arch= cores=1"},
                                               {"run", model_, "--device=arch= cores=1"},
                                               {"bench", slip_, "--devices=arch= cores=1"},
                                               {"lease", "take", "--device=arch= cores=1"}}) {
    EXPECT_EQ(Command(call), 2) << call[0];
    EXPECT_THAT(err_, HasSubstr("error: no selector: a blank at byte 5, expected a value\n"
                                "  arch= cores=1\n       ^\n"));
  }
  EXPECT_EQ(Command({"devices", std::string(10 << 10, '=')}), 2);
  EXPECT_THAT(Error(), HasSubstr("a selector has 10240 bytes; at most 1024"));
  EXPECT_EQ(Command({"devices", "--sort=speed"}), 2);
  EXPECT_EQ(Command({"devices", "--columns=id,speed"}), 2);
  EXPECT_THAT(Error(), HasSubstr("no column \"speed\"; there are id, state"));
}

TEST_F(CommandTest, AServerThatKnowsNoSelectorsIsNamed) {
  server_.Configure([](FakeBehaviour& b) { b.info.clear_selectors(); });
  for (const std::vector<std::string>& call : {std::vector<std::string>{"devices", "cores=2"},
                                               {"run", slip_, "--device=cores=2"},
                                               {"bench", slip_, "--each"},
                                               {"lease", "take", "--device=cores=2"}}) {
    EXPECT_EQ(Command(call), 1) << call[0];
    EXPECT_THAT(Error(), HasSubstr("version \"0.1.0\", knows devices by their ids alone"));
  }
  EXPECT_EQ(Command({"run", slip_, "--device=fake"}), 0);
}

TEST_F(CommandTest, LabelsAreGivenAndTakenAway) {
  EXPECT_EQ(Command({"label", "board-1", "lab=berlin", "rack-", "broken="}), 0) << err_;
  EXPECT_EQ(out_, "device board-1: broken= lab=berlin without-rack=\n");
  EXPECT_EQ(Command({"label", "board-1", "lab=a b"}), 2);
  EXPECT_THAT(Error(), HasSubstr("the byte 0x20 at 1"));
  EXPECT_EQ(Command({"label", "board-1", "lab"}), 2);
  EXPECT_EQ(Command({"label", "board-1"}), 2);
}

TEST_F(CommandTest, FlagsOfManyDevicesExcludeOthers) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--each", "--devices=cores=2"},
        {"--each", "--spread=2"},
        {"--each", "--device=fake"},
        {"--devices=cores=2", "--detach"},
        {"--spread=1", "--profile"}}) {
    std::vector<std::string> call = {"bench", slip_};
    call.insert(call.end(), flags.begin(), flags.end());
    EXPECT_EQ(Command(call), 2) << flags[0];
  }
  EXPECT_EQ(Command({"bench", slip_, "--spread=2"}), 3);
  EXPECT_THAT(Error(), HasSubstr("wants 2 devices; 1 is available"));
}

TEST_F(CommandTest, ABenchmarkOfEachDeviceEndsInOneTable) {
  server_.Configure([](FakeBehaviour& b) {
    v1::Device other = b.devices[0];
    other.mutable_description()->set_id("other");
    b.devices.push_back(other);
  });
  EXPECT_EQ(Command({"bench", model_, "--each"}), 0) << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("DEVICE"), HasSubstr("fake "), HasSubstr("other "),
                          HasSubstr("measured on 2 of 2 devices\n")));
  const auto jobs = server_.jobs();
  ASSERT_EQ(jobs.size(), 3u);  // Compiled once.
}

}  // namespace
}  // namespace slipway::cli
