// Agents that take what their server offers, with real processes: a good binary, and bad ones of every kind, each of which must
// end with an agent that works and a server that knows why.
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "core/base/agent_stamp.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/identity/role.h"
#include "core/runtime/test_programs/test_programs.h"
#include "device_agent/update/update_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/devices/device_record.pb.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// What follows these words in the README of the command.
std::string InReadme(const std::string& words) {
  const std::string readme = *ReadFile(RunfilePath("client/README.md"), 1 << 20);
  const size_t at = readme.find(words);
  return at == std::string::npos ? "" : readme.substr(at + words.size());
}
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }
std::vector<std::string> Words(const std::string& line) {
  return absl::StrSplit(line, ' ', absl::SkipEmpty());
}

class UpdateProcesses : public ::testing::Test {
 protected:
  void Start(int agents, std::vector<std::string> more_flags = {}) {
    Cluster::Options options = {.agents = agents, .agent_flags = {"--accept-updates"}, .tcp = true};
    options.agent_flags.insert(options.agent_flags.end(), more_flags.begin(), more_flags.end());
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start(std::move(options)));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
    ASSERT_OK_AND_ASSIGN(
        admin_, Client::Connect({.server = cluster_->address(),
                                 .proof = {.identity_file = cluster_->Identity(Role::kAdmin)}}));
  }
  void TearDown() override {
    if (cluster_ != nullptr) EXPECT_OK(cluster_->StopAll());
  }

  // A file that says it is an agent of version 9.9.9.
  std::string Write(const std::string& name, const std::string& bytes) {
    const std::string path = cluster_->Path(name);
    EXPECT_OK(WriteFileAtomically(path, bytes, /*durable=*/false, 0700));
    return path;
  }
  std::string Script(const std::string& lines) {
    return Write("bad-agent", absl::StrCat("#!/bin/sh\n# slipway-agent-stamp 9.9.9 ",
                                           OwnAgentStamp().platform, ";\n", lines, "\n"));
  }
  // The agent itself with another stamp, which makes it another binary.
  std::string GoodAgent() {
    std::string bytes = *ReadFile(AgentBinary(), int64_t{1} << 30);
    const AgentStamp own = OwnAgentStamp();
    const std::string stamp = absl::StrCat("slipway-agent-stamp ", own.version, " ", own.platform);
    const size_t at = bytes.find(stamp);
    EXPECT_NE(at, std::string::npos);
    EXPECT_EQ(own.version.size(), 5u);
    bytes.replace(at + stamp.find(own.version), 5, "9.9.9");
    return Write("good-agent", bytes);
  }

  AgentRollout Rollout() {
    const absl::StatusOr<std::vector<AgentRollout>> rollouts = admin_->ListAgentOffers();
    return rollouts.ok() && !rollouts->empty() ? rollouts->front() : AgentRollout();
  }
  std::optional<Device> Find(const std::string& id) {
    const absl::StatusOr<std::vector<Device>> devices = client_->ListDevices();
    if (!devices.ok()) return std::nullopt;
    for (const Device& device : *devices) {
      if (device.id == id) return device;
    }
    return std::nullopt;
  }
  static bool Await(const std::function<bool()>& is_so) {
    const absl::Time end = absl::Now() + absl::Minutes(1);
    while (!is_so()) {
      if (absl::Now() > end) return false;
      absl::SleepFor(absl::Milliseconds(20));
    }
    return true;
  }
  void ExpectWorks(const std::string& device = "agent0") {
    const Artifact artifact = TestProgram(TestKernel::kAdd);
    ASSERT_OK(client_->PutArtifact(artifact));
    RunOptions options;
    options.device = device;
    ASSERT_OK_AND_ASSIGN(const std::string id, client_->SubmitRun(artifact.digest(), {}, options));
    ASSERT_OK_AND_ASSIGN(const Job ran, client_->Wait(id, nullptr));
    EXPECT_EQ(ran.state, JobState::kSucceeded) << ran.error;
  }
  // Offers a bad one, which must be given up for such a reason by an agent that works then.
  void ExpectGivenUp(const std::string& path, const std::string& reason) {
    ASSERT_OK(admin_->OfferAgent({.path = path}));
    ASSERT_TRUE(Await([this] { return Rollout().failed == 1; }));
    EXPECT_THAT(Rollout().failure, HasSubstr(reason));
    EXPECT_EQ(Rollout().failed_device, "agent0");
    ASSERT_TRUE(Await([this] { return Find("agent0")->state == DeviceState::kIdle; }));
    EXPECT_THAT(Find("agent0")->update->failure, HasSubstr(reason));
    EXPECT_NE(Find("agent0")->update->binary, Digest::Of(*ReadFile(path, int64_t{1} << 30)));
    ExpectWorks();
  }
  // Processes that do what the bad agent does.
  size_t Sleepers() {
    const std::vector<RunningProcess> all = cluster_->Processes();
    return static_cast<size_t>(
        std::count_if(all.begin(), all.end(),
                      [](const RunningProcess& process) { return process.program == "sleep"; }));
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;  // A user's.
  std::unique_ptr<Client> admin_;
};

TEST_F(UpdateProcesses, AGoodOneIsTakenByOneAfterTheOtherAndStays) {
  Start(2);
  const std::string path = GoodAgent();
  const Digest good = Digest::Of(*ReadFile(path, int64_t{1} << 30));
  // Not for users.
  EXPECT_THAT(client_->OfferAgent({.path = path}),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("is not admin")));
  EXPECT_THAT(client_->WithdrawAgentOffer(OwnAgentStamp().platform),
              StatusIs(absl::StatusCode::kPermissionDenied));
  const std::string identity = cluster_->Identity(Role::kAdmin);
  const CommandResult offered = cluster_->Slipway({"offer", path, "--identity", identity});
  ASSERT_TRUE(offered.status.ok()) << offered.ToString();
  EXPECT_THAT(offered.out,
              AllOf(HasSubstr(absl::StrCat("offers version 9.9.9 for ", OwnAgentStamp().platform)),
                    HasSubstr(good.hex().substr(0, 12))));
  ASSERT_TRUE(Await([this] {
    const AgentRollout rollout = Rollout();
    EXPECT_LE(rollout.under_way, 1);
    EXPECT_EQ(rollout.failed, 0) << rollout.failure;
    return rollout.updated == 2;
  }));
  for (const std::string& id : {"agent0", "agent1"}) {
    EXPECT_EQ(Find(id)->update->binary, good);
    ExpectWorks(id);
  }
  const CommandResult list = cluster_->Slipway({"offers"});
  EXPECT_EQ(Words(FirstLine(list.out)), Words(FirstLine(InReadme("$ slipway offers\n"))))
      << list.ToString();
  EXPECT_THAT(InReadme("$ slipway offer slipway-agent --identity ~/admin.pem\n"),
              ::testing::StartsWith(
                  absl::StrReplaceAll(offered.out, {{"9.9.9", "0.2.0"},
                                                    {good.hex().substr(0, 12), "5c1f0a7be94d"},
                                                    {OwnAgentStamp().platform, "x86-64-linux"}})));

  // After the end of its process, and of its machine, it is the same.
  ASSERT_OK(cluster_->agent(0).Stop());
  ASSERT_OK(cluster_->agent(0).Start());
  cluster_->agent(1).Kill();
  ASSERT_OK(cluster_->agent(1).Start());
  for (const std::string& id : {"agent0", "agent1"}) {
    ASSERT_TRUE(Await([&] { return Find(id)->state == DeviceState::kIdle; }));
    EXPECT_EQ(Find(id)->update->binary, good);
    ExpectWorks(id);
  }
  // And back: what was installed is a binary like any.
  ASSERT_OK(admin_->OfferAgent({.path = AgentBinary(), .at_once = 2}));
  ASSERT_TRUE(Await([this] { return Rollout().updated == 2; }));
  ExpectWorks();
  EXPECT_TRUE(cluster_->Slipway({"withdraw", OwnAgentStamp().platform, "--identity", identity})
                  .status.ok());
  EXPECT_THAT(cluster_->Slipway({"offers"}).out, HasSubstr("nothing"));
}

TEST_F(UpdateProcesses, OneThatExitsAtOnceIsGivenUp) {
  Start(1);
  ExpectGivenUp(Script("exit 3"), "version 9.9.9 ended before it had reported: exit code 3");
  // Not after a restart either.
  cluster_->agent(0).Kill();
  ASSERT_OK(cluster_->agent(0).Start());
  ASSERT_TRUE(Await([this] { return Find("agent0")->state == DeviceState::kIdle; }));
  EXPECT_EQ(Rollout().failed, 1);
  const CommandResult list = cluster_->Slipway({"offers"});
  EXPECT_THAT(list.out, HasSubstr("agent0: version 9.9.9 ended before it had reported"))
      << list.ToString();
}

TEST_F(UpdateProcesses, OneThatCannotBeExecutedIsGivenUp) {
  Start(1);
  ExpectGivenUp(Write("no-program", absl::StrCat("\x7f"
                                                 "ELF slipway-agent-stamp 9.9.9 ",
                                                 OwnAgentStamp().platform, ";")),
                "exit code 126");
}

TEST_F(UpdateProcesses, OneThatNeverReportsIsGivenUp) {
  Start(1, {"--update-deadline", "2s"});
  ExpectGivenUp(Script("exec sleep 1000"), "did not report to the server within 2s");
  EXPECT_EQ(Sleepers(), 0u);
}

TEST_F(UpdateProcesses, ABadOneTakesNoOther) {
  Start(3);
  ASSERT_OK(admin_->OfferAgent({.path = Script("exit 3")}));
  ASSERT_TRUE(Await([this] { return Rollout().failed == 1; }));
  const AgentRollout rollout = Rollout();
  EXPECT_TRUE(rollout.is_halted);
  EXPECT_EQ(rollout.under_way, 0);
  EXPECT_EQ(rollout.waiting, 2);
  ExpectWorks("agent1");
  ExpectWorks("agent2");
}

TEST_F(UpdateProcesses, OneWhoseBytesAreOthersIsNotRun) {
  Start(1);
  ASSERT_OK(cluster_->agent(0).Stop());
  const std::string path = Script("exit 3");
  ASSERT_OK(admin_->OfferAgent({.path = path}));
  const std::string hex = Digest::Of(*ReadFile(path, 1 << 20)).hex();
  int rotten = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cluster_->Path("."))) {
    const std::string name = absl::StrReplaceAll(entry.path().string(), {{"/", ""}});
    if (!absl::StrContains(name, hex) || !entry.is_regular_file()) continue;
    std::string bytes = *ReadFile(entry.path().string(), 1 << 20);
    bytes.back() ^= 1;
    ASSERT_OK(WriteFileAtomically(entry.path().string(), bytes, /*durable=*/false));
    ++rotten;
  }
  ASSERT_GE(rotten, 1);
  ASSERT_OK(cluster_->agent(0).Start());
  ASSERT_TRUE(Await([this] { return Rollout().failed == 1; }));
  EXPECT_THAT(Rollout().failure, HasSubstr("fetching the binary"));
  ASSERT_TRUE(Await([this] { return Find("agent0")->state == DeviceState::kIdle; }));
  ExpectWorks();
}

TEST_F(UpdateProcesses, OneThatTheServerHasNotSignedIsNotRun) {
  Start(1);
  ASSERT_OK(cluster_->agent(0).Stop());
  ASSERT_OK(admin_->OfferAgent({.path = Script("exit 3")}));
  ASSERT_OK(cluster_->server().Stop());
  const std::string path = JoinPath(cluster_->data_folder(), "agent-offers");
  server::AgentOfferRecords records;
  ASSERT_TRUE(records.ParseFromString(*ReadFile(path, 1 << 20)));
  ASSERT_EQ(records.records_size(), 1);
  records.mutable_records(0)->mutable_statement()->mutable_payload()->back() ^= 1;
  ASSERT_OK(WriteFileAtomically(path, records.SerializeAsString(), /*durable=*/false));
  ASSERT_OK(cluster_->server().Start());
  ASSERT_OK(cluster_->agent(0).Start());
  ASSERT_TRUE(Await([this] { return Rollout().failed == 1; }));
  EXPECT_THAT(Rollout().failure, HasSubstr("does not vouch for the binary"));
  ASSERT_TRUE(Await([this] { return Find("agent0")->state == DeviceState::kIdle; }));
  ExpectWorks();
}

// kill -9 at the worst moment, again and again.
TEST_F(UpdateProcesses, OneThatIsCutOffInTheMiddleEndsWithAnAgentThatWorks) {
  Start(1, {"--update-deadline", "1h"});
  ASSERT_OK(admin_->OfferAgent({.path = Script("exec sleep 1000")}));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Await([this] { return Sleepers() == 1; }));
    // The supervisor; what it tries goes with it.
    cluster_->agent(0).Kill();
    ASSERT_TRUE(Await([this] { return Sleepers() == 0; }));
    if (i == 0) ASSERT_OK(cluster_->agent(0).Launch());
  }
  ASSERT_OK(cluster_->agent(0).Start());
  ASSERT_TRUE(Await([this] { return Rollout().failed == 1; }));
  EXPECT_THAT(Rollout().failure, HasSubstr("was started 2 times"));
  ExpectWorks();
}

TEST_F(UpdateProcesses, OneThatIsStoppedInTheMiddleIsTriedAgain) {
  Start(1, {"--update-deadline", "1h"});
  ASSERT_OK(admin_->OfferAgent({.path = Script("exec sleep 1000")}));
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(Await([this] { return Sleepers() == 1; }));
    ASSERT_OK(cluster_->agent(0).Stop());
    EXPECT_EQ(Sleepers(), 0u);
    ASSERT_OK(cluster_->agent(0).Launch());
  }
  cluster_->agent(0).Kill();
  ASSERT_OK_AND_ASSIGN(const agent::UpdateState state, [&]() -> absl::StatusOr<agent::UpdateState> {
    return UpdateFolder(cluster_->Path("agent0")).Load().value();
  }());
  EXPECT_TRUE(state.has_trial());
}

// It reports, and so it runs from then on, and it ends each time soon after that.
TEST_F(UpdateProcesses, OneThatEndsAgainAndAgainIsGivenUp) {
  Start(1);
  const std::string fifo = cluster_->Path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ExpectGivenUp(Script(absl::StrCat(AgentBinary(), " \"$@\" --no-accept-updates --ready-fd 9 9>",
                                    fifo, " &\nread line < ", fifo, "\nkill -9 $!\nexit 4")),
                "version 9.9.9 ended 3 times in a row soon after it had begun");
}

}  // namespace
}  // namespace slipway::testing
