// The client against a fake server: the common path, and calls that break on the way.
#include <thread>

#include "client/client.h"
#include "client/testing/grpc_fake_server.h"
#include "core/artifact/slip_file.h"
#include "core/artifact/test_manifest.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::FakeBehaviour;
using ::slipway::testing::FakeServer;
using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("client"));
    model_ = Write("model.onnx", std::string(3 << 20, 'm'));
    ASSERT_OK_AND_ASSIGN(client_, Client::Connect({.server = server_.address()}));
  }
  std::string Write(const std::string& name, const std::string& bytes) {
    const std::string path = JoinPath(folder_.path(), name);
    EXPECT_THAT(WriteFileAtomically(path, bytes, false), IsOk());
    return path;
  }

  absl::StatusOr<std::string> Submit() {
    const absl::StatusOr<ModelFiles> files = ReadModelFiles(model_, client_->max_model_bytes());
    EXPECT_THAT(files, IsOk());
    return client_->SubmitCompilation(*files, options_);
  }

  FakeServer server_;
  TemporaryFolder folder_;
  std::string model_;
  const CompileOptions options_ = {.target = "x86-64-v3-linux"};
  std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, CompilesRunsAndBenchmarks) {
  ASSERT_OK_AND_ASSIGN(const Compilation compilation, client_->Compile(model_, options_));
  EXPECT_EQ(compilation.kernels, 2);
  EXPECT_EQ(compilation.passes[0].name, "FuseOps");
  EXPECT_THAT(compilation.passes[0].notes, ElementsAre("left one as it was"));
  const Tensor x = Tensor::Zeros(DataType::kFloat32, {2, 8});
  ASSERT_OK_AND_ASSIGN(const std::vector<NamedTensor> outputs,
                       client_->Run(compilation.artifact, {{"x", x}}, {.seed = 3}));
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].name, "y/0");
  EXPECT_THAT(outputs[0].tensor.values<float>(), ElementsAre(0.5f, -1, 2));
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult benchmark,
                       client_->Benchmark(compilation.artifact, {}, {.profile = true}));
  EXPECT_EQ(benchmark.samples_ns.size(), 100u);
  EXPECT_EQ(benchmark.steps.size(), 1u);
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> jobs, client_->ListJobs({.limit = 2}));
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].kind, JobKind::kBenchmark);
}

TEST_F(ClientTest, SendsNothingTwice) {
  ASSERT_THAT(client_->Compile(model_, options_), IsOk());
  EXPECT_EQ(server_.blobs().bytes_written(), 3 << 20);
  ASSERT_THAT(client_->Compile(model_, options_), IsOk());
  EXPECT_EQ(server_.blobs().bytes_written(), 3 << 20);
}

TEST_F(ClientTest, UploadResumesWhereItBroke) {
  server_.blobs().SetFaults({.writes = 1, .write_bytes = 5 << 19});
  ASSERT_THAT(client_->Compile(model_, options_), IsOk());
  // The pieces after the break, and nothing before it, came a second time.
  EXPECT_EQ(server_.blobs().bytes_written(), (3 << 20) + (1 << 19));
}

TEST_F(ClientTest, DownloadResumesAndIsChecked) {
  ASSERT_OK_AND_ASSIGN(const Compilation compilation, client_->Compile(model_, options_));
  server_.blobs().SetFaults({.reads = 1, .read_bytes = 16});
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, client_->GetArtifact(compilation.artifact));
  EXPECT_EQ(artifact.digest(), compilation.artifact);
  EXPECT_EQ(artifact.blob(Digest::Of(TestCode())).bytes(), TestCode());
}

TEST_F(ClientTest, PutArtifactSendsManifestAndBlobs) {
  const v1::Manifest manifest = TestManifest();
  ASSERT_OK_AND_ASSIGN(
      const Artifact artifact, Artifact::Create(manifest, [](const Digest& digest) {
        return absl::StatusOr<Blob>(
            Blob::Own(digest == Digest::Of(TestCode()) ? TestCode() : TestConstants()));
      }));
  ASSERT_THAT(client_->PutArtifact(artifact), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::vector<BlobInfo> blobs, server_.blobs().blobs().List());
  EXPECT_EQ(blobs.size(), 3u);
  EXPECT_THAT(client_->Run(artifact.digest(), {}, {}), IsOk());
}

TEST_F(ClientTest, AwayServerIsWaitedForAndThatIsTold) {
  std::vector<absl::Status> told;
  ASSERT_OK_AND_ASSIGN(
      const auto client,
      Client::Connect({.server = server_.address(),
                       .on_waiting = [&](const absl::Status& why) { told.push_back(why); }}));
  server_.Configure([](FakeBehaviour& b) { b.unavailable_calls = 3; });
  EXPECT_THAT(client->Compile(model_, options_), IsOk());
  EXPECT_THAT(told, ElementsAre(StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is away"))));
}

TEST_F(ClientTest, LostAnswerMakesNoSecondJob) {
  server_.Configure([](FakeBehaviour& b) { b.lost_answers = 1; });
  EXPECT_THAT(client_->Compile(model_, options_), IsOk());
  EXPECT_EQ(server_.creates(), 2);
  EXPECT_EQ(server_.jobs().size(), 1u);
}

TEST_F(ClientTest, BrokenWatchGoesOnAtItsRevision) {
  server_.Configure([](FakeBehaviour& b) { b.break_watch_after = 2; });
  ASSERT_OK_AND_ASSIGN(const std::string id, Submit());
  std::vector<JobState> seen;
  ASSERT_OK_AND_ASSIGN(const Job job,
                       client_->Wait(id, [&seen](const Job& job) { seen.push_back(job.state); }));
  EXPECT_EQ(job.state, JobState::kSucceeded);
  EXPECT_THAT(seen, ElementsAre(JobState::kQueued, JobState::kRunning, JobState::kSucceeded));
}

TEST_F(ClientTest, FailedJobIsTheErrorItFailedWith) {
  server_.Configure([](FakeBehaviour& b) {
    b.finish = [](v1::Job& job) {
      job.set_state(v1::Job::FAILED);
      job.mutable_error()->set_code(12);
      job.mutable_error()->set_message("operator \"X\" is unknown");
    };
  });
  EXPECT_THAT(client_->Compile(model_, options_),
              StatusIs(absl::StatusCode::kUnimplemented, "operator \"X\" is unknown"));
}

TEST_F(ClientTest, InterruptEndsAWaitAndCancelStillWorks) {
  server_.Configure([](FakeBehaviour& b) { b.hold = true; });
  ASSERT_OK_AND_ASSIGN(const std::string id, Submit());
  std::thread interrupter;
  const absl::StatusOr<Job> waited = client_->Wait(id, [&](const Job& job) {
    if (job.state == JobState::kRunning) {
      interrupter = std::thread([this] { client_->Interrupt(); });
    }
  });
  interrupter.join();
  EXPECT_THAT(waited, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(client_->ListDevices(), StatusIs(absl::StatusCode::kCancelled));
  ASSERT_OK_AND_ASSIGN(const Job job, client_->CancelJob(id));
  EXPECT_EQ(job.state, JobState::kCancelled);
}

TEST_F(ClientTest, UnknownTargetIsRefusedWithoutTheServer) {
  EXPECT_THAT(client_->Compile(model_, {.target = "z80"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("z80")));
  EXPECT_EQ(server_.creates(), 0);
}

TEST_F(ClientTest, HostIsResolvedHere) {
  ASSERT_THAT(client_->Compile(model_, {.target = "host"}), IsOk());
  EXPECT_THAT(server_.jobs()[0].compilation().target().name(), HasSubstr("linux"));
}

TEST_F(ClientTest, LargeInputsTravelAsBlobs) {
  ASSERT_OK_AND_ASSIGN(const Compilation compilation, client_->Compile(model_, options_));
  const Tensor large = Tensor::Zeros(DataType::kFloat32, {1 << 19});
  EXPECT_THAT(client_->Run(compilation.artifact, {{"x", large}}, {}), IsOk());
  EXPECT_TRUE(server_.jobs()[1].run().inputs(0).has_blob());
}

TEST_F(ClientTest, DevicesAndInfo) {
  ASSERT_OK_AND_ASSIGN(const std::vector<Device> devices, client_->ListDevices());
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].id, "fake");
  EXPECT_EQ(devices[0].state, DeviceState::kIdle);
  ASSERT_OK_AND_ASSIGN(const ServerInfo info, client_->Info());
  EXPECT_THAT(info.targets, ElementsAre("x86-64-v3-linux"));
}

TEST_F(ClientTest, TokenIsSent) {
  server_.Configure([](FakeBehaviour& b) { b.token = "secret"; });
  EXPECT_THAT(client_->ListDevices(), StatusIs(absl::StatusCode::kUnauthenticated));
  ASSERT_OK_AND_ASSIGN(const auto client, Client::Connect({.server = server_.address(),
                                                           .proof = {.token = "secret"}}));
  EXPECT_THAT(client->ListDevices(), IsOk());
}

TEST_F(ClientTest, OtherProtocolsAreRefused) {
  server_.Configure([](FakeBehaviour& b) {
    b.info.set_min_protocol(2);
    b.info.set_max_protocol(3);
  });
  EXPECT_THAT(Client::Connect({.server = server_.address()}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("protocols 2 to 3")));
}

TEST(ConnectTest, NobodyThereAndNoAddress) {
  EXPECT_THAT(Client::Connect({.server = "127.0.0.1:1", .proof = {.insecure = true}}),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("slipwayd"))));
  EXPECT_THAT(Client::Connect({.server = "unix:/nonexistent/socket"}),
              StatusIs(absl::StatusCode::kUnavailable));
  for (const std::string address : {"", "host", "host:", ":1", "host:99999", "unix:"}) {
    EXPECT_THAT(Client::Connect({.server = address}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("HOST:PORT")));
  }
}

}  // namespace
}  // namespace slipway
