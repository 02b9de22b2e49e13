// This client library, agent and worker against a server of an earlier version, whose answers are recorded.
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "core/artifact/slip_file.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/target/target.h"
#include "core/tensor/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"
#include "tests/skew/grpc_raw.h"
#include "tests/skew/recorded_protocol.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Code = absl::StatusCode;

constexpr char kModel[] = "program";
constexpr char kProgram[] = "tests/testdata/skew/artifacts/format_1_abi_1/views_and_copies";

// Newer servers than these peers send what the old one does, and a field more in every message.
enum class Servers { kOld, kNew };

class ServersOfProtocol1 : public ::testing::TestWithParam<Servers> {
 protected:
  // What a method answers to the requests of a call.
  using Answer = std::function<RawAnswer(const std::vector<std::string>& requests)>;

  ServersOfProtocol1()
      : server_([this](const std::string& method, const std::vector<std::string>& requests) {
          return Handle(method, requests);
        }) {
    Say("ServerService/GetServerInfo", {"server/info"});
    Say("BlobService/FindMissing", {"server/nothing_missing"});
    Say("BlobService/QueryWrite", {"server/nothing_written"});
  }

  // Lets a method answer these recorded messages.
  void Say(const std::string& method, const std::vector<std::string>& names) {
    RawAnswer answer;
    const std::string& type = protocol_.Method(method).output_type()->name();
    for (const std::string& name : names) {
      answer.responses.push_back(protocol_.Bytes(absl::StrCat(name, ".", type)));
    }
    On(method, [answer](const auto&) { return answer; });
  }
  void On(const std::string& method, Answer answer) {
    absl::MutexLock lock(&mutex_);
    answers_[method] = std::move(answer);
  }

  // The last request of a method, as the old server reads it.
  RecordedMessage Heard(const std::string& method) {
    absl::MutexLock lock(&mutex_);
    const std::vector<std::string>& requests = heard_[method];
    EXPECT_FALSE(requests.empty()) << method;
    return protocol_.Read(protocol_.Method(method).input_type()->name(),
                          requests.empty() ? "" : requests.back());
  }
  // That it is what an old client sends, in all that the old server knows of.
  void ExpectHeard(const std::string& method, const std::string& name,
                   const RecordedProtocol::Words& words = {}) {
    const std::string type = protocol_.Method(method).input_type()->name();
    EXPECT_EQ(Heard(method).Text(),
              protocol_.Read(type, protocol_.Bytes(absl::StrCat(name, ".", type), words)).Text());
  }
  void ExpectJobCreated(const std::string& method, const std::string& name) {
    ExpectHeard(method, name, {{"$REQUEST", Heard(method).Get("request_id")}});
  }

  // Serves the blobs of the recorded program and the model, and takes any.
  void ServeBlobs(std::map<std::string, std::string> blobs) {
    {
      absl::MutexLock lock(&mutex_);
      blobs_ = std::move(blobs);
    }
    On("BlobService/Read", [this](const std::vector<std::string>& requests) -> RawAnswer {
      const RecordedMessage request = protocol_.Read("ReadRequest", requests.front());
      absl::MutexLock lock(&mutex_);
      const auto found = blobs_.find(request.Get("digest.sha256"));
      if (found == blobs_.end()) return {absl::NotFoundError("no such blob"), {}};
      int64_t offset = 0;
      EXPECT_TRUE(absl::SimpleAtoi(request.Get("offset"), &offset));
      return {absl::OkStatus(),
              {protocol_.Make("ReadResponse", absl::StrCat("data: \"",
                                                           absl::CEscape(found->second.substr(
                                                               static_cast<size_t>(offset))),
                                                           "\""))}};
    });
    On("BlobService/FindMissing", [](const std::vector<std::string>& requests) -> RawAnswer {
      // All of them: both messages are a list of digests, under the same number.
      return {absl::OkStatus(), {requests.front()}};
    });
    On("BlobService/Write", [this](const std::vector<std::string>& requests) -> RawAnswer {
      std::string bytes;
      for (const std::string& request : requests) {
        bytes += protocol_.Read("WriteRequest", request).Get("data");
      }
      absl::MutexLock lock(&mutex_);
      blobs_[Digest::Of(bytes).hex()] = bytes;
      return {absl::OkStatus(),
              {protocol_.Make("WriteResponse", absl::StrCat("committed_bytes: ", bytes.size()))}};
    });
  }
  bool Holds(const std::string& hex) {
    absl::MutexLock lock(&mutex_);
    return blobs_.count(hex) > 0;
  }

  // Answers Sync of an agent or worker: `wanted` until an attempt has ended, then `nothing`. Calls are parked
  // for a moment when nothing changes.
  void WantUntilTheEnd(const std::string& method, const std::string& wanted,
                       const std::string& nothing) {
    const std::string in = protocol_.Method(method).input_type()->name();
    const std::string out = protocol_.Method(method).output_type()->name();
    On(method, [this, in, out, wanted, nothing](const std::vector<std::string>& requests) {
      const RecordedMessage state = protocol_.Read(in, requests.front());
      const std::string attempt = state.Get("attempts.0.state");
      const bool has_ended = attempt == "SUCCEEDED" || attempt == "FAILED";
      if (has_ended) {
        absl::MutexLock lock(&mutex_);
        end_ = requests.front();
      }
      const std::string answer =
          protocol_.Bytes(absl::StrCat(has_ended ? nothing : wanted, ".", out));
      if (state.Get("applied_version") == protocol_.Read(out, answer).Get("version")) {
        absl::SleepFor(absl::Milliseconds(50));
      }
      return RawAnswer{absl::OkStatus(), {answer}};
    });
  }
  // The report of the attempt's end, as the old server reads it.
  RecordedMessage AwaitEnd(const std::string& type) {
    const auto has_ended = [this]()
                               ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return end_.has_value(); };
    absl::MutexLock lock(&mutex_);
    EXPECT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&has_ended), absl::Seconds(30)));
    return protocol_.Read(type, end_.value_or(""));
  }

  std::unique_ptr<Client> Connect() {
    absl::StatusOr<std::unique_ptr<Client>> client =
        Client::Connect({.server = server_.address(), .retry_for = absl::ZeroDuration()});
    EXPECT_OK(client);
    return client.ok() ? *std::move(client) : nullptr;
  }
  std::unique_ptr<Subprocess> Start(std::vector<std::string> argv) {
    SubprocessOptions options;
    options.argv = std::move(argv);
    options.environment = {{"SLIPWAY_LOCK_DIR", Path("locks")}, {"HOME", folder_.path()}};
    options.stderr_stream = ChildStream::Tail();
    absl::StatusOr<std::unique_ptr<Subprocess>> process = Subprocess::Start(options);
    EXPECT_OK(process);
    return process.ok() ? *std::move(process) : nullptr;
  }
  std::unique_ptr<Subprocess> StartAgent() {
    return Start({RunfilePath("device_agent/slipway-agent"), "--server", server_.address(),
                  "--state-dir", Path("state"), "--cache-dir", Path("agent-cache"), "--id",
                  "old-device"});
  }
  std::unique_ptr<Subprocess> StartWorker() {
    return Start({RunfilePath("server/compile_worker/fake_compile_worker"), "--server",
                  server_.address(), "--cache-dir", Path("worker-cache"), "--worker-id",
                  "old-worker"});
  }
  std::string Path(const std::string& name) const { return JoinPath(folder_.path(), name); }

  const RecordedProtocol protocol_{"protocol_1"};
  const TemporaryFolder folder_ = *TemporaryFolder::Create("old_server_test");

 private:
  RawAnswer Handle(const std::string& method, const std::vector<std::string>& requests) {
    Answer answer;
    {
      absl::MutexLock lock(&mutex_);
      heard_[method] = requests;
      const auto found = answers_.find(method);
      if (found != answers_.end()) answer = found->second;
    }
    if (!answer) return {absl::UnimplementedError(absl::StrCat("no ", method, " here")), {}};
    RawAnswer answered = answer(requests);
    if (GetParam() == Servers::kNew) {
      for (std::string& response : answered.responses) response += UnknownField();
    }
    return answered;
  }

  absl::Mutex mutex_;
  std::map<std::string, Answer> answers_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<std::string>> heard_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> blobs_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::string> end_ ABSL_GUARDED_BY(mutex_);

 protected:
  // Last: calls may come as long as it is there.
  RawServer server_;
};

std::vector<NamedTensor> RecordedInputs() {
  std::vector<NamedTensor> inputs;
  for (const char* name : {"x", "i"}) {
    const absl::StatusOr<std::string> bytes =
        ReadFile(absl::StrCat(kProgram, "/input.", name, ".npy"), 1 << 20);
    EXPECT_OK(bytes);
    absl::StatusOr<Tensor> tensor = ParseNpy(*bytes);
    EXPECT_OK(tensor);
    inputs.push_back({name, *std::move(tensor)});
  }
  return inputs;
}

std::map<std::string, std::string> ProgramBlobs() {
  std::map<std::string, std::string> blobs;
  const absl::StatusOr<Artifact> artifact = ReadSlip(absl::StrCat(kProgram, "/x86-64-linux.slip"));
  EXPECT_OK(artifact);
  blobs[artifact->digest().hex()] = artifact->manifest().bytes();
  for (const Digest& digest : artifact->manifest().blobs()) {
    blobs[digest.hex()] = std::string(artifact->blob(digest).bytes());
  }
  return blobs;
}

constexpr char kProgramHex[] = "eeb04dc2d5b810d9f713d9022713738f56623fdbc3cc2d9d5d093a16eabd93b2";

TEST_P(ServersOfProtocol1, AClientCompiles) {
  Say("BlobService/Write", {"server/model_written"});
  Say("CompileService/CreateCompilation", {"server/compilation_created"});
  Say("JobService/WatchJob",
      {"server/compilation_queued", "server/compilation_running", "server/compilation_succeeded"});
  ASSERT_OK(WriteFileAtomically(Path("model.graph"), kModel, false));
  const std::unique_ptr<Client> client = Connect();
  CompileOptions options{.target = "x86-64-linux", .dimensions = {{"batch", 1}}};
  options.deadlines = {absl::Seconds(60), absl::Seconds(61), absl::Seconds(62)};
  ASSERT_OK_AND_ASSIGN(const Compilation compiled, client->Compile(Path("model.graph"), options));
  EXPECT_EQ(compiled.artifact.hex(), kProgramHex);
  EXPECT_EQ(compiled.kernels_compiled, 3);
  EXPECT_EQ(compiled.passes.at(0).name, "FuseOps");
  EXPECT_EQ(compiled.passes.at(0).nodes_after, 3);
  EXPECT_EQ(compiled.arena_bytes, 64);
  ExpectJobCreated("CompileService/CreateCompilation", "client/create_compilation");
  ExpectHeard("BlobService/QueryWrite", "client/query_write");
  ExpectHeard("BlobService/Write", "client/write_model");

  Say("JobService/WatchJob", {"server/compilation_failed"});
  EXPECT_THAT(client->Compile(Path("model.graph"), options),
              StatusIs(Code::kInvalidArgument, HasSubstr("the model is bad")));
}

TEST_P(ServersOfProtocol1, AClientRunsAndMeasures) {
  Say("RunService/CreateRun", {"server/job_created"});
  Say("RunService/CreateBenchmark", {"server/job_created"});
  Say("JobService/WatchJob", {"server/run_succeeded"});
  const std::unique_ptr<Client> client = Connect();
  ASSERT_OK_AND_ASSIGN(const Artifact artifact,
                       ReadSlip(absl::StrCat(kProgram, "/x86-64-linux.slip")));
  RunOptions run{.device = "old-device", .seed = 7, .threads = 1};
  run.deadlines = {absl::Seconds(60), absl::Seconds(61), absl::Seconds(62)};
  ASSERT_OK_AND_ASSIGN(const std::vector<NamedTensor> outputs,
                       client->Run(artifact.digest(), RecordedInputs(), run));
  ASSERT_THAT(outputs, SizeIs(8));
  EXPECT_EQ(outputs[2].name, "constant");
  EXPECT_THAT(outputs[2].tensor.values<int64_t>(), ElementsAre(7, -8, 9));
  ExpectJobCreated("RunService/CreateRun", "client/create_run");

  Say("JobService/WatchJob", {"server/benchmark_succeeded"});
  BenchmarkOptions benchmark{.run = run, .warmup = 3, .samples = 4, .profile = true};
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult measured,
                       client->Benchmark(artifact.digest(), RecordedInputs(), benchmark));
  EXPECT_THAT(measured.samples_ns, ElementsAre(1004, 1003, 1002, 1001));
  EXPECT_EQ(measured.iterations_per_sample, 5);
  EXPECT_EQ(measured.steps.at(0).operators.at(0), "Relu");
  EXPECT_TRUE(measured.disturbed);
  EXPECT_EQ(measured.after.governor, "performance");
  EXPECT_EQ(measured.device_target, "x86-64-linux");
  ExpectJobCreated("RunService/CreateBenchmark", "client/create_benchmark");
}

TEST_P(ServersOfProtocol1, AClientAsksAboutJobsAndDevices) {
  Say("JobService/GetJob", {"server/compilation_running"});
  Say("JobService/CancelJob", {"server/benchmark_cancelled"});
  Say("JobService/ListJobs", {"server/jobs"});
  Say("FleetService/ListDevices", {"server/devices"});
  const std::unique_ptr<Client> client = Connect();
  ASSERT_OK_AND_ASSIGN(const ServerInfo info, client->Info());
  EXPECT_EQ(info.max_model_bytes, 1073741825);
  EXPECT_EQ(info.counters.at(4).second, 5);
  ASSERT_OK_AND_ASSIGN(const Job running, client->GetJob("01K7Q2V5ZD000000000000000A"));
  EXPECT_EQ(running.state, JobState::kRunning);
  EXPECT_EQ(running.progress.total, 5);
  EXPECT_EQ(running.assignee, "old-worker");
  ASSERT_OK_AND_ASSIGN(const Job cancelled, client->CancelJob(running.id));
  EXPECT_EQ(cancelled.state, JobState::kCancelled);
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> jobs, client->ListJobs({.limit = 10}));
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_EQ(jobs[1].state, JobState::kAssigned);
  ASSERT_OK_AND_ASSIGN(const std::vector<Device> devices, client->ListDevices());
  ASSERT_THAT(devices, SizeIs(1));
  EXPECT_EQ(devices[0].state, DeviceState::kBusy);
  EXPECT_EQ(devices[0].cores, 2);
  EXPECT_EQ(devices[0].abis, (VersionRange{0, 0}));
}

TEST_P(ServersOfProtocol1, AClientReadsAndWritesArtifacts) {
  const std::map<std::string, std::string> blobs = ProgramBlobs();
  const std::unique_ptr<Client> client = Connect();
  ASSERT_OK_AND_ASSIGN(const Artifact artifact,
                       ReadSlip(absl::StrCat(kProgram, "/x86-64-linux.slip")));
  ServeBlobs({});
  ASSERT_OK(client->PutArtifact(artifact));
  for (const auto& [hex, bytes] : blobs) EXPECT_TRUE(Holds(hex));
  ASSERT_OK_AND_ASSIGN(const Artifact fetched, client->GetArtifact(artifact.digest()));
  EXPECT_EQ(fetched.digest(), artifact.digest());
}

TEST_P(ServersOfProtocol1, AnAgentRuns) {
  if (!CheckRunsOn(*ParseTarget("x86-64-linux"), HostTarget()).ok()) {
    GTEST_SKIP() << "the recorded program is for x86-64";
  }
  ServeBlobs(ProgramBlobs());
  WantUntilTheEnd("AgentService/Sync", "server/run_wanted", "server/nothing_wanted");
  const std::unique_ptr<Subprocess> agent = StartAgent();
  const RecordedMessage end = AwaitEnd("AgentState");
  EXPECT_EQ(end.Get("attempts.0.state"), "SUCCEEDED") << end.Text() << agent->OutputTail();
  EXPECT_EQ(end.Get("agent_id"), "old-device");
  EXPECT_EQ(end.Get("devices.0.id"), "old-device");
  EXPECT_NE(end.Get("devices.0.target"), "");
  EXPECT_NE(end.Get("instance_id"), "");
  EXPECT_EQ(end.Get("min_abi"), "1");
  const RecordedMessage expected =
      protocol_.Read("AgentState", protocol_.Bytes("agent/ran.AgentState"));
  for (int i = 0; i < 8; ++i) {
    for (const char* field : {"name", "type.dtype", "inline_data"}) {
      const std::string path = absl::StrCat("attempts.0.run_result.outputs.", i, ".", field);
      EXPECT_EQ(end.Get(path), expected.Get(path)) << path;
    }
  }
}

TEST_P(ServersOfProtocol1, AWorkerCompiles) {
  ServeBlobs({{Digest::Of(kModel).hex(), kModel}});
  WantUntilTheEnd("WorkerService/Sync", "server/compilation_wanted",
                  "server/no_compilation_wanted");
  const std::unique_ptr<Subprocess> worker = StartWorker();
  const RecordedMessage end = AwaitEnd("WorkerState");
  EXPECT_EQ(end.Get("attempts.0.state"), "SUCCEEDED") << end.Text() << worker->OutputTail();
  EXPECT_EQ(end.Get("worker_id"), "old-worker");
  EXPECT_EQ(end.Get("capacity"), "1");
  EXPECT_THAT(end.Get("fingerprint"), SizeIs(64));
  EXPECT_EQ(end.Get("attempts.0.result.report.kernels_compiled"), "1");
  EXPECT_TRUE(Holds(end.Get("attempts.0.result.manifest.sha256")));
}

TEST_P(ServersOfProtocol1, ServersOfLaterProtocolsAreRefusedWithAllVersions) {
  Say("ServerService/GetServerInfo", {"server/info_of_later_protocols"});
  EXPECT_THAT(Client::Connect({.server = server_.address()}),
              StatusIs(Code::kFailedPrecondition,
                       AllOf(HasSubstr("9.0.0"), HasSubstr("2 to 3"), HasSubstr("update"))));
}

TEST_P(ServersOfProtocol1, AnAgentThatIsRefusedSaysSoAndStays) {
  On("AgentService/Sync", [](const auto&) -> RawAnswer {
    return {absl::FailedPreconditionError("protocol versions 1 to 1 are spoken there, 2 to 3 here"),
            {}};
  });
  const std::unique_ptr<Subprocess> agent = StartAgent();
  const absl::Time end = absl::Now() + absl::Seconds(20);
  while (!absl::StrContains(agent->OutputTail(), "2 to 3 here") && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_THAT(agent->OutputTail(),
              AllOf(HasSubstr("the server does not take this agent"), HasSubstr("2 to 3 here")));
  EXPECT_FALSE(agent->Poll().has_value());
}

INSTANTIATE_TEST_SUITE_P(All, ServersOfProtocol1, ::testing::Values(Servers::kOld, Servers::kNew),
                         [](const auto& info) {
                           return info.param == Servers::kOld ? "AsRecorded" : "WithUnknownFields";
                         });

}  // namespace
}  // namespace slipway::testing
