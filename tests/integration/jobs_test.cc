// What the server promises about jobs, with real processes: caches, reproducible artifacts, coalescing,
// cancelling, deadlines, restarts.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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

constexpr char kTarget[] = "x86-64-v3-linux";
constexpr int64_t kMaxModelBytes = 16 << 20;

class Jobs : public ::testing::Test {
 protected:
  void Start(Cluster::Options options) {
    absl::StatusOr<std::unique_ptr<Cluster>> cluster = Cluster::Start(std::move(options));
    ASSERT_OK(cluster);
    cluster_ = *std::move(cluster);
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }
  void TearDown() override {
    if (cluster_ != nullptr) EXPECT_OK(cluster_->StopAll());
  }

  int64_t Counter(absl::string_view name) {
    const absl::StatusOr<ServerInfo> info = client_->Info();
    EXPECT_OK(info);
    for (const auto& [counter, value] : info->counters) {
      if (counter == name) return value;
    }
    ADD_FAILURE() << "no counter " << name;
    return -1;
  }

  std::vector<RunningProcess> Workers() const {
    std::vector<RunningProcess> all = cluster_->Processes();
    all.erase(std::remove_if(all.begin(), all.end(),
                             [](const RunningProcess& process) {
                               return process.program != "slipway-compile-worker";
                             }),
              all.end());
    return all;
  }

  absl::StatusOr<std::string> SubmitModel(const std::string& path) {
    absl::StatusOr<ModelFiles> files = ReadModelFiles(path, kMaxModelBytes);
    if (!files.ok()) return files.status();
    return client_->SubmitCompilation(*files, {.target = kTarget});
  }

  absl::StatusOr<std::string> SubmitProgram(TestKernel kernel, const RunOptions& options = {}) {
    const Artifact artifact = TestProgram(kernel);
    const absl::Status put = client_->PutArtifact(artifact);
    if (!put.ok()) return put;
    return client_->SubmitRun(artifact.digest(), {}, options);
  }

  // Waits until the job is in `state`; its observer sees every state in which it stays.
  void AwaitState(const std::string& id, JobState state) {
    absl::StatusOr<std::unique_ptr<Client>> watcher = cluster_->Connect();
    ASSERT_OK(watcher);
    bool seen = false;
    (*watcher)
        ->Wait(id,
               [&](const Job& job) {
                 seen = seen || job.state == state;
                 if (seen) (*watcher)->Interrupt();
               })
        .IgnoreError();
    EXPECT_TRUE(seen);
  }

  void ExpectDeviceServes() {
    ASSERT_OK_AND_ASSIGN(const std::string id, SubmitProgram(TestKernel::kAdd));
    ASSERT_OK_AND_ASSIGN(const Job job, client_->Wait(id, nullptr));
    EXPECT_EQ(std::string(Name(job.state)), "succeeded") << job.error;
  }

  TempTree tree_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

TEST_F(Jobs, TheSameModelAgainNeedsNoWorkerAndSharedLayersAreNotCompiledAgain) {
  Start({.agents = 0});
  const std::string two = WriteModel(tree_, "two", ConvChain(2, 5));
  const std::string three = WriteModel(tree_, "three", ConvChain(3, 5));
  ASSERT_OK_AND_ASSIGN(const Compilation first, client_->Compile(two, {.target = kTarget}));
  EXPECT_FALSE(first.cached);
  EXPECT_GT(first.kernels_compiled, 0);
  EXPECT_EQ(first.kernels_cached, 0);

  ASSERT_OK_AND_ASSIGN(const Compilation shared, client_->Compile(three, {.target = kTarget}));
  EXPECT_FALSE(shared.cached);
  EXPECT_GT(shared.kernels_cached, 0);
  EXPECT_LT(shared.kernels_compiled, shared.kernels);
  EXPECT_EQ(shared.kernels_compiled + shared.kernels_cached, shared.kernels);
  EXPECT_EQ(Counter("kernels_compiled"), first.kernels_compiled + shared.kernels_compiled);
  EXPECT_EQ(Counter("artifact_cache_misses"), 2);

  // A server that begins anew finds both, and starts no worker for them.
  cluster_->server().Kill();
  EXPECT_THAT(cluster_->AwaitNoProcess(), ::testing::IsEmpty());
  ASSERT_OK(cluster_->server().Start());
  ASSERT_OK_AND_ASSIGN(const Compilation again, client_->Compile(two, {.target = kTarget}));
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.artifact, first.artifact);
  EXPECT_EQ(Counter("artifact_cache_hits"), 1);
  EXPECT_EQ(Counter("artifact_cache_misses"), 0);
  EXPECT_TRUE(Workers().empty());
}

TEST_F(Jobs, ArtifactsAreTheSameBytesEverywhere) {
  const std::string model = WriteModel(tree_, "random", RandomModel(4));
  std::vector<Digest> artifacts;
  // As many kernels are compiled at a time as there are processors. No cache is shared.
  for (const std::vector<std::string>& prefix :
       {std::vector<std::string>{}, {}, {"/usr/bin/taskset", "--cpu-list", "0"}}) {
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Create({.agents = 0}));
    std::vector<std::string>& argv = cluster_->server().options().argv;
    argv.insert(argv.begin(), prefix.begin(), prefix.end());
    ASSERT_OK(cluster_->server().Start());
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
    ASSERT_OK_AND_ASSIGN(const Compilation compilation,
                         client_->Compile(model, {.target = kTarget}));
    EXPECT_EQ(compilation.kernels_cached, 0);
    artifacts.push_back(compilation.artifact);
    ASSERT_OK(cluster_->StopAll());
  }
  EXPECT_EQ(artifacts[0], artifacts[1]);
  EXPECT_EQ(artifacts[1], artifacts[2]);
}

TEST_F(Jobs, IdenticalCompilationsInFlightAreCompiledOnce) {
  Start({.agents = 0});
  const std::string model = WriteModel(tree_, "chain", ConvChain(6, 3));
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK_AND_ASSIGN(const std::string id, SubmitModel(model));
    ids.push_back(id);
  }
  std::vector<Digest> artifacts;
  for (const std::string& id : ids) {
    ASSERT_OK_AND_ASSIGN(const Job job, client_->Wait(id, nullptr));
    ASSERT_TRUE(job.compilation.has_value()) << job.error;
    artifacts.push_back(job.compilation->artifact);
  }
  EXPECT_THAT(artifacts, ::testing::Each(artifacts[0]));
  EXPECT_EQ(Counter("artifact_cache_misses"), 1);
  EXPECT_EQ(Counter("compilations_coalesced") + Counter("artifact_cache_hits"), 4);
}

TEST_F(Jobs, CancelEndsARunAndFreesTheDevice) {
  Start({});
  ASSERT_OK_AND_ASSIGN(const std::string running, SubmitProgram(TestKernel::kLoop));
  ASSERT_OK_AND_ASSIGN(const std::string waiting, SubmitProgram(TestKernel::kAdd));
  AwaitState(running, JobState::kRunning);
  // The one that waits first.
  ASSERT_OK(client_->CancelJob(waiting));
  ASSERT_OK_AND_ASSIGN(const Job never, client_->Wait(waiting, nullptr));
  EXPECT_EQ(std::string(Name(never.state)), "cancelled");
  EXPECT_EQ(never.attempts, 0);
  ASSERT_OK(client_->CancelJob(running));
  ASSERT_OK_AND_ASSIGN(const Job ended, client_->Wait(running, nullptr));
  EXPECT_EQ(std::string(Name(ended.state)), "cancelled");
  ExpectDeviceServes();
  // What has ended stays as it is.
  ASSERT_OK_AND_ASSIGN(const Job same, client_->CancelJob(running));
  EXPECT_EQ(same.revision, ended.revision);
}

TEST_F(Jobs, CancelEndsACompilation) {
  Start({.agents = 0});
  const std::string model = WriteModel(tree_, "chain", ConvChain(40, 9));
  ASSERT_OK_AND_ASSIGN(const std::string id, SubmitModel(model));
  AwaitState(id, JobState::kRunning);
  ASSERT_OK(client_->CancelJob(id));
  ASSERT_OK_AND_ASSIGN(const Job job, client_->Wait(id, nullptr));
  EXPECT_EQ(std::string(Name(job.state)), "cancelled");
  EXPECT_OK(client_->Compile(WriteModel(tree_, "tiny", TinyGraph()), {.target = kTarget}));
}

TEST_F(Jobs, Deadlines) {
  Start({});
  RunOptions options;
  options.deadlines.run = absl::Seconds(1);
  ASSERT_OK_AND_ASSIGN(const std::string running, SubmitProgram(TestKernel::kLoop, options));
  options.deadlines = {.queue = absl::Milliseconds(100)};
  ASSERT_OK_AND_ASSIGN(const std::string waiting, SubmitProgram(TestKernel::kAdd, options));
  ASSERT_OK_AND_ASSIGN(const Job late, client_->Wait(waiting, nullptr));
  EXPECT_THAT(late.error, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(late.attempts, 0);
  ASSERT_OK_AND_ASSIGN(const Job long_run, client_->Wait(running, nullptr));
  EXPECT_THAT(long_run.error, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(long_run.attempts, 1);
  options.deadlines = {.total = absl::Milliseconds(500)};
  ASSERT_OK_AND_ASSIGN(const std::string total, SubmitProgram(TestKernel::kLoop, options));
  ASSERT_OK_AND_ASSIGN(const Job in_total, client_->Wait(total, nullptr));
  EXPECT_THAT(in_total.error, StatusIs(absl::StatusCode::kDeadlineExceeded));
  ExpectDeviceServes();
}

TEST_F(Jobs, OverTcp) {
  Start({.tcp = true});
  EXPECT_THAT(cluster_->address(), ::testing::MatchesRegex("127\\.0\\.0\\.1:[1-9][0-9]*"));
  ExpectDeviceServes();
  EXPECT_OK(client_->Compile(WriteModel(tree_, "tiny", TinyGraph()), {.target = kTarget}));
}

TEST_F(Jobs, ARunOutlivesTheServer) {
  Start({});
  const Artifact artifact = TestProgram(TestKernel::kSlow);
  ASSERT_OK(client_->PutArtifact(artifact));
  Tensor x = Tensor::Zeros(DataType::kFloat32, {2, 8});
  x.mutable_values<float>()[0] = 30;
  ASSERT_OK_AND_ASSIGN(const std::string id, client_->SubmitRun(artifact.digest(), {{"x", x}}, {}));
  AwaitState(id, JobState::kRunning);
  cluster_->server().Kill();
  ASSERT_OK(cluster_->server().Start());
  ASSERT_OK_AND_ASSIGN(const Job job, client_->Wait(id, nullptr));
  EXPECT_EQ(std::string(Name(job.state)), "succeeded") << job.error;
  // The agent went on with it.
  EXPECT_EQ(job.attempts, 1);
}

}  // namespace
}  // namespace slipway::testing
