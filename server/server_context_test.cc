// A whole server, spoken to over gRPC by test clients, agents and workers.
#include "server/server_context.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/base/files.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/grpc_test_client.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using v1::Job;

// Until `condition` holds, at most 20 s.
bool Eventually(const std::function<bool()>& condition) {
  const absl::Time end = absl::Now() + absl::Seconds(20);
  while (!condition()) {
    if (absl::Now() > end) return false;
    absl::SleepFor(absl::Milliseconds(2));
  }
  return true;
}

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    options_.listen = "unix:" + JoinPath(folder_.path(), "socket");
    options_.data_dir = JoinPath(folder_.path(), "data");
    options_.cache_dir = JoinPath(folder_.path(), "cache");
    options_.workers = 0;
    options_.probe_every = absl::ZeroDuration();  // The programs of probes are blobs, too.
    options_.silence = absl::Seconds(1);
    Start();
  }

  void Start() {
    absl::StatusOr<ServerOptions> options = Complete(options_);
    ASSERT_OK(options);
    absl::StatusOr<std::unique_ptr<ServerContext>> server = ServerContext::Create(*options);
    ASSERT_OK(server);
    server_ = *std::move(server);
    // A restarted server is found at the address it had.
    options_.listen = server_->address();
    client_ = std::make_unique<TestClient>(server_->address());
  }
  void Stop() {
    client_.reset();
    server_.reset();
  }

  void WriteProgram() {
    const std::string manifest = SerializeManifest(TestManifest());
    ASSERT_OK(client_->Write(manifest));
    ASSERT_OK(client_->Write(TestCode()));
    ASSERT_OK(client_->Write(TestConstants()));
  }

  v1::CreateRunRequest Run(const std::string& request_id) {
    v1::CreateRunRequest request;
    request.set_request_id(request_id);
    *request.mutable_spec()->mutable_manifest() =
        ToProto(Digest::Of(SerializeManifest(TestManifest())));
    return request;
  }
  absl::StatusOr<std::string> Create(const v1::CreateRunRequest& request) {
    absl::StatusOr<v1::CreateJobResponse> response =
        TestClient::Call(*client_->runs, &v1::RunService::Stub::CreateRun, request);
    if (!response.ok()) return response.status();
    return response->job_id();
  }

  v1::CreateCompilationRequest Compilation(const std::string& request_id,
                                           const std::string& model) {
    v1::CreateCompilationRequest request;
    request.set_request_id(request_id);
    request.mutable_spec()->mutable_model()->set_format(v1::MODEL_FORMAT_ONNX);
    v1::ModelFile& file = *request.mutable_spec()->mutable_model()->add_files();
    file.set_name("model.onnx");
    *file.mutable_digest() = ToProto(Digest::Of(model));
    request.mutable_spec()->mutable_target()->set_name("x86-64-v3-linux");
    return request;
  }
  absl::StatusOr<std::string> Create(const v1::CreateCompilationRequest& request) {
    absl::StatusOr<v1::CreateCompilationResponse> response = TestClient::Call(
        *client_->compilations, &v1::CompileService::Stub::CreateCompilation, request);
    if (!response.ok()) return response.status();
    return response->job_id();
  }
  // "Compiles" anything to the test program.
  TestWorker::Work CompileToTestProgram() {
    return [this](const v1::CompileAssignment&) {
      ++compiled_;
      TestClient client(options_.listen);
      v1::CompileAttemptState attempt;
      attempt.set_state(v1::CompileAttemptState::SUCCEEDED);
      const std::string manifest = SerializeManifest(TestManifest());
      for (const std::string& blob : {manifest, TestCode(), TestConstants()}) {
        EXPECT_OK(client.Write(blob));
      }
      *attempt.mutable_result()->mutable_manifest() = ToProto(Digest::Of(manifest));
      attempt.mutable_result()->mutable_report()->set_kernels_compiled(3);
      return attempt;
    };
  }

  bool WorkerIsThere() {
    return Eventually([this] {
      const auto workers = TestClient::Call(*client_->fleet, &v1::FleetService::Stub::ListWorkers,
                                            v1::ListWorkersRequest());
      return workers.ok() && workers->workers_size() > 0;
    });
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("server_context_test");
  ServerOptions options_;
  std::unique_ptr<ServerContext> server_;
  std::unique_ptr<TestClient> client_;
  std::atomic<int> compiled_ = 0;
};

TEST_F(ServerTest, SaysWhatItIs) {
  const auto info = TestClient::Call(*client_->servers, &v1::ServerService::Stub::GetServerInfo,
                                     v1::GetServerInfoRequest());
  ASSERT_OK(info);
  EXPECT_EQ(info->min_protocol(), 1);
  EXPECT_EQ(info->targets_size(), 0);  // There is no compiler.
  EXPECT_GT(info->limits().max_blob_bytes(), 0);
}

TEST_F(ServerTest, SaysWhatThereAreCompilersFor) {
  v1::WorkerState state = TestWorkerState("w", "i1");
  v1::TargetSupport& new_kind = *state.add_targets();
  new_kind.set_family("x86-64-linux,abacus");
  new_kind.set_fingerprint(std::string(64, 'e'));
  TestWorker worker(server_->address(), &TestClient::workers, state, CompileToTestProgram());
  ASSERT_TRUE(WorkerIsThere());
  const auto info = TestClient::Call(*client_->servers, &v1::ServerService::Stub::GetServerInfo,
                                     v1::GetServerInfoRequest());
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->targets(), ElementsAre("x86-64-linux", "x86-64-v2-linux", "x86-64-v3-linux",
                                           "x86-64-v4-linux", "x86-64-linux,abacus"));
  ASSERT_TRUE(client_->Write("m").ok());
  v1::CreateCompilationRequest request = Compilation("c", "m");
  request.mutable_spec()->mutable_target()->set_name("arm-64-linux");
  const absl::Status refused = Create(request).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kUnimplemented,
                                AllOf(HasSubstr("'arm-64-linux'"),
                                      HasSubstr("compilers for x86-64-linux; x86-64-linux,abacus"),
                                      HasSubstr("slipway-compile-worker"))));
  request.mutable_spec()->mutable_target()->set_name("x86-64-v4-linux-vnni");
  EXPECT_TRUE(Create(request).ok());
}

TEST_F(ServerTest, ASessionBeginsWithOpenOrResume) {
  grpc::ClientContext context;
  auto stream = client_->sessions->Open(&context);
  v1::SessionRequests requests;
  requests.add_requests()->mutable_get_facts();
  EXPECT_TRUE(stream->Write(requests));
  v1::SessionResponses response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_THAT(FromGrpc(stream->Finish()), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ServerTest, BlobsAreWrittenResumedAndRead) {
  std::string bytes;
  for (int i = 0; i < 3'000'000; ++i) bytes.push_back(static_cast<char>(i * 7));
  const v1::Digest digest = ToProto(Digest::Of(bytes));
  v1::QueryWriteRequest query;
  *query.mutable_digest() = digest;
  // A transfer that stops in the middle,
  EXPECT_FALSE(client_->Write(bytes, 1 << 20, 0, 2 << 20).ok());
  auto state = TestClient::Call(*client_->blobs, &v1::BlobService::Stub::QueryWrite, query);
  ASSERT_OK(state);
  EXPECT_EQ(state->committed_bytes(), 2 << 20);
  EXPECT_FALSE(state->complete());
  // is not continued elsewhere,
  EXPECT_THAT(client_->Write(bytes, 1 << 20, 7), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(client_->Read(digest), StatusIs(absl::StatusCode::kNotFound));
  // but where it stopped.
  EXPECT_OK(client_->Write(bytes, 1 << 20, 2 << 20));
  EXPECT_OK(client_->Write(bytes));
  EXPECT_EQ(*client_->Read(digest), bytes);
  EXPECT_EQ(*client_->Read(digest, 2'999'999), bytes.substr(2'999'999));
  EXPECT_EQ(*client_->Read(digest, 3'000'000), "");
  EXPECT_THAT(client_->Read(digest, 3'000'001), StatusIs(absl::StatusCode::kOutOfRange));
  ASSERT_OK(client_->Write(""));
  EXPECT_EQ(*client_->Read(ToProto(Digest::Of(""))), "");
}

TEST_F(ServerTest, BlobsThatAreNotWhatTheySayAreRefused) {
  grpc::ClientContext context;
  v1::WriteResponse response;
  auto writer = client_->blobs->Write(&context, &response);
  v1::WriteRequest request;
  *request.mutable_digest() = ToProto(Digest::Of("truth"));
  request.set_data("false");
  writer->Write(request);
  writer->WritesDone();
  EXPECT_THAT(FromGrpc(writer->Finish()), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(client_->Read(ToProto(Digest::Of("truth"))), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ServerTest, ARunPassesThroughAnAgent) {
  WriteProgram();
  std::atomic<int> inline_blobs = -1;
  TestAgent agent(server_->address(), &TestClient::agents, TestAgentState("board", "i1"),
                  [&](const v1::RunAssignment& assignment) {
                    inline_blobs = assignment.blobs_size();
                    EXPECT_EQ(Digest::Of(assignment.manifest()),
                              *FromProto(assignment.run().manifest()));
                    return Succeed(assignment);
                  });
  const absl::StatusOr<std::string> id = Create(Run("r1"));
  ASSERT_OK(id);
  const absl::StatusOr<Job> job = client_->WaitFor(*id);
  ASSERT_OK(job);
  EXPECT_EQ(job->state(), Job::SUCCEEDED);
  EXPECT_EQ(job->assignee(), "board");
  EXPECT_EQ(job->attempts(), 1);
  EXPECT_EQ(job->run_result().device(), "board");
  EXPECT_EQ(inline_blobs, 2);
  // The same request is the same job; other work under its name is refused.
  EXPECT_EQ(*Create(Run("r1")), *id);
  v1::CreateRunRequest other = Run("r1");
  other.mutable_spec()->set_seed(1);
  EXPECT_THAT(Create(other), StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST_F(ServerTest, ATinyRunIsQuick) {
  WriteProgram();
  TestAgent agent(server_->address(), &TestClient::agents, TestAgentState("board", "i1"), Succeed);
  std::vector<absl::Duration> times;
  for (int i = 0; i < 60; ++i) {
    const absl::Time begin = absl::Now();
    const absl::StatusOr<std::string> id = Create(Run("r" + std::to_string(i)));
    ASSERT_OK(id);
    ASSERT_EQ(client_->WaitFor(*id)->state(), Job::SUCCEEDED);
    times.push_back(absl::Now() - begin);
  }
  std::sort(times.begin(), times.end());
  printf("job through server and agent: min %s p50 %s max %s\n",
         absl::FormatDuration(times.front()).c_str(), absl::FormatDuration(times[30]).c_str(),
         absl::FormatDuration(times.back()).c_str());
  // Far above what it takes; a poll or a lost wake-up takes seconds.
  EXPECT_LT(times[30], absl::Milliseconds(250));
}

TEST_F(ServerTest, RunsAreCheckedWhenAccepted) {
  EXPECT_THAT(Create(Run("r1")), StatusIs(absl::StatusCode::kFailedPrecondition));
  WriteProgram();
  v1::CreateRunRequest request = Run("");
  EXPECT_THAT(Create(request), StatusIs(absl::StatusCode::kInvalidArgument));
  request = Run("r1");
  request.mutable_spec()->set_device("nobody");
  EXPECT_THAT(Create(request), StatusIs(absl::StatusCode::kNotFound));
  request = Run("r1");
  v1::Tensor& input = *request.mutable_spec()->add_inputs();
  input.set_name("y");
  absl::Status status = Create(request).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"x\" f32[2, 8]"));
  input.set_name("x");
  input.mutable_type()->set_dtype(v1::DATA_TYPE_FLOAT32);
  input.mutable_type()->add_shape(3);
  input.set_inline_data(std::string(12, '\0'));
  status = Create(request).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(std::string(status.message()), "input \"x\" is f32[2, 8], but f32[3] is given");
  // What was refused has not used up its request id.
  EXPECT_OK(Create(Run("r1")));
}

TEST_F(ServerTest, ADeviceThatLacksAFeatureIsNamed) {
  v1::Manifest manifest = TestManifest();
  manifest.set_target("x86-64-v4-linux");
  manifest.mutable_devices(0)->set_target("x86-64-v4-linux");
  ASSERT_OK(client_->Write(SerializeManifest(manifest)));
  WriteProgram();
  TestAgent agent(server_->address(), &TestClient::agents, TestAgentState("board", "i1"), Succeed);
  ASSERT_OK(client_->WaitFor(*Create(Run("warm"))));
  v1::CreateRunRequest request = Run("r1");
  *request.mutable_spec()->mutable_manifest() = ToProto(Digest::Of(SerializeManifest(manifest)));
  for (const char* device : {"", "board"}) {
    request.mutable_spec()->set_device(device);
    const absl::Status status = Create(request).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(std::string(status.message()), HasSubstr("avx512"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("'board'"));
  }
}

TEST_F(ServerTest, RunsNeedADeviceThatTakesTheArtifactsVersions) {
  WriteProgram();
  v1::AgentState newer_abi = TestAgentState("newer-abi", "i1");
  newer_abi.set_min_abi(2);
  newer_abi.set_max_abi(3);
  v1::AgentState newer_format = TestAgentState("newer-format", "i1");
  newer_format.set_min_format(2);
  newer_format.set_max_format(2);
  const TestAgent first(server_->address(), &TestClient::agents, newer_abi, Succeed);
  const TestAgent second(server_->address(), &TestClient::agents, newer_format, Succeed);
  const auto devices = [this] {
    return *TestClient::Call(*client_->fleet, &v1::FleetService::Stub::ListDevices,
                             v1::ListDevicesRequest());
  };
  ASSERT_TRUE(Eventually([&] { return devices().devices_size() == 2; }));
  EXPECT_EQ(devices().devices(0).min_abi(), 2);
  EXPECT_EQ(devices().devices(0).max_abi(), 3);
  EXPECT_THAT(devices().devices(0).warning(), HasSubstr("kernel ABI 2 to 3"));
  EXPECT_EQ(devices().devices(1).max_format(), 2);

  v1::CreateRunRequest request = Run("r1");
  for (const auto& [device, what] : {std::pair{"newer-abi", "kernel ABI 1, but "},
                                     {"newer-format", "manifest format 1, but "}}) {
    request.mutable_spec()->set_device(device);
    const absl::Status status = Create(request).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
    EXPECT_THAT(std::string(status.message()), HasSubstr(device));
    EXPECT_THAT(std::string(status.message()), HasSubstr("compile the model again"));
  }
  request.mutable_spec()->clear_device();
  EXPECT_THAT(Create(request).status(), StatusIs(absl::StatusCode::kFailedPrecondition));

  // One that does not know of formats reads the first.
  const TestAgent old(server_->address(), &TestClient::agents, TestAgentState("old", "i1"),
                      Succeed);
  ASSERT_TRUE(Eventually([&] { return devices().devices_size() == 3; }));
  const absl::StatusOr<Job> done = client_->WaitFor(*Create(request));
  ASSERT_OK(done);
  EXPECT_EQ(done->assignee(), "old");
}

TEST_F(ServerTest, ArtifactsOfANewerAbiWaitForAnUpdatedAgent) {
  v1::Manifest manifest = TestManifest();
  manifest.set_min_reader_abi(7);
  ASSERT_TRUE(client_->Write(SerializeManifest(manifest)).ok());
  WriteProgram();
  v1::CreateRunRequest request = Run("r1");
  *request.mutable_spec()->mutable_manifest() = ToProto(Digest::Of(SerializeManifest(manifest)));
  const absl::StatusOr<std::string> waiting = Create(request);
  ASSERT_TRUE(waiting.ok()) << waiting.status();

  const TestAgent old(server_->address(), &TestClient::agents, TestAgentState("old", "i1"),
                      Succeed);
  const auto devices = [this] {
    return TestClient::Call(*client_->fleet, &v1::FleetService::Stub::ListDevices,
                            v1::ListDevicesRequest())
        ->devices_size();
  };
  ASSERT_TRUE(Eventually([&] { return devices() == 1; }));
  request.set_request_id("r2");
  const absl::Status status = Create(request).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("device 'old': the artifact is of kernel ABI 7, but the device's agent "
                        "takes 1: update the agent"));

  v1::AgentState updated = TestAgentState("updated", "i1");
  updated.set_max_abi(7);
  const TestAgent agent(server_->address(), &TestClient::agents, updated, Succeed);
  const absl::StatusOr<Job> done = client_->WaitFor(*waiting);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->assignee(), "updated");
}

TEST_F(ServerTest, AgentsWithoutARangeOfVersionsAreRefused) {
  v1::AgentState state = TestAgentState("board", "i1");
  state.set_min_abi(3);
  const absl::Status status =
      TestClient::Call(*client_->agents, &v1::AgentService::Stub::Sync, state).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(status.message()), HasSubstr("kernel ABIs 3 to 1"));
}

TEST_F(ServerTest, CompilationsAreCachedAndCoalesced) {
  const std::string model = "a model";
  EXPECT_THAT(Create(Compilation("c0", model)), StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_OK(client_->Write(model));
  EXPECT_THAT(Create(Compilation("c0", model)), StatusIs(absl::StatusCode::kUnavailable));
  absl::Notification go;
  TestWorker worker(server_->address(), &TestClient::workers, TestWorkerState("w", "i1"),
                    [&, compile = CompileToTestProgram()](const v1::CompileAssignment& assignment) {
                      go.WaitForNotificationWithTimeout(absl::Seconds(20));
                      return compile(assignment);
                    });
  ASSERT_TRUE(WorkerIsThere());
  std::vector<std::string> ids;
  for (const char* request : {"c1", "c2", "c3", "c4"}) {
    ids.push_back(*Create(Compilation(request, model)));
  }
  // The first to come is cancelled: the others go on.
  v1::CancelJobRequest cancel;
  cancel.set_id(ids[0]);
  EXPECT_EQ(TestClient::Call(*client_->jobs, &v1::JobService::Stub::CancelJob, cancel)->state(),
            Job::CANCELLED);
  go.Notify();
  EXPECT_EQ(client_->WaitFor(ids[0])->state(), Job::CANCELLED);
  for (int i = 1; i < 4; ++i) {
    const Job job = *client_->WaitFor(ids[i]);
    EXPECT_EQ(job.state(), Job::SUCCEEDED) << job.DebugString();
    EXPECT_EQ(job.compilation_result().report().kernels_compiled(), 3);
    EXPECT_FALSE(job.compilation_result().cached());
  }
  EXPECT_EQ(compiled_, 1);
  // Once more: out of the cache, without a worker.
  const Job cached = *client_->WaitFor(*Create(Compilation("c5", model)));
  EXPECT_EQ(cached.state(), Job::SUCCEEDED);
  EXPECT_TRUE(cached.compilation_result().cached());
  EXPECT_EQ(cached.compilation_result().report().kernels_compiled(), 3);
  EXPECT_EQ(cached.attempts(), 0);
  EXPECT_EQ(compiled_, 1);
  // With print_after it is compiled anew.
  v1::CreateCompilationRequest print = Compilation("c6", model);
  print.mutable_spec()->mutable_options()->set_print_after("FuseOps");
  EXPECT_EQ(client_->WaitFor(*Create(print))->state(), Job::SUCCEEDED);
  EXPECT_EQ(compiled_, 2);
  const auto info = TestClient::Call(*client_->servers, &v1::ServerService::Stub::GetServerInfo,
                                     v1::GetServerInfoRequest());
  EXPECT_EQ(info->counters().artifact_cache_hits(), 1);
  EXPECT_EQ(info->counters().compilations_coalesced(), 3);
}

TEST_F(ServerTest, CompilationsAreCheckedWhenAccepted) {
  ASSERT_OK(client_->Write("m"));
  v1::CreateCompilationRequest request = Compilation("c", "m");
  request.mutable_spec()->mutable_target()->set_name("pdp-11");
  EXPECT_THAT(Create(request), StatusIs(absl::StatusCode::kInvalidArgument));
  for (const char* name : {"../weights", "/etc/passwd", "a/../b", "a//b", "", "a/"}) {
    request = Compilation("c", "m");
    v1::ModelFile& file = *request.mutable_spec()->mutable_model()->add_files();
    file.set_name(name);
    *file.mutable_digest() = ToProto(Digest::Of("m"));
    EXPECT_THAT(Create(request), StatusIs(absl::StatusCode::kInvalidArgument)) << name;
  }
  request = Compilation("c", "m");
  request.set_run_deadline_ns(-1);
  EXPECT_THAT(Create(request), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ServerTest, AcceptedJobsSurviveARestart) {
  WriteProgram();
  const std::string id = *Create(Run("r1"));
  Stop();
  Start();
  EXPECT_EQ(TestClient::Call(*client_->jobs, &v1::JobService::Stub::GetJob,
                             [&] {
                               v1::GetJobRequest request;
                               request.set_id(id);
                               return request;
                             }())
                ->state(),
            Job::QUEUED);
  TestAgent agent(server_->address(), &TestClient::agents, TestAgentState("board", "i1"), Succeed);
  EXPECT_EQ(client_->WaitFor(id)->state(), Job::SUCCEEDED);
}

TEST_F(ServerTest, AnAttemptGoesOnOverARestart) {
  WriteProgram();
  std::atomic<int> began = 0;
  absl::Notification go;
  TestAgent agent(server_->address(), &TestClient::agents, TestAgentState("board", "i1"),
                  [&](const v1::RunAssignment& assignment) {
                    ++began;
                    go.WaitForNotificationWithTimeout(absl::Seconds(20));
                    return Succeed(assignment);
                  });
  const std::string id = *Create(Run("r1"));
  ASSERT_TRUE(Eventually([&] { return began > 0; }));
  Stop();
  Start();
  go.Notify();
  const Job job = *client_->WaitFor(id);
  EXPECT_EQ(job.state(), Job::SUCCEEDED);
  EXPECT_EQ(job.attempts(), 1);
  EXPECT_EQ(began, 1);
}

TEST_F(ServerTest, AnAgentThatVanishesLosesItsAttempts) {
  WriteProgram();
  std::string id;
  {
    std::atomic<bool> began = false;
    TestAgent agent(server_->address(), &TestClient::agents, TestAgentState("board", "i1"),
                    [&](const v1::RunAssignment&) {
                      began = true;
                      v1::RunAttemptState attempt;
                      attempt.set_state(v1::RunAttemptState::RUNNING);
                      return attempt;
                    });
    id = *Create(Run("r1"));
    ASSERT_TRUE(Eventually([&] { return began.load(); }));
  }
  TestAgent other(server_->address(), &TestClient::agents, TestAgentState("other", "i2"), Succeed);
  const Job job = *client_->WaitFor(id);
  EXPECT_EQ(job.state(), Job::SUCCEEDED);
  EXPECT_EQ(job.assignee(), "other");
  EXPECT_EQ(job.attempts(), 2);
}

TEST_F(ServerTest, EndingAnswersWhoWaits) {
  WriteProgram();
  const std::string id = *Create(Run("r1"));
  grpc::ClientContext watch_context;
  v1::WatchJobRequest watch;
  watch.set_id(id);
  auto reader = client_->jobs->WatchJob(&watch_context, watch);
  Job job;
  ASSERT_TRUE(reader->Read(&job));
  absl::Status parked;
  std::thread agent([&] {
    TestClient own(options_.listen);
    v1::AgentState state = TestAgentState("idle", "i1");
    state.mutable_devices(0)->set_target("arm-64-linux");
    state.set_sequence(1);
    v1::DesiredAgentState desired =
        *TestClient::Call(*own.agents, &v1::AgentService::Stub::Sync, state);
    state.set_sequence(2);
    state.set_applied_version(desired.version());
    state.set_park_ns(15'000'000'000);
    parked = TestClient::Call(*own.agents, &v1::AgentService::Stub::Sync, state).status();
  });
  ASSERT_TRUE(Eventually([&] {
    const auto devices = TestClient::Call(*client_->fleet, &v1::FleetService::Stub::ListDevices,
                                          v1::ListDevicesRequest());
    return devices.ok() && devices->devices_size() == 1;
  }));
  absl::SleepFor(absl::Milliseconds(100));
  server_.reset();
  agent.join();
  EXPECT_THAT(parked, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(reader->Read(&job));
  EXPECT_THAT(FromGrpc(reader->Finish()), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ServerTest, TwoAgentsWithOneId) {
  TestAgent first(server_->address(), &TestClient::agents, TestAgentState("board", "i1"), Succeed);
  const auto warning = [&] {
    const auto devices = TestClient::Call(*client_->fleet, &v1::FleetService::Stub::ListDevices,
                                          v1::ListDevicesRequest());
    return devices.ok() && devices->devices_size() == 1 ? devices->devices(0).warning() : "none";
  };
  ASSERT_TRUE(Eventually([&] { return warning().empty(); }));
  v1::AgentState state = TestAgentState("board", "i2");
  state.set_sequence(1);
  EXPECT_THAT(TestClient::Call(*client_->agents, &v1::AgentService::Stub::Sync, state),
              StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(warning(), HasSubstr("claims the same id"));
}

TEST_F(ServerTest, TwoServersOnOneFolder) {
  const absl::Status status = ServerContext::Create(*Complete(options_)).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), HasSubstr("process " + std::to_string(getpid())));
}

TEST_F(ServerTest, TwoServersOnOnePort) {
  ServerOptions options = options_;
  options.data_dir = JoinPath(folder_.path(), "other");
  EXPECT_THAT(ServerContext::Create(*Complete(options)), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ServerTest, DeadlinesEndJobs) {
  WriteProgram();
  v1::CreateRunRequest request = Run("r1");
  request.set_queue_deadline_ns(50'000'000);
  const Job job = *client_->WaitFor(*Create(request));
  EXPECT_EQ(job.state(), Job::FAILED);
  EXPECT_EQ(job.error().code(), static_cast<int>(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(ServerTest, WatchTellsWhatIsNewSinceARevision) {
  WriteProgram();
  const std::string id = *Create(Run("r1"));
  grpc::ClientContext context;
  v1::WatchJobRequest request;
  request.set_id(id);
  auto reader = client_->jobs->WatchJob(&context, request);
  Job job;
  ASSERT_TRUE(reader->Read(&job));
  EXPECT_EQ(job.state(), Job::QUEUED);
  v1::CancelJobRequest cancel;
  cancel.set_id(id);
  ASSERT_OK(TestClient::Call(*client_->jobs, &v1::JobService::Stub::CancelJob, cancel));
  const int64_t before = job.revision();
  ASSERT_TRUE(reader->Read(&job));
  EXPECT_EQ(job.state(), Job::CANCELLED);
  EXPECT_GT(job.revision(), before);
  EXPECT_FALSE(reader->Read(&job));
  EXPECT_OK(FromGrpc(reader->Finish()));
  // Who has seen the end gets nothing more.
  grpc::ClientContext late_context;
  request.set_after_revision(job.revision());
  auto late = client_->jobs->WatchJob(&late_context, request);
  EXPECT_FALSE(late->Read(&job));
  EXPECT_OK(FromGrpc(late->Finish()));
}

TEST_F(ServerTest, AQuotaKeepsWhatIsRecentAndRefusesTheRest) {
  Stop();
  options_.blob_quota_bytes = 1'000;
  Start();
  ASSERT_OK(client_->Write(std::string(800, 'a')));
  EXPECT_THAT(client_->Write(std::string(300, 'b')),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(client_->Read(ToProto(Digest::Of(std::string(800, 'a'))))->size(), 800u);
}

TEST_F(ServerTest, ListsJobsInPages) {
  WriteProgram();
  for (int i = 0; i < 5; ++i) ASSERT_OK(Create(Run("r" + std::to_string(i))));
  v1::ListJobsRequest request;
  request.set_page_size(2);
  std::vector<std::string> seen;
  do {
    const auto page = TestClient::Call(*client_->jobs, &v1::JobService::Stub::ListJobs, request);
    ASSERT_OK(page);
    for (const Job& job : page->jobs()) seen.push_back(job.request_id());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(seen, (std::vector<std::string>{"r4", "r3", "r2", "r1", "r0"}));
  request.set_page_token("x");
  EXPECT_THAT(TestClient::Call(*client_->jobs, &v1::JobService::Stub::ListJobs, request),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ServerOptionsTest, OnlySocketsAndTheInsecureAreWithoutTls) {
  ServerOptions options;
  options.data_dir = "/tmp/x";
  for (const char* tcp : {"0.0.0.0:1", "127.0.0.1:1", "localhost:1", "[::1]:1"}) {
    options.listen = tcp;
    options.insecure = false;
    EXPECT_OK(Complete(options)) << tcp;
    EXPECT_TRUE(IsOverTls(options)) << tcp;
    options.insecure = true;
    EXPECT_FALSE(IsOverTls(options)) << tcp;
  }
  options.insecure = false;
  options.listen = "unix:/tmp/s";
  EXPECT_OK(Complete(options));
  EXPECT_FALSE(IsOverTls(options));
  for (const char* bad : {"", "7411", "host:", "host:99999", "unix:", ":1"}) {
    options.listen = bad;
    EXPECT_THAT(Complete(options), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

TEST_F(ServerTest, AboveItsMemoryLimitNobodyNewIsTaken) {
  ASSERT_OK(client_->Write("x"));
  Stop();
  options_.memory_limit_bytes = 1;
  Start();
  EXPECT_THAT(client_->Write("y"), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace slipway::server
