// A whole server with workers of its own: the fake compiler's binary.
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/files.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/grpc_test_client.h"
#include "server/server_context.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::testing::HasSubstr;
using v1::Job;

class WorkerProcessTest : public ::testing::Test {
 protected:
  WorkerProcessTest() {
    options_.listen = absl::StrCat("unix:", JoinPath(folder_.path(), "s"));
    options_.data_dir = JoinPath(folder_.path(), "data");
    options_.cache_dir = JoinPath(folder_.path(), "cache");
    options_.worker = "server/compile_worker/fake_compile_worker";
    options_.log_level = "warning";
    Start();
  }
  void Start() {
    absl::StatusOr<std::unique_ptr<ServerContext>> server =
        ServerContext::Create(*Complete(options_));
    ASSERT_OK(server);
    server_ = *std::move(server);
    client_ = std::make_unique<TestClient>(server_->address());
  }

  std::string Create(const std::string& model, absl::Duration run_deadline = absl::ZeroDuration()) {
    EXPECT_OK(client_->Write(model));
    v1::CreateCompilationRequest request;
    request.set_request_id(absl::StrCat("c", ++requests_));
    request.mutable_spec()->mutable_model()->set_format(v1::MODEL_FORMAT_ONNX);
    v1::ModelFile& file = *request.mutable_spec()->mutable_model()->add_files();
    file.set_name("model.onnx");
    *file.mutable_digest() = ToProto(Digest::Of(model));
    request.mutable_spec()->mutable_target()->set_name("x86-64-v3-linux");
    request.set_run_deadline_ns(absl::ToInt64Nanoseconds(run_deadline));
    const auto created = TestClient::Call(*client_->compilations,
                                          &v1::CompileService::Stub::CreateCompilation, request);
    EXPECT_OK(created);
    return created.ok() ? created->job_id() : "";
  }
  Job Compile(const std::string& model, absl::Duration run_deadline = absl::ZeroDuration()) {
    const absl::StatusOr<Job> job = client_->WaitFor(Create(model, run_deadline));
    EXPECT_OK(job);
    return job.ok() ? *job : Job();
  }
  int Workers() {
    return TestClient::Call(*client_->fleet, &v1::FleetService::Stub::ListWorkers,
                            v1::ListWorkersRequest())
        ->workers_size();
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("w");
  ServerOptions options_;
  std::unique_ptr<ServerContext> server_;
  std::unique_ptr<TestClient> client_;
  int requests_ = 0;
};

TEST_F(WorkerProcessTest, AWorkerComesWhenThereIsSomethingToCompile) {
  EXPECT_EQ(Workers(), 0);
  const Job job = Compile("program");
  EXPECT_EQ(job.state(), Job::SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.assignee(), "local-0");
  EXPECT_EQ(Workers(), 1);
  EXPECT_OK(client_->Read(job.compilation_result().manifest()));
  const Job cached = Compile("program");
  EXPECT_TRUE(cached.compilation_result().cached());
}

TEST_F(WorkerProcessTest, ACacheHitNeedsNoWorkerAfterARestart) {
  ASSERT_EQ(Compile("program").state(), Job::SUCCEEDED);
  client_.reset();
  server_.reset();
  requests_ += 100;
  Start();
  EXPECT_TRUE(Compile("program").compilation_result().cached());
  EXPECT_EQ(Workers(), 0);
}

TEST_F(WorkerProcessTest, AnIdleWorkerEnds) {
  client_.reset();
  server_.reset();
  options_.worker_idle = absl::Milliseconds(50);
  Start();
  ASSERT_EQ(Compile("program").state(), Job::SUCCEEDED);
  for (int i = 0; i < 1'000 && Workers() > 0; ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_EQ(Workers(), 0);
  EXPECT_EQ(Compile("nonsense").state(), Job::FAILED);
}

TEST_F(WorkerProcessTest, CompilersThatCrashLoopOrFailLeaveTypedErrors) {
  Job job = Compile("crash");
  EXPECT_EQ(job.state(), Job::FAILED);
  EXPECT_EQ(job.error().code(), static_cast<int>(absl::StatusCode::kAborted));
  EXPECT_THAT(job.error().log_tail(), HasSubstr("compiling crash"));
  job = Compile("loop", absl::Milliseconds(300));
  EXPECT_EQ(job.error().code(), static_cast<int>(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(job.error().log_tail(), HasSubstr("compiling loop"));
  job = Compile("nonsense");
  EXPECT_EQ(job.error().message(), "'nonsense' is no model");
  job = Compile("kill");
  EXPECT_EQ(job.attempts(), 3);
  EXPECT_EQ(job.error().code(), static_cast<int>(absl::StatusCode::kAborted));
}

TEST_F(WorkerProcessTest, CancelStopsTheCompiler) {
  const std::string id = Create("loop");
  for (int i = 0; i < 2'000; ++i) {
    v1::GetJobRequest get;
    get.set_id(id);
    if (TestClient::Call(*client_->jobs, &v1::JobService::Stub::GetJob, get)->state() ==
        Job::RUNNING) {
      break;
    }
    absl::SleepFor(absl::Milliseconds(5));
  }
  v1::CancelJobRequest cancel;
  cancel.set_id(id);
  EXPECT_EQ(TestClient::Call(*client_->jobs, &v1::JobService::Stub::CancelJob, cancel)->state(),
            Job::CANCELLED);
  // The one worker is free again.
  EXPECT_EQ(Compile("program").state(), Job::SUCCEEDED);
}

TEST_F(WorkerProcessTest, ARestartedServerCompilesWhatWasBegun) {
  const std::string id = Create("program");
  client_.reset();
  server_.reset();
  Start();
  EXPECT_EQ(client_->WaitFor(id)->state(), Job::SUCCEEDED);
}

}  // namespace
}  // namespace slipway::server
