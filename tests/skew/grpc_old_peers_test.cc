// A client, an agent and a worker of earlier versions, whose messages are recorded, against this server.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/session.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/server_context.h"
#include "server/server_options.h"
#include "tests/common/status_matchers.h"
#include "tests/skew/grpc_raw.h"
#include "tests/skew/recorded_protocol.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Code = absl::StatusCode;
using Words = RecordedProtocol::Words;

// Newer peers than this server send what the old ones do, and a field more in every message.
enum class Peers { kOld, kNew };

class PeersOfProtocol1 : public ::testing::TestWithParam<Peers> {
 protected:
  void SetUp() override {
    server::ServerOptions options;
    options.listen = "unix:" + JoinPath(folder_.path(), "socket");
    options.data_dir = JoinPath(folder_.path(), "data");
    options.cache_dir = JoinPath(folder_.path(), "cache");
    options.workers = 0;
    ASSERT_OK_AND_ASSIGN(options, server::Complete(options));
    ASSERT_OK_AND_ASSIGN(server_, server::ServerContext::Create(options));
    client_ = std::make_unique<RawClient>(server_->address());
  }

  // Sends recorded messages; all responses, as the caller's version reads them.
  absl::StatusOr<std::vector<RecordedMessage>> Send(const std::string& method,
                                                    const std::vector<std::string>& names,
                                                    const Words& words = {}) {
    std::vector<std::string> requests;
    for (const std::string& name : names) {
      requests.push_back(
          absl::StrCat(protocol_.Bytes(absl::StrCat(name, ".", TypeOf(method)), words),
                       GetParam() == Peers::kNew ? UnknownField() : ""));
    }
    absl::StatusOr<std::vector<std::string>> responses = client_->Call(method, requests);
    if (!responses.ok()) return responses.status();
    std::vector<RecordedMessage> messages;
    for (const std::string& bytes : *responses) {
      messages.push_back(protocol_.Read(protocol_.Method(method).output_type()->name(), bytes));
    }
    return messages;
  }
  // The last response, of a call that must be OK.
  RecordedMessage Ask(const std::string& method, const std::string& name, const Words& words = {}) {
    absl::StatusOr<std::vector<RecordedMessage>> responses = Send(method, {name}, words);
    EXPECT_OK(responses) << method << " " << name;
    if (responses.ok() && !responses->empty()) return std::move(responses->back());
    ADD_FAILURE() << "no answer to " << name;
    return protocol_.Read(protocol_.Method(method).output_type()->name(), "");
  }

  void WriteModel() { Ask("BlobService/Write", "client/write_model"); }
  void WriteProgram() {
    for (const char* blob : {"manifest", "code", "constants"}) {
      Ask("BlobService/Write", absl::StrCat("client/write_", blob));
    }
  }
  // Creates a job for the old device, and lets its agent, in the state `name`, be told of it.
  struct Assigned {
    std::string job;
    Words words;  // $ATTEMPT, $APPLIED.
    RecordedMessage wanted;
  };
  Assigned CreateAndAssign(const std::string& method, const std::string& request,
                           const std::string& state) {
    const std::string job =
        Ask(method, request, {{"$REQUEST", absl::StrCat("request ", ++requests_)}}).Get("job_id");
    RecordedMessage wanted = Ask("AgentService/Sync", state, {{"$ATTEMPT", ""}, {"$APPLIED", ""}});
    Words words = {{"$ATTEMPT", wanted.Get("attempts.0.attempt_id")},
                   {"$APPLIED", wanted.Get("version")}};
    EXPECT_EQ(wanted.Get("attempts.0.job_id"), job) << wanted.Text();
    return {job, std::move(words), std::move(wanted)};
  }
  RecordedMessage JobAtItsEnd(const std::string& id) {
    return Ask("JobService/WatchJob", "client/watch_job", {{"$JOB", id}});
  }

  // A field of a recorded message, "client/write_model" for example.
  std::string Recorded(const std::string& name, const std::string& path) {
    const std::string type = name.starts_with("agent/") ? "AgentState" : "WriteRequest";
    return protocol_.Read(type, protocol_.Bytes(absl::StrCat(name, ".", type))).Get(path);
  }
  std::string TypeOf(const std::string& method) {
    return protocol_.Method(method).input_type()->name();
  }

  const RecordedProtocol protocol_{"protocol_1"};
  const TemporaryFolder folder_ = *TemporaryFolder::Create("old_peers_test");
  std::unique_ptr<server::ServerContext> server_;
  std::unique_ptr<RawClient> client_;
  int requests_ = 0;
};

TEST_P(PeersOfProtocol1, AClientLearnsWhatTheServerIs) {
  Ask("WorkerService/Sync", "worker/idle");
  const RecordedMessage info = Ask("ServerService/GetServerInfo", "client/get_server_info");
  EXPECT_EQ(info.Get("min_protocol"), "1") << info.Text();
  EXPECT_NE(info.Get("limits.max_blob_bytes"), "0");
  EXPECT_NE(info.Get("targets.0"), "none");
}

TEST_P(PeersOfProtocol1, AClientMovesBlobs) {
  EXPECT_NE(Ask("BlobService/FindMissing", "client/find_missing").Get("missing.0"), "none");
  EXPECT_EQ(Ask("BlobService/QueryWrite", "client/query_write").Get("complete"), "false");
  EXPECT_EQ(Ask("BlobService/Write", "client/write_model").Get("committed_bytes"), "7");
  EXPECT_EQ(Ask("BlobService/QueryWrite", "client/query_write").Get("complete"), "true");
  EXPECT_EQ(Ask("BlobService/FindMissing", "client/find_missing").Get("missing.0"), "none");
  EXPECT_EQ(Ask("BlobService/Read", "client/read_model").Get("data"), "program");
}

TEST_P(PeersOfProtocol1, AnAgentRunsForAClient) {
  WriteProgram();
  const RecordedMessage nothing = Ask("AgentService/Sync", "agent/idle");
  EXPECT_EQ(nothing.Get("attempts.0"), "none");
  EXPECT_NE(nothing.Get("silence_ns"), "0");
  const RecordedMessage devices = Ask("FleetService/ListDevices", "client/list_devices");
  EXPECT_EQ(devices.Get("devices.0.description.id"), "old-device");
  EXPECT_EQ(devices.Get("devices.0.state"), "IDLE");

  const Assigned run = CreateAndAssign("RunService/CreateRun", "client/create_run", "agent/idle");
  EXPECT_EQ(run.wanted.Get("attempts.0.device"), "old-device");
  EXPECT_EQ(run.wanted.Get("attempts.0.run.seed"), "7");
  EXPECT_EQ(run.wanted.Get("attempts.0.run.inputs.1.name"), "i");
  EXPECT_EQ(run.wanted.Get("attempts.0.manifest"), Recorded("client/write_manifest", "data"));
  EXPECT_EQ(run.wanted.Get("attempts.0.blobs.0.data"), Recorded("client/write_code", "data"));
  EXPECT_EQ(run.wanted.Get("attempts.0.deadline_ns"), "61000000000");
  EXPECT_EQ(Ask("FleetService/ListDevices", "client/list_devices").Get("devices.0.job_id"),
            run.job);

  Ask("AgentService/Sync", "agent/running", run.words);
  const RecordedMessage running = Ask("JobService/GetJob", "client/get_job", {{"$JOB", run.job}});
  EXPECT_EQ(running.Get("state"), "RUNNING");
  EXPECT_EQ(running.Get("progress.stage"), "run");
  EXPECT_EQ(Ask("AgentService/Sync", "agent/ran", run.words).Get("attempts.0"), "none");
  const RecordedMessage ran = JobAtItsEnd(run.job);
  EXPECT_EQ(ran.Get("state"), "SUCCEEDED") << ran.Text();
  EXPECT_EQ(ran.Get("assignee"), "old-device");
  EXPECT_EQ(ran.Get("run_result.outputs.7.name"), "i");
  EXPECT_EQ(ran.Get("run_result.outputs.7.inline_data"),
            Recorded("agent/ran", "attempts.0.run_result.outputs.7.inline_data"));
  EXPECT_EQ(ran.Get("run_result.timings.load_ns"), "13");
  EXPECT_EQ(ran.Get("deadlines.queue_ns"), "60000000000");
}

TEST_P(PeersOfProtocol1, AnAgentFromBeforeSessionsIsGivenNone) {
  Ask("AgentService/Sync", "agent/idle");
  EXPECT_THAT(Session::Open({.address = server_->address(), .device = "old-device"}),
              StatusIs(Code::kFailedPrecondition,
                       HasSubstr("its agent serves no sessions: update the agent")));
}

TEST_P(PeersOfProtocol1, AnAgentMeasuresAndFails) {
  WriteProgram();
  Ask("AgentService/Sync", "agent/idle");
  const Assigned benchmark = CreateAndAssign("RunService/CreateBenchmark",
                                             "client/create_benchmark", "agent/ran_and_forgotten");
  EXPECT_EQ(benchmark.wanted.Get("attempts.0.benchmark.samples"), "4");
  EXPECT_EQ(benchmark.wanted.Get("attempts.0.benchmark.profile"), "true");
  Ask("AgentService/Sync", "agent/measured", benchmark.words);
  const RecordedMessage measured = JobAtItsEnd(benchmark.job);
  EXPECT_EQ(measured.Get("state"), "SUCCEEDED") << measured.Text();
  EXPECT_EQ(measured.Get("benchmark_result.samples_ns.3"), "1001");
  EXPECT_EQ(measured.Get("benchmark_result.steps.0.operators.0"), "Relu");
  EXPECT_EQ(measured.Get("benchmark_result.before.governor"), "performance");
  EXPECT_EQ(measured.Get("benchmark_result.disturbed_millis"), "17");

  const Assigned run =
      CreateAndAssign("RunService/CreateRun", "client/create_run", "agent/measured");
  Ask("AgentService/Sync", "agent/failed", run.words);
  const RecordedMessage failed = JobAtItsEnd(run.job);
  EXPECT_EQ(failed.Get("state"), "FAILED") << failed.Text();
  EXPECT_EQ(failed.Get("error.code"), "13");
  EXPECT_EQ(failed.Get("error.message"), "step 0 failed");
  EXPECT_EQ(failed.Get("error.log_tail"), "the end of a log");
}

TEST_P(PeersOfProtocol1, AClientCancelsAndListsJobs) {
  WriteProgram();
  Ask("AgentService/Sync", "agent/idle");
  const std::string job =
      Ask("RunService/CreateRun", "client/create_run", {{"$REQUEST", "r"}}).Get("job_id");
  EXPECT_EQ(Ask("RunService/CreateRun", "client/create_run", {{"$REQUEST", "r"}}).Get("job_id"),
            job);
  EXPECT_EQ(Ask("JobService/CancelJob", "client/cancel_job", {{"$JOB", job}}).Get("state"),
            "CANCELLED");
  const RecordedMessage jobs = Ask("JobService/ListJobs", "client/list_jobs");
  EXPECT_EQ(jobs.Get("jobs.0.id"), job);
  EXPECT_EQ(jobs.Get("jobs.0.run.device"), "old-device");
  EXPECT_EQ(jobs.Get("jobs.1"), "none");
}

TEST_P(PeersOfProtocol1, AWorkerCompilesForAClient) {
  WriteModel();
  EXPECT_EQ(Ask("WorkerService/Sync", "worker/idle").Get("attempts.0"), "none");
  EXPECT_EQ(Ask("FleetService/ListWorkers", "client/list_workers").Get("workers.0.id"),
            "old-worker");
  const std::string job =
      Ask("CompileService/CreateCompilation", "client/create_compilation", {{"$REQUEST", "c"}})
          .Get("job_id");
  const RecordedMessage wanted = Ask("WorkerService/Sync", "worker/idle");
  EXPECT_EQ(wanted.Get("attempts.0.job_id"), job) << wanted.Text();
  EXPECT_EQ(wanted.Get("attempts.0.spec.model.format"), "MODEL_FORMAT_GRAPH_TEXT");
  EXPECT_EQ(wanted.Get("attempts.0.spec.model.files.0.digest.sha256"),
            Recorded("client/write_model", "digest.sha256"));
  EXPECT_EQ(wanted.Get("attempts.0.spec.target.name"), "x86-64-linux");
  EXPECT_EQ(wanted.Get("attempts.0.spec.options.dimensions.0.symbol"), "batch");
  EXPECT_EQ(wanted.Get("attempts.0.deadline_ns"), "61000000000");
  const std::string key = wanted.Get("attempts.0.compile_key");
  EXPECT_THAT(key, SizeIs(64));

  const Words words = {{"$ATTEMPT", wanted.Get("attempts.0.attempt_id")},
                       {"$APPLIED", wanted.Get("version")}};
  Ask("WorkerService/Sync", "worker/running", words);
  EXPECT_EQ(Ask("JobService/GetJob", "client/get_job", {{"$JOB", job}}).Get("progress.stage"),
            "compile kernels");
  WriteProgram();
  EXPECT_EQ(Ask("WorkerService/Sync", "worker/compiled", words).Get("attempts.0"), "none");
  const RecordedMessage compiled = JobAtItsEnd(job);
  EXPECT_EQ(compiled.Get("state"), "SUCCEEDED") << compiled.Text();
  EXPECT_EQ(compiled.Get("compilation_result.manifest.sha256"),
            Recorded("client/write_manifest", "digest.sha256"));
  EXPECT_EQ(compiled.Get("compilation_result.compile_key"), key);
  EXPECT_EQ(compiled.Get("compilation_result.report.kernels"), "5");
  EXPECT_EQ(compiled.Get("compilation_result.report.passes.0.name"), "FuseOps");

  // The same again is in the cache.
  const std::string again =
      Ask("CompileService/CreateCompilation", "client/create_compilation", {{"$REQUEST", "c2"}})
          .Get("job_id");
  EXPECT_EQ(JobAtItsEnd(again).Get("compilation_result.cached"), "true");
}

TEST_P(PeersOfProtocol1, PeersOfLaterProtocolsAreRefusedWithAllVersions) {
  const auto refused = StatusIs(
      Code::kFailedPrecondition,
      AllOf(HasSubstr("2 to 3 are spoken there"), HasSubstr("1 to 1 here"), HasSubstr("update")));
  EXPECT_THAT(Send("AgentService/Sync", {"agent/of_later_protocols"}).status(), refused);
  EXPECT_THAT(Send("WorkerService/Sync", {"worker/of_later_protocols"}).status(), refused);
  EXPECT_EQ(Ask("FleetService/ListDevices", "client/list_devices").Get("devices.0"), "none");
  EXPECT_EQ(Ask("FleetService/ListWorkers", "client/list_workers").Get("workers.0"), "none");
}

INSTANTIATE_TEST_SUITE_P(All, PeersOfProtocol1, ::testing::Values(Peers::kOld, Peers::kNew),
                         [](const auto& info) {
                           return info.param == Peers::kOld ? "AsRecorded" : "WithUnknownFields";
                         });

}  // namespace
}  // namespace slipway::testing
