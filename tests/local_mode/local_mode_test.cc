// The command without a server: it starts one and an agent, and whatever happens to it, nothing stays.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/artifact/slip_file.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/runtime/test_programs/hand_written_programs.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/tensor/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/process_list.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LocalModeTest : public ::testing::Test {
 protected:
  LocalModeTest() {
    // A socket's path must be short, and the folder of a test is not.
    setenv("TMPDIR", "/tmp", 1);
    folder_ = *TemporaryFolder::Create("local");
    mark_ = absl::StrCat("SLIPWAY_TEST_MARK=", folder_.path());
    environment_ = {{"TMPDIR", folder_.path()},
                    {"XDG_CACHE_HOME", tree_.Path("cache")},
                    {"XDG_RUNTIME_DIR", ""},
                    {"SLIPWAY_SERVER", ""},
                    {"SLIPWAY_TEST_MARK", folder_.path()}};
  }

  void TearDown() override { EXPECT_THAT(AwaitNoProcess(mark_, absl::Seconds(20)), IsEmpty()); }

  std::string WriteProgram(TestKernel kernel) {
    return tree_.Write("program.slip", FormatSlip(TestProgram(kernel)));
  }
  std::vector<std::string> Argv(std::vector<std::string> arguments) {
    // By its real path: the command looks for its siblings near itself.
    std::vector<std::string> argv = {RunfilePath("client/slipway")};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    argv.push_back("--server-binary=" + RunfilePath("server/slipwayd"));
    argv.push_back("--agent-binary=" + RunfilePath("device_agent/slipway-agent"));
    return argv;
  }
  CommandResult Slipway(std::vector<std::string> arguments) {
    return RunCommand({.argv = Argv(std::move(arguments)), .environment = environment_});
  }
  std::unique_ptr<Subprocess> Start(std::vector<std::string> arguments) {
    auto started = Subprocess::Start({.argv = Argv(std::move(arguments)),
                                      .environment = environment_,
                                      .stdout_stream = ChildStream::Tail(),
                                      .stderr_stream = ChildStream::Tail()});
    EXPECT_OK(started);
    return *std::move(started);
  }
  // Returns once the program runs, which never ends by itself.
  static bool AwaitRun(const Subprocess& command) {
    const absl::Time give_up = absl::Now() + absl::Seconds(30);
    while (absl::Now() < give_up && !command.Poll().has_value()) {
      if (absl::StrContains(command.OutputTail(), "run program.slip: run\n")) return true;
      absl::SleepFor(absl::Milliseconds(5));
    }
    return false;
  }
  // Whether nothing but the folder itself is there.
  bool FolderIsEmpty() const {
    const bool empty = rmdir(folder_.path().c_str()) == 0;
    return empty && MakeFolders(folder_.path()).ok();
  }

  TemporaryFolder folder_;
  TempTree tree_;
  std::string mark_;
  std::vector<std::pair<std::string, std::string>> environment_;
};

TEST_F(LocalModeTest, RunsAndLeavesNothing) {
  const std::string program = WriteProgram(TestKernel::kAdd);
  const CommandResult run = Slipway({"run", program, "--output-dir", tree_.Path("out")});
  EXPECT_TRUE(run.status.ok()) << run.ToString();
  EXPECT_THAT(run.out, AllOf(HasSubstr(" on local: run "), HasSubstr("y       f32[2, 8]")));
  EXPECT_TRUE(tree_.Exists("out/y.npy"));
  EXPECT_THAT(ListProcesses(mark_), IsEmpty());
  EXPECT_TRUE(FolderIsEmpty());

  const CommandResult bench = Slipway({"bench", program, "--samples=5", "--warmup=1", "--json"});
  EXPECT_TRUE(bench.status.ok()) << bench.ToString();
  EXPECT_THAT(bench.out, HasSubstr("\"device\": \"local\""));
}

TEST_F(LocalModeTest, ComparesAProgramWithItself) {
  const std::string program = WriteProgram(TestKernel::kAdd);
  // So wide a margin that load does not matter.
  const CommandResult same =
      Slipway({"compare", program, program, "--margin=50%", "--limit=5s", "--json"});
  EXPECT_TRUE(same.status.ok()) << same.ToString();
  EXPECT_THAT(same.out,
              AllOf(HasSubstr("\"verdict\": \"same\""), HasSubstr("\"device\": \"local\"")));
  EXPECT_THAT(ListProcesses(mark_), IsEmpty());
  EXPECT_TRUE(FolderIsEmpty());
}

TEST_F(LocalModeTest, ALoopWithoutEndIsEndedByAFlag) {
  HandWrittenProgram program = While();
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, program.builder.Build());
  std::vector<std::string> arguments = {"run", tree_.Write("while.slip", FormatSlip(artifact))};
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const std::string& name = artifact.manifest().signature().inputs[i].name;
    // With steps of 0 the sum never comes to its limit.
    const Tensor& tensor = name == "step" ? program.inputs[0] : program.inputs[i];
    arguments.push_back(
        absl::StrCat("--input=", name, "=", tree_.Write(name + ".npy", *FormatNpy(tensor))));
  }
  arguments.push_back("--loop-turns=1000");
  const CommandResult ended = Slipway(arguments);
  EXPECT_EQ(ended.status.exit_code, 1) << ended.ToString();
  EXPECT_THAT(ended.err, HasSubstr("step 1 'while': loops made more than 1000 turns"));
  EXPECT_THAT(ended.err, HasSubstr("--loop-turns"));
}

TEST_F(LocalModeTest, LocalWinsOverTheVariable) {
  environment_.emplace_back("SLIPWAY_SERVER", "127.0.0.1:1");
  EXPECT_EQ(Slipway({"devices", "--insecure"}).status.exit_code, 3);
  const CommandResult local = Slipway({"devices", "--local"});
  EXPECT_TRUE(local.status.ok()) << local.ToString();
  EXPECT_THAT(local.out, HasSubstr("idle"));
}

TEST_F(LocalModeTest, TwoAtATime) {
  const std::string program = WriteProgram(TestKernel::kAdd);
  const auto first = Start({"run", program});
  const auto second = Start({"run", program});
  for (const auto& process : {first.get(), second.get()}) {
    const auto ended = process->Wait(absl::Seconds(60));
    ASSERT_OK(ended);
    EXPECT_TRUE(ended->ok()) << process->OutputTail();
  }
}

TEST_F(LocalModeTest, FailedRunLeavesNothing) {
  const CommandResult run = Slipway({"run", WriteProgram(TestKernel::kCrash)});
  EXPECT_EQ(run.status.exit_code, 1) << run.ToString();
  EXPECT_THAT(run.err, HasSubstr("slipway: error: "));
  EXPECT_THAT(ListProcesses(mark_), IsEmpty());
  EXPECT_TRUE(FolderIsEmpty());
}

TEST_F(LocalModeTest, InterruptCancelsAndLeavesNothing) {
  const auto process = Start({"run", WriteProgram(TestKernel::kLoop)});
  ASSERT_TRUE(AwaitRun(*process)) << process->OutputTail();
  process->Signal(SIGINT);
  const auto ended = process->Wait(absl::Seconds(30));
  ASSERT_OK(ended);
  EXPECT_EQ(ended->exit_code, 1) << process->OutputTail();
  EXPECT_THAT(process->OutputTail(), HasSubstr("is cancelled"));
  EXPECT_THAT(ListProcesses(mark_), IsEmpty());
  EXPECT_TRUE(FolderIsEmpty());
}

TEST_F(LocalModeTest, KilledCommandTakesItsSiblingsAlong) {
  const auto process = Start({"run", WriteProgram(TestKernel::kLoop)});
  ASSERT_TRUE(AwaitRun(*process)) << process->OutputTail();
  // The command alone, not its group.
  ASSERT_EQ(kill(process->pid(), SIGKILL), 0);
  ASSERT_OK(process->Wait(absl::Seconds(30)));
  EXPECT_THAT(AwaitNoProcess(mark_, absl::Seconds(20)), IsEmpty());
  EXPECT_FALSE(FolderIsEmpty());
  // The next command cleans up.
  EXPECT_TRUE(Slipway({"devices"}).status.ok());
  EXPECT_TRUE(FolderIsEmpty());
}

TEST_F(LocalModeTest, MissingSiblingIsNamed) {
  const CommandResult result = RunCommand(
      {.argv = {RunfilePath("client/slipway"), "devices", "--server-binary=/nowhere/slipwayd"},
       .environment = environment_});
  EXPECT_EQ(result.status.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("/nowhere/slipwayd"));
}

TEST_F(LocalModeTest, TheServerTakesFlagsOfItsOwn) {
  const std::string config = tree_.Write("server.conf", "compile-memory: 1B\n");
  const CommandResult refused = Slipway({"devices", "--server-config=" + config});
  EXPECT_EQ(refused.status.exit_code, 3) << refused.ToString();
  EXPECT_THAT(refused.err, HasSubstr("compile-memory"));
}

}  // namespace
}  // namespace slipway::testing
