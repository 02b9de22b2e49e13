// One id of a user's request in the logs of all processes that had to do with it.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/client.h"
#include "client/model_files.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/integration/small_models.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// What `grep request=ID` tells.
std::vector<std::string> LinesOf(absl::string_view log, absl::string_view request) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(log, '\n')) {
    if (absl::StrContains(line, absl::StrCat("request=", request))) lines.emplace_back(line);
  }
  return lines;
}

class RequestLogTest : public ::testing::Test {
 protected:
  RequestLogTest() {
    cluster_ = *Cluster::Start({.agents = 1, .agent_flags = {"--log-level", "debug"}});
    client_ = *cluster_->Connect();
  }
  ~RequestLogTest() override { EXPECT_OK(cluster_->StopAll()); }

  Job End(const absl::StatusOr<std::string>& id) {
    EXPECT_OK(id);
    absl::StatusOr<Job> job = client_->Wait(*id, nullptr);
    EXPECT_OK(job);
    EXPECT_FALSE(job->request_id.empty());
    return *std::move(job);
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

TEST_F(RequestLogTest, TellsTheLifeOfACompilation) {
  const TempTree tree;
  ASSERT_OK_AND_ASSIGN(const ModelFiles files,
                       ReadModelFiles(WriteModel(tree, "tiny", TinyGraph()), 1 << 20));
  const Job job = End(client_->SubmitCompilation(files, {.target = "x86-64-v3-linux"}));
  const std::vector<std::string> lines = LinesOf(cluster_->server().Log(), job.request_id);
  for (const char* const words : {"INFO slipwayd job accepted", "event=assigned",
                                  "INFO slipway-compile-worker attempt begins",
                                  "INFO slipway-compile-worker attempt ended", "to=SUCCEEDED"}) {
    EXPECT_THAT(lines, Contains(HasSubstr(words)));
  }
  // The call that made it has the same name.
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("job accepted"),
                                    HasSubstr(absl::StrCat("call=", job.request_id)))));
  const CommandResult shown = cluster_->Slipway({"job", job.id});
  EXPECT_THAT(shown.out, HasSubstr(job.request_id));
}

TEST_F(RequestLogTest, TellsTheLifeOfARunUpToItsRunner) {
  const Artifact artifact = TestProgram(TestKernel::kCrash);
  ASSERT_OK(client_->PutArtifact(artifact));
  const Job job = End(client_->SubmitRun(artifact.digest(), {}, {}));
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_THAT(LinesOf(cluster_->server().Log(), job.request_id),
              AllOf(Contains(HasSubstr("job accepted")), Contains(HasSubstr("to=FAILED"))));
  EXPECT_THAT(
      LinesOf(cluster_->agent(0).Log(), job.request_id),
      AllOf(Contains(HasSubstr("begins an attempt")), Contains(HasSubstr("ended an attempt"))));
  // What the runner wrote is in the job's error.
  EXPECT_THAT(LinesOf(job.error_log, job.request_id),
              Contains(HasSubstr("slipway-agent runner loads a program")));
}

}  // namespace
}  // namespace slipway::testing
