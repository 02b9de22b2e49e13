// A server whose own worker does not start: who waits for it is told why.
#include <sys/stat.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "client/model_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/integration/small_models.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kLastWords[] = "libthing.so: cannot open shared object file";

class NoWorker : public ::testing::Test {
 protected:
  void SetUp() override {
    // A worker that knows what it compiles for, and can do nothing until it is mended.
    const std::string worker = tree_.Write(
        "worker", absl::StrCat("#!/bin/sh\n[ -e '", tree_.Path("mended"),
                               "' ] || [ \"$1\" = --print-targets ] && exec '", WorkerBinary(),
                               "' \"$@\"\necho '", kLastWords, "' >&2\nexit 1\n"));
    ASSERT_EQ(chmod(worker.c_str(), 0755), 0);
    ASSERT_OK_AND_ASSIGN(cluster_,
                         Cluster::Start({.agents = 0, .server_flags = {"--worker", worker}}));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }
  void TearDown() override {
    if (cluster_ != nullptr) EXPECT_OK(cluster_->StopAll());
  }

  absl::StatusOr<Job> Compile() {
    absl::StatusOr<ModelFiles> files =
        ReadModelFiles(WriteModel(tree_, "tiny", TinyGraph()), 1 << 20);
    if (!files.ok()) return files.status();
    absl::StatusOr<std::string> id =
        client_->SubmitCompilation(*files, {.target = "x86-64-v3-linux"});
    if (!id.ok()) return id.status();
    return client_->Wait(*id, nullptr);
  }

  TempTree tree_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

TEST_F(NoWorker, CompilationsFailWithItsLastWordsUntilItIsMended) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK_AND_ASSIGN(const Job job, Compile());
    EXPECT_THAT(job.error, StatusIs(absl::StatusCode::kUnavailable,
                                    AllOf(HasSubstr(kLastWords), HasSubstr("exit code 1"),
                                          HasSubstr("'x86-64-v3-linux'"), HasSubstr("--worker"))));
    EXPECT_THAT(job.error_log, HasSubstr(kLastWords));
  }
  // As before, its operator sees it too.
  EXPECT_THAT(cluster_->server().Log(), HasSubstr(kLastWords));

  tree_.Write("mended", "");
  const absl::Time end = absl::Now() + absl::Seconds(60);
  absl::StatusOr<Job> job = Compile();
  while (job.ok() && !job->error.ok() && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(50));
    job = Compile();
  }
  ASSERT_OK(job);
  EXPECT_OK(job->error);
}

}  // namespace
}  // namespace slipway::testing
