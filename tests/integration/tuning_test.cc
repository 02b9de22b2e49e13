// `slipway compile --tune-on` with real processes: schedules are measured on a device, kept in a file, and taken from it.
#include <signal.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "core/artifact/slip_file.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/json.h"
#include "tests/common/process_list.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kOfAnotherModel[] = "0123456789abcdef rows  # of another model\n";

class TuningTest : public ::testing::Test {
 protected:
  void StartCluster(std::vector<std::string> server_flags = {}) {
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start({.server_flags = std::move(server_flags)}));
    model_ = RunfilePath("client/examples/digits/digits.onnx");
    file_ = cluster_->Path("digits.schedules");
  }
  std::string FileText() {
    absl::StatusOr<std::string> text = ReadFile(file_, 1 << 20);
    EXPECT_OK(text);
    return text.value_or("");
  }

  // Whether the device comes to be held, or free.
  bool AwaitLease(Client& client, bool is_held) {
    for (int i = 0; i < 600; ++i) {
      const absl::StatusOr<std::vector<Device>> devices = client.ListDevices();
      if (devices.ok() && devices->size() == 1 && devices->front().lease.has_value() == is_held) {
        return true;
      }
      absl::SleepFor(absl::Milliseconds(50));
    }
    return false;
  }
  // What comes of tuning during which that is done.
  CommandResult TuneAndMeanwhile(const std::function<void()>& action) {
    EXPECT_OK(WriteFileAtomically(file_, kOfAnotherModel, false));
    CommandResult result;
    std::thread tuning([&] {
      result = cluster_->Slipway({"compile", model_, "--tune-on=agent0", "--schedules", file_},
                                 absl::Minutes(2));
    });
    const absl::StatusOr<std::unique_ptr<Client>> client = cluster_->Connect();
    EXPECT_OK(client);
    EXPECT_TRUE(client.ok() && AwaitLease(**client, true));
    absl::SleepFor(absl::Milliseconds(500));
    action();
    tuning.join();
    return result;
  }

  std::unique_ptr<Cluster> cluster_;
  std::string model_, file_;
};

// The record of the first convolution, as narrow as it can be cut.
std::string NarrowRecord(const std::string& schedules) {
  for (const absl::string_view line : absl::StrSplit(schedules, '\n')) {
    std::vector<std::string> words = absl::StrSplit(line.substr(0, line.find("  #")), ' ');
    if (words.size() < 3 || words[1] != "convolution") continue;
    for (std::string& word : words) {
      if (absl::StartsWith(word, "width=")) word = "width=1";
    }
    return absl::StrJoin(words, " ");
  }
  ADD_FAILURE() << schedules;
  return "";
}

TEST_F(TuningTest, WhatIsFoundIsKeptAndTaken) {
  StartCluster();
  const std::string written = cluster_->Path("chosen");
  const CommandResult compiled =
      cluster_->Slipway({"compile", model_, "--device=agent0", "--write-schedules", written});
  ASSERT_TRUE(compiled.status.ok()) << compiled.ToString();
  ASSERT_OK_AND_ASSIGN(const std::string chosen, ReadFile(written, 1 << 20));
  const std::string narrow = NarrowRecord(chosen);
  ASSERT_OK(WriteFileAtomically(file_, absl::StrCat(kOfAnotherModel, narrow, "\n"), false));

  const std::string artifact = cluster_->Path("digits.slip");
  const CommandResult tuned =
      cluster_->Slipway({"compile", model_, "--tune-on=agent0", "--tune-limit=15s", "--schedules",
                         file_, "-o", artifact, "--json"},
                        absl::Minutes(4));
  SCOPED_TRACE(tuned.ToString());
  ASSERT_TRUE(tuned.status.ok());
  EXPECT_THAT(tuned.err, HasSubstr("tuning digits.onnx on agent0: trial 1\n"));
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(tuned.out));
  const Json& tuning = json["tuning"];
  EXPECT_EQ(tuning["device"], "agent0");
  EXPECT_EQ(tuning["dropped"], 0) << "no kernel refuses a candidate";
  EXPECT_GE(tuning["trials"], 1);
  EXPECT_GT(tuning["default_ns"], 0);
  ASSERT_GE(tuning["kernels"].size(), 2u);
  for (const Json& kernel : tuning["kernels"]) {
    EXPECT_GE(kernel["tried"], 1);
    EXPECT_GT(kernel["default_ns"], 0);
    EXPECT_NE(absl::StrCat(kernel["kernel"].get<std::string>(), " ",
                           kernel["schedule"].get<std::string>()),
              narrow);
  }
  EXPECT_THAT(FileText(), AllOf(HasSubstr(kOfAnotherModel), Not(HasSubstr(narrow))));

  // What it says is what the program was compiled with, and others take it.
  const CommandResult benched = cluster_->Slipway(
      {"bench", model_, "--device=agent0", "--schedules", file_, "--samples=5", "--json"});
  ASSERT_TRUE(benched.status.ok()) << benched.ToString();
  ASSERT_OK_AND_ASSIGN(const Json measured, ParseJson(benched.out));
  EXPECT_EQ(measured["artifact_digest"], json["artifact_digest"]);
  EXPECT_OK(ReadSlip(artifact));
  EXPECT_OK(cluster_->StopAll());
}

TEST_F(TuningTest, ADeviceThatIsLostIsSaidAndTheFileStands) {
  StartCluster({"--silence", "1s"});
  const CommandResult result = TuneAndMeanwhile([this] { cluster_->agent(0).Kill(); });
  EXPECT_EQ(result.status.exit_code, 3) << result.ToString();
  EXPECT_THAT(result.err, HasSubstr(absl::StrCat("is in \"", file_, "\"")));
  EXPECT_THAT(FileText(), HasSubstr(kOfAnotherModel));
}

TEST_F(TuningTest, AnInterruptFreesTheDeviceAndTheFileStands) {
  StartCluster();
  const CommandResult result = TuneAndMeanwhile([this] {
    for (const RunningProcess& process : cluster_->Processes()) {
      if (process.program == "slipway") kill(process.pid, SIGINT);
    }
  });
  EXPECT_EQ(result.status.exit_code, 1) << result.ToString();
  EXPECT_THAT(result.err, HasSubstr(absl::StrCat("is in \"", file_, "\"")));
  EXPECT_THAT(FileText(), HasSubstr(kOfAnotherModel));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster_->Connect());
  EXPECT_TRUE(AwaitLease(*client, false));
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> jobs, client->ListJobs({}));
  for (const Job& job : jobs) EXPECT_TRUE(job.ended()) << job.id;
}

TEST_F(TuningTest, ADeviceThatIsNotThereAndAFileThatIsWrongAreSaid) {
  StartCluster();
  const CommandResult none =
      cluster_->Slipway({"compile", model_, "--tune-on=elsewhere", "--schedules", file_});
  EXPECT_EQ(none.status.exit_code, 3) << none.ToString();
  EXPECT_THAT(none.err, HasSubstr("no device \"elsewhere\""));
  ASSERT_OK(WriteFileAtomically(file_, "width=5\n", false));
  const CommandResult wrong =
      cluster_->Slipway({"compile", model_, "--tune-on=agent0", "--schedules", file_});
  EXPECT_EQ(wrong.status.exit_code, 2) << wrong.ToString();
  EXPECT_THAT(wrong.err, HasSubstr("flag \"--schedules\": "));
}

}  // namespace
}  // namespace slipway::testing
