// One program on many devices: client, server and three agents as they are, on this machine; and the transcript of it in README.md.
#include "client/fan_out.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/client.h"
#include "client/run_fan_out.h"
#include "core/base/files.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A command as it was typed, and what it printed.
struct Exchange {
  std::string command;
  std::vector<std::string> output;
};

// Of the README's block that begins with this command.
std::vector<Exchange> ReadTranscript(absl::string_view readme, absl::string_view begin) {
  std::vector<Exchange> exchanges;
  const size_t at = readme.find(begin);
  if (at == absl::string_view::npos) return exchanges;
  for (const absl::string_view line : absl::StrSplit(readme.substr(at), '\n')) {
    if (line == "```") break;
    if (absl::StartsWith(line, "$ slipway ")) {
      exchanges.push_back({std::string(absl::StripPrefix(line, "$ slipway ")), {}});
    } else if (!exchanges.empty()) {
      exchanges.back().output.push_back(std::string(line));
    }
  }
  return exchanges;
}

// Blanks part words but between single quotes.
std::vector<std::string> Words(absl::string_view command) {
  std::vector<std::string> words;
  bool is_quoted = false;
  const std::vector<absl::string_view> parts = absl::StrSplit(command, '\'');
  for (const absl::string_view part : parts) {
    if (is_quoted) {
      words.emplace_back(part);
    } else {
      for (const absl::string_view word : absl::StrSplit(part, ' ', absl::SkipEmpty())) {
        words.emplace_back(word);
      }
    }
    is_quoted = !is_quoted;
  }
  return words;
}

// Of a table that is sorted by speed: its titles, then what is not measured, the devices in order.
std::vector<std::string> WithoutNumbers(const std::vector<std::string>& lines) {
  std::vector<std::string> shape;
  std::set<std::string> devices;
  for (const std::string& line : lines) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (!words.empty() && absl::StartsWith(words[0], "agent")) {
      devices.insert(words[0]);
    } else {
      shape.push_back(absl::StrJoin(words, " "));
    }
  }
  shape.insert(shape.end(), devices.begin(), devices.end());
  return shape;
}

class FanOutTest : public ::testing::Test {
 protected:
  void StartCluster(std::vector<std::string> server_flags = {}) {
    ASSERT_OK_AND_ASSIGN(cluster_,
                         Cluster::Start({.agents = 3, .server_flags = std::move(server_flags)}));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }

  // Benchmarks of a program that is there already, with so many samples, on all devices.
  absl::Status Run(FanOut& fan_out, int samples,
                   const std::function<void(const FanOut&)>& observer) {
    const FanOutWork work = {
        .compile = [](const std::string&) -> absl::StatusOr<Digest> {
          return absl::UnimplementedError("nothing is to be compiled");
        },
        .submit =
            [this, samples](const std::string& device, const Digest& artifact) {
              return client_->SubmitBenchmark(artifact, {},
                                              {.run = {.device = device}, .samples = samples});
            }};
    return RunFanOut(*client_, fan_out, work, observer, absl::Milliseconds(300));
  }
  FanOut MakeFanOut() {
    const Artifact artifact = TestProgram(TestKernel::kAdd);
    EXPECT_OK(client_->PutArtifact(artifact));
    absl::StatusOr<std::vector<Device>> devices = client_->ListDevices();
    EXPECT_OK(devices.status());
    return FanOut(*devices, {.target = artifact.manifest().target().ToString(),
                             .artifact = artifact.digest()});
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

TEST_F(FanOutTest, ComesOutAsItStandsInTheReadme) {
  StartCluster();
  ASSERT_OK_AND_ASSIGN(const std::string readme, ReadFile(RunfilePath("README.md"), 1 << 20));
  const std::vector<Exchange> recorded = ReadTranscript(readme, "$ slipway label agent0");
  ASSERT_GE(recorded.size(), 5u);
  const std::string model = RunfilePath("client/examples/digits/digits.onnx");
  for (const Exchange& exchange : recorded) {
    std::vector<std::string> words = Words(exchange.command);
    for (std::string& word : words) {
      if (word == "digits.onnx") word = model;
    }
    const CommandResult result = cluster_->Slipway(words, absl::Minutes(3));
    SCOPED_TRACE(result.ToString());
    const bool is_measured = words[0] == "bench";
    // Progress is a line that goes, at a terminal.
    const std::string shown = is_measured ? result.out : result.err + result.out;
    std::vector<std::string> lines = absl::StrSplit(absl::StripSuffix(shown, "\n"), '\n');
    if (is_measured) {
      EXPECT_EQ(WithoutNumbers(lines), WithoutNumbers(exchange.output));
    } else {
      EXPECT_EQ(lines, exchange.output);
    }
  }
}

TEST_F(FanOutTest, JsonHasADeviceEach) {
  StartCluster();
  const CommandResult result =
      cluster_->Slipway({"bench", RunfilePath("client/examples/digits/digits.onnx"), "--devices",
                         "id=agent0|agent2", "--samples", "20", "--json"},
                        absl::Minutes(3));
  SCOPED_TRACE(result.ToString());
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(result.out));
  EXPECT_EQ(json["measured"], 2);
  std::set<std::string> devices;
  for (const Json& device : json["devices"]) devices.insert(device["device"]);
  EXPECT_THAT(devices, ElementsAre("agent0", "agent2"));
  EXPECT_EQ(json["devices"][0]["ratio"], 1.0);
  // One target, so that one compilation was enough.
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> jobs, client_->ListJobs({}));
  std::map<JobKind, int> kinds;
  for (const Job& job : jobs) ++kinds[job.kind];
  EXPECT_EQ(kinds[JobKind::kCompilation], 1);
  EXPECT_EQ(kinds[JobKind::kBenchmark], 2);
}

TEST_F(FanOutTest, TheLossOfOneIsReportedAndTheOthersAreMeasured) {
  StartCluster({"--silence", "1s"});
  FanOut fan_out = MakeFanOut();
  bool is_killed = false;
  ASSERT_OK(Run(fan_out, 2'000, [this, &is_killed](const FanOut& now) {
    for (const FanOutRow& row : now.rows()) {
      if (is_killed || row.device != "agent2" || row.job_id.empty()) continue;
      is_killed = true;
      cluster_->agent(2).Kill();
    }
  }));
  for (const FanOutRow& row : fan_out.rows()) {
    EXPECT_EQ(row.result.has_value(), row.device != "agent2") << row.device << " " << row.error;
    EXPECT_EQ(row.is_lost, row.device == "agent2");
  }
}

TEST_F(FanOutTest, AnInterruptLeavesNoJobBehind) {
  StartCluster();
  FanOut fan_out = MakeFanOut();
  const absl::Status status = Run(fan_out, 1'000'000, [this](const FanOut& now) {
    if (now.OpenJobs().size() == 3) client_->Interrupt();
  });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled, HasSubstr("3 jobs are cancelled")));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> other, cluster_->Connect());
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> jobs, other->ListJobs({}));
  ASSERT_EQ(jobs.size(), 3u);
  for (const Job& job : jobs) EXPECT_EQ(job.state, JobState::kCancelled) << job.id;
}

TEST_F(FanOutTest, ASelectorStandsWhereADeviceDoes) {
  StartCluster();
  const Artifact artifact = TestProgram(TestKernel::kAdd);
  ASSERT_OK(client_->PutArtifact(artifact));
  ASSERT_OK_AND_ASSIGN(
      const std::string job,
      client_->SubmitBenchmark(artifact.digest(), {}, {.run = {.device = "id=*2 memory>=1MiB"}}));
  ASSERT_OK_AND_ASSIGN(const Job done, client_->Wait(job, nullptr));
  EXPECT_EQ(done.state, JobState::kSucceeded) << done.error;
  EXPECT_EQ(done.assignee, "agent2");
  EXPECT_EQ(done.device, "id=*2 memory>=1MiB");
  const CommandResult leased =
      cluster_->Slipway({"lease", "take", "--device", "id=agent1", "--json"});
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(leased.out));
  EXPECT_EQ(json["device"], "agent1");
  const CommandResult none = cluster_->Slipway({"session", "--device", "label:lab=berlin"});
  EXPECT_THAT(none.err, HasSubstr("no device matches label:lab=berlin: of 3 devices, 3 have no "
                                  "label lab"));
}

}  // namespace
}  // namespace slipway::testing
