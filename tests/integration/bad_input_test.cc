// Bad input, by the real command: each gets one clear line that names the thing and the way out, the right
// exit code, and loses nothing.
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/client.h"
#include "client/model_files.h"
#include "core/artifact/slip_file.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/target/target.h"
#include "core/tensor/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/integration/programs/hostile_program.h"
#include "tests/integration/small_models.h"

namespace slipway::testing {
namespace {

constexpr int kWorkFailed = 1;
constexpr int kWrongCall = 2;
constexpr int kUnreachable = 3;
constexpr char kError[] = "slipway: error: ";

// Lines of stderr that say what went wrong.
std::vector<std::string> ErrorLines(const CommandResult& result) {
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(result.err, '\n')) {
    if (absl::StartsWith(line, kError)) lines.emplace_back(line);
  }
  return lines;
}

// Ended with this code, and one line that has all the words.
void ExpectError(const CommandResult& result, int exit_code,
                 const std::vector<std::string>& words) {
  EXPECT_EQ(result.status.signal, 0) << result.ToString();
  EXPECT_EQ(result.status.exit_code, exit_code) << result.ToString();
  const std::vector<std::string> lines = ErrorLines(result);
  ASSERT_EQ(lines.size(), 1u) << result.ToString();
  for (const std::string& word : words) EXPECT_THAT(lines[0], ::testing::HasSubstr(word));
}

// Every test of a suite has one cluster, and ends with the proof that it still serves.
class BadInput : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    absl::StatusOr<std::unique_ptr<Cluster>> cluster =
        Cluster::Start({.agent_flags = {"--runner-memory=1GiB"}});
    ASSERT_OK(cluster);
    cluster_ = cluster->release();
  }
  static void TearDownTestSuite() {
    if (cluster_ != nullptr) EXPECT_OK(cluster_->StopAll());
    delete cluster_;
    cluster_ = nullptr;
  }
  void SetUp() override { ASSERT_NE(cluster_, nullptr); }
  void TearDown() override { ExpectServes(*cluster_); }

  void ExpectServes(Cluster& cluster) {
    const CommandResult result =
        cluster.Slipway({"run", WriteProgram("good", TestProgram(TestKernel::kAdd))});
    EXPECT_TRUE(result.status.ok()) << "it no longer serves: " << result.ToString();
  }

  std::string WriteProgram(const std::string& name, const Artifact& artifact) {
    return tree_.Write(name + ".slip", FormatSlip(artifact));
  }
  std::string WriteInput(const std::string& name, const Tensor& tensor) {
    return tree_.Write(name + ".npy", *FormatNpy(tensor));
  }
  CommandResult Slipway(std::vector<std::string> arguments) {
    return cluster_->Slipway(std::move(arguments));
  }
  CommandResult RunProgram(const Artifact& artifact, std::vector<std::string> flags = {}) {
    std::vector<std::string> arguments = {"run", WriteProgram("program", artifact)};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return Slipway(std::move(arguments));
  }

  static Cluster* cluster_;
  TempTree tree_;
};

Cluster* BadInput::cluster_ = nullptr;

// --- Models.

TEST_F(BadInput, ModelsThatMustBeRefused) {
  const CommandResult made = RunCommand(
      {.argv = {"/usr/bin/python3", RunfilePath("tests/models/make_bad_models.py"), tree_.path()}});
  ASSERT_TRUE(made.status.ok()) << made.ToString();
  int count = 0;
  for (absl::string_view line :
       absl::StrSplit(tree_.Read("expected.tsv"), '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> row = absl::StrSplit(line, absl::MaxSplits('\t', 1));
    SCOPED_TRACE(row.first);
    const CommandResult result =
        Slipway({"compile", tree_.Path(row.first), "--target", "x86-64-v3-linux"});
    ExpectError(result, kWorkFailed, absl::StrSplit(row.second, '|', absl::SkipEmpty()));
    ++count;
  }
  EXPECT_GE(count, 20);
}

TEST_F(BadInput, GraphTextThatMustBeRefused) {
  const struct {
    const char* name;
    const char* text;
    std::vector<std::string> words;
  } cases[] = {
      {"noise", "this is no graph", {"1:1"}},
      {"cycle",
       "graph \"c\" (%x: f32[2]) -> (%a) {\n  %a = Add \"first\" (%x, %b)\n"
       "  %b = Relu(%a)\n}\n",
       {"b"}},
      {"unknown",
       "graph \"u\" (%x: f32[2]) -> (%y) {\n  %y = Frobnicate \"the_node\" (%x)\n}\n",
       {"Frobnicate", "the_node"}},
      {"overflow",
       "graph \"o\" (%x: f32[2147483647, 2147483647, 2147483647]) -> (%y) {\n"
       "  %y = Relu(%x)\n}\n",
       {"2147483647"}},
      {"shapes",
       "graph \"s\" (%x: f32[2], %z: f32[3]) -> (%y) {\n  %y = Add \"the_node\" (%x, "
       "%z)\n}\n",
       {"the_node", "[2]", "[3]"}},
  };
  for (const auto& bad : cases) {
    SCOPED_TRACE(bad.name);
    const std::string path = tree_.Write(absl::StrCat(bad.name, ".graph"), bad.text);
    ExpectError(Slipway({"compile", path, "--target", "x86-64-v3-linux"}), kWorkFailed, bad.words);
  }
}

TEST_F(BadInput, NoSuchFile) {
  ExpectError(Slipway({"compile", tree_.Path("nowhere.onnx")}), kWrongCall, {"nowhere.onnx"});
  ExpectError(Slipway({"run", tree_.Path("nowhere.slip")}), kWrongCall, {"nowhere.slip"});
}

TEST_F(BadInput, ModelOverTheLimits) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster,
                       Cluster::Start({.server_flags = {"--max-model-size=100000"}}));
  const std::string path = tree_.Write("large.onnx", std::string(100'001, 'x'));
  ExpectError(cluster->Slipway({"compile", path}), kWorkFailed, {"large.onnx", "100000"});
  ExpectServes(*cluster);
}

// --- Targets, devices, inputs.

TEST_F(BadInput, UnknownTarget) {
  const std::string model = WriteModel(tree_, "tiny", TinyGraph());
  ExpectError(Slipway({"compile", model, "--target", "z80-cpm"}), kWrongCall,
              {"z80", "x86-64", "arm-64"});
  ExpectError(Slipway({"compile", model, "--target", "x86-64-v3-linux-teleport"}), kWrongCall,
              {"teleport"});
}

TEST_F(BadInput, UnknownDeviceAndVerbAndFlag) {
  const std::string model = WriteModel(tree_, "tiny", TinyGraph());
  ExpectError(Slipway({"run", model, "--device", "toaster"}), kUnreachable, {"toaster", "agent0"});
  ExpectError(Slipway({"fly"}), kWrongCall, {"fly", "compile"});
  ExpectError(Slipway({"run", model, "--sed=1"}), kWrongCall, {"--sed", "--seed"});
}

TEST_F(BadInput, DeviceLacksAFeature) {
  for (const std::string target : {"arm-64-linux", "x86-64-v4-linux-fp16"}) {
    SCOPED_TRACE(target);
    ASSERT_OK_AND_ASSIGN(const Target parsed, ParseTarget(target));
    // Newer processors have that feature.
    if (CheckRunsOn(parsed, HostTarget()).ok()) continue;
    v1::Manifest manifest = TestProgramManifest(TestKernel::kAdd);
    manifest.set_target(target);
    manifest.mutable_devices(0)->set_target(target);
    ASSERT_OK_AND_ASSIGN(const Artifact artifact, Artifact::Create(manifest, GetTestProgramBlob));
    const std::string word = target == "arm-64-linux" ? "arm-64" : "fp16";
    ExpectError(RunProgram(artifact), kWorkFailed, {word});
    ExpectError(RunProgram(artifact, {"--device", "agent0"}), kWorkFailed, {word, "agent0"});
  }
}

TEST_F(BadInput, WrongInput) {
  const Artifact program = TestProgram(TestKernel::kAdd);
  const std::string good = WriteInput("good", Tensor::Zeros(DataType::kFloat32, {2, 8}));
  const std::string shape = WriteInput("shape", Tensor::Zeros(DataType::kFloat32, {2, 9}));
  const std::string type = WriteInput("type", Tensor::Zeros(DataType::kInt64, {2, 8}));
  const std::string text = tree_.Write("text.npy", "no array");
  const std::string expected = "f32[2, 8]";
  ExpectError(RunProgram(program, {"--input", "z=" + good}), kWrongCall,
              {"\"z\"", "\"x\"", expected});
  ExpectError(RunProgram(program, {"--input", "x=" + shape}), kWrongCall,
              {"\"x\"", "f32[2, 9]", expected});
  ExpectError(RunProgram(program, {"--input", "x=" + type}), kWrongCall,
              {"\"x\"", "i64[2, 8]", expected});
  ExpectError(RunProgram(program, {"--input", "x=" + text}), kWrongCall, {"\"x\"", "text.npy"});
  ExpectError(RunProgram(program, {"--input", "x=nowhere.npy"}), kWrongCall, {"nowhere.npy"});
}

// --- Artifacts.

TEST_F(BadInput, DamagedArtifacts) {
  const std::string good = FormatSlip(TestProgram(TestKernel::kAdd));
  const auto expect_refused = [&](const std::string& name, const std::string& bytes) {
    SCOPED_TRACE(name);
    const std::string path = tree_.Write(name + ".slip", bytes);
    ExpectError(Slipway({"run", path}), kWorkFailed, {name + ".slip"});
    ExpectError(Slipway({"inspect", path}), kWorkFailed, {name + ".slip"});
  };
  expect_refused("empty", "");
  expect_refused("random", "\x7f some bytes that are nothing");
  for (const size_t length : {4u, 30u, 100u}) {
    expect_refused(absl::StrCat("truncated_to_", length), good.substr(0, length));
  }
  expect_refused("truncated_by_one", good.substr(0, good.size() - 1));
  // The head, the manifest, and the end of the last blob.
  for (const size_t offset : std::vector<size_t>{0, 12, 70, good.size() - 1}) {
    std::string bytes = good;
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x40);
    expect_refused(absl::StrCat("flipped_at_", offset), bytes);
  }
}

TEST_F(BadInput, ArtifactForAnotherAbi) {
  ExpectError(RunProgram(TestProgram(TestKernel::kAdd, TestAbi::kOtherAbi)), kWorkFailed,
              {"ABI 2", "compile the model again"});
  ExpectError(RunProgram(TestProgram(TestKernel::kAdd, TestAbi::kNoQuery)), kWorkFailed,
              {"slipway_program_query"});
}

// --- Programs.

TEST_F(BadInput, ProgramFails) {
  ExpectError(RunProgram(TestProgram(TestKernel::kFail)), kWorkFailed,
              {"this kernel always fails"});
}

TEST_F(BadInput, ProgramCrashes) {
  ExpectError(RunProgram(TestProgram(TestKernel::kCrash)), kWorkFailed, {"SIGSEGV"});
  const CommandResult result = RunProgram(HostileProgram(HostileKernel::kCrash));
  ExpectError(result, kWorkFailed, {"SIGSEGV"});
  EXPECT_THAT(result.err, ::testing::HasSubstr("last words of a kernel"));
}

TEST_F(BadInput, ProgramEndsItsProcess) {
  ExpectError(RunProgram(HostileProgram(HostileKernel::kLeave)), kWorkFailed, {"exit code 0"});
}

TEST_F(BadInput, ProgramEatsMemory) {
  ExpectError(RunProgram(TestProgram(TestKernel::kEatMemory)), kWorkFailed, {"memory"});
  ExpectError(RunProgram(HostileProgram(HostileKernel::kMapMemory)), kWorkFailed,
              {"killed by signal"});
}

TEST_F(BadInput, ProgramLeavesAProcessBehind) {
  ExpectError(RunProgram(HostileProgram(HostileKernel::kLeaveChild)), kWorkFailed, {"SIGSEGV"});
}

TEST_F(BadInput, ProgramPrintsMuch) {
  const CommandResult result = RunProgram(HostileProgram(HostileKernel::kPrintMuch));
  ExpectError(result, kWorkFailed, {"SIGSEGV"});
  EXPECT_THAT(result.err, ::testing::HasSubstr("nobody wants to keep"));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster_->Connect());
  ASSERT_OK_AND_ASSIGN(const std::vector<Job> jobs, client->ListJobs({.limit = 1}));
  ASSERT_EQ(jobs.size(), 1u);
  ASSERT_OK_AND_ASSIGN(const Job job, client->GetJob(jobs[0].id));
  EXPECT_LE(job.error_log.size(), size_t{64} << 10);
}

TEST_F(BadInput, ProgramNeverEnds) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster,
                       Cluster::Start({.server_flags = {"--run-deadline=1s"}}));
  for (const Artifact& artifact :
       {TestProgram(TestKernel::kLoop), HostileProgram(HostileKernel::kHang)}) {
    const std::string path = WriteProgram("program", artifact);
    ExpectError(cluster->Slipway({"run", path}), kWorkFailed, {"1s"});
  }
  ExpectServes(*cluster);
  EXPECT_OK(cluster->StopAll());
}

// --- Compilations.

TEST_F(BadInput, CompilationTakesTooLong) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster,
                       Cluster::Start({.server_flags = {"--run-deadline=10ms"}}));
  const std::string model = WriteModel(tree_, "chain", ConvChain(12, 1));
  ExpectError(cluster->Slipway({"compile", model}), kWorkFailed,
              {"did not end within its deadline"});
  EXPECT_OK(cluster->StopAll());
}

TEST_F(BadInput, CompilationEatsMemory) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster,
                       Cluster::Start({.server_flags = {"--compile-memory=1GiB"}}));
  // A few words that ask for two times a gigabyte.
  const std::string model = tree_.Write("large.graph",
                                        "graph \"large\" (%x: f32[256, 1024, 1024]) -> (%y) {\n"
                                        "  const %w: f32[256, 1024, 1024] = splat 2.0\n"
                                        "  %v = Sqrt(%w)\n  %y = Add(%x, %v)\n}\n");
  ExpectError(cluster->Slipway({"compile", model}), kWorkFailed, {"memory"});
  ExpectServes(*cluster);
  EXPECT_OK(cluster->StopAll());
}

// --- Servers and agents.

TEST_F(BadInput, NoServerThere) {
  const std::string model = WriteModel(tree_, "tiny", TinyGraph());
  ExpectError(Slipway({"devices", "--server", "127.0.0.1:1", "--insecure"}), kUnreachable,
              {"127.0.0.1:1", "slipwayd"});
  ExpectError(
      Slipway({"compile", model, "--server", absl::StrCat("unix:", cluster_->Path("nobody"))}),
      kUnreachable, {"nobody"});
  ExpectError(Slipway({"devices", "--server", absl::StrCat("unix:/", std::string(107, 'x'))}),
              kWrongCall, {"xxx", "107"});
  ExpectError(Slipway({"devices", "--server", "nonsense"}), kWrongCall, {"nonsense", "HOST:PORT"});
}

TEST_F(BadInput, WhatCannotBeReadIsNotLogged) {
  // No UTF-8, which the server's protobuf would have a line for, whenever somebody likes.
  const CommandResult result = Slipway({"cancel", "\xff"});
  EXPECT_FALSE(result.status.ok()) << result.ToString();
  EXPECT_THAT(cluster_->server().Log(), ::testing::Not(::testing::HasSubstr("UTF-8")));
}

TEST_F(BadInput, TwoServersOnOneDataFolder) {
  const std::string socket = absl::StrCat("unix:", cluster_->Path("second"));
  const CommandResult result = RunCommand(
      {.argv = {ServerBinary(), "--listen", socket, "--data-dir", cluster_->data_folder()},
       .environment = cluster_->environment(),
       .timeout = absl::Seconds(10)});
  EXPECT_EQ(result.status.exit_code, 1) << result.ToString();
  EXPECT_THAT(result.err, ::testing::HasSubstr(cluster_->data_folder()));
  EXPECT_THAT(result.err, ::testing::HasSubstr(absl::StrCat("process ", cluster_->server().pid())));
}

TEST_F(BadInput, TwoServersOnOneSocket) {
  const CommandResult result = RunCommand({.argv = {ServerBinary(), "--listen", cluster_->address(),
                                                    "--data-dir", cluster_->Path("other")},
                                           .environment = cluster_->environment(),
                                           .timeout = absl::Seconds(10)});
  EXPECT_EQ(result.status.exit_code, 1) << result.ToString();
  EXPECT_THAT(result.err, ::testing::HasSubstr(cluster_->address()));
}

TEST_F(BadInput, TwoAgentsWithOneId) {
  ServiceProcess second({.name = "second",
                         .argv = {AgentBinary(), "--server", cluster_->address(), "--state-dir",
                                  cluster_->Path("second-agent"), "--id", "agent0"},
                         .environment = cluster_->environment(),
                         .log_file = cluster_->Path("second-agent.log"),
                         // It never is.
                         .ready_within = absl::Seconds(4)});
  EXPECT_THAT(second.Start(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(second.Log(), ::testing::HasSubstr("agent0"));
  // Shown to operators; the first goes on.
  const CommandResult devices = Slipway({"devices"});
  EXPECT_THAT(devices.out, ::testing::HasSubstr("warning: agent0: another agent"));
  ExpectServes(*cluster_);
  second.Kill();
}

TEST_F(BadInput, TwoAgentsOnOneStateFolder) {
  const CommandResult result = RunCommand({.argv = {AgentBinary(), "--server", cluster_->address(),
                                                    "--state-dir", cluster_->Path("agent0")},
                                           .environment = cluster_->environment(),
                                           .timeout = absl::Seconds(10)});
  EXPECT_EQ(result.status.exit_code, 1) << result.ToString();
  EXPECT_THAT(result.err, ::testing::HasSubstr(cluster_->Path("agent0")));
}

TEST_F(BadInput, AgentKilledInTheMiddle) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster_->Connect());
  const Artifact artifact = TestProgram(TestKernel::kSlow);
  ASSERT_OK(client->PutArtifact(artifact));
  Tensor x = Tensor::Zeros(DataType::kFloat32, {2, 8});
  x.mutable_values<float>()[0] = 300;
  ASSERT_OK_AND_ASSIGN(const std::string id, client->SubmitRun(artifact.digest(), {{"x", x}}, {}));
  bool killed = false;
  ASSERT_OK_AND_ASSIGN(const Job job, client->Wait(id, [&](const Job& now) {
    if (now.state != JobState::kRunning || killed) return;
    killed = true;
    cluster_->agent(0).Kill();
    EXPECT_OK(cluster_->agent(0).Start());
  }));
  EXPECT_TRUE(killed);
  EXPECT_EQ(job.attempts, 2);
  EXPECT_EQ(std::string(Name(job.state)), "succeeded") << job.error;
}

TEST_F(BadInput, WorkerKilledInTheMiddle) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, cluster_->Connect());
  const std::string model = WriteModel(tree_, "chain", ConvChain(6, 77));
  ASSERT_OK_AND_ASSIGN(const ModelFiles files, ReadModelFiles(model, 1 << 20));
  ASSERT_OK_AND_ASSIGN(const std::string id,
                       client->SubmitCompilation(files, {.target = "x86-64-v3-linux"}));
  bool killed = false;
  ASSERT_OK_AND_ASSIGN(const Job job, client->Wait(id, [&](const Job& now) {
    if (now.state != JobState::kRunning || killed) return;
    killed = true;
    for (const RunningProcess& process : cluster_->Processes()) {
      if (process.program == "slipway-compile-worker") kill(process.pid, SIGKILL);
    }
  }));
  EXPECT_TRUE(killed);
  EXPECT_EQ(job.attempts, 2);
  EXPECT_EQ(std::string(Name(job.state)), "succeeded") << job.error;
}

// --- Full disks: a limit on the size of files fails writes as a full disk does.

TEST_F(BadInput, FullDiskOfTheServer) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster, Cluster::Create({}));
  cluster->server().options().limits.file_size_bytes = 1 << 20;
  ASSERT_OK(cluster->server().Start());
  ASSERT_OK(cluster->agent(0).Start());
  const std::string model = tree_.Write("large.onnx", std::string(2 << 20, 'x'));
  ExpectError(cluster->Slipway({"compile", model}), kWorkFailed, {"too large"});
  ExpectServes(*cluster);
  EXPECT_OK(cluster->StopAll());
}

TEST_F(BadInput, QuotaOfTheServer) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster,
                       Cluster::Start({.server_flags = {"--blob-quota=300KiB"}}));
  const std::string model = tree_.Write("large.onnx", std::string(2 << 20, 'x'));
  ExpectError(cluster->Slipway({"compile", model}), kWorkFailed, {"quota"});
  ExpectServes(*cluster);
  EXPECT_OK(cluster->StopAll());
}

TEST_F(BadInput, FullDiskOfTheAgent) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster, Cluster::Create({}));
  ASSERT_OK(cluster->server().Start());
  cluster->agent(0).options().limits.file_size_bytes = 1 << 10;
  ASSERT_OK(cluster->agent(0).Start());
  const std::string path = WriteProgram("good", TestProgram(TestKernel::kAdd));
  const CommandResult result = cluster->Slipway({"run", path});
  ExpectError(result, kWorkFailed, {"too large"});
  EXPECT_OK(cluster->StopAll());
}

TEST_F(BadInput, FullDiskOfTheCommand) {
  const std::string model = WriteModel(tree_, "chain", ConvChain(2, 1));
  CommandOptions options;
  options.argv = {CommandBinary(), "compile", model, "-o", tree_.Path("out.slip")};
  options.environment = cluster_->environment();
  options.environment.emplace_back("SLIPWAY_SERVER", cluster_->address());
  options.limits.file_size_bytes = 1000;
  ExpectError(RunCommand(options), kWorkFailed, {"out.slip", "too large"});
  EXPECT_FALSE(tree_.Exists("out.slip"));
}

}  // namespace
}  // namespace slipway::testing
