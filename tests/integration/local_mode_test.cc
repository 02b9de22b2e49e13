// The command without a server: it starts one and an agent for itself, and leaves nothing behind.
#include <signal.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/artifact/slip_file.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/runtime/test_programs/test_programs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/process_list.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kDigits[] = "client/examples/digits/digits.onnx";
constexpr char kMarkName[] = "SLIPWAY_TEST_LOCAL";

class LocalMode : public ::testing::Test {
 protected:
  // Not below TEST_TMPDIR: a socket's path has at most 107 bytes.
  void SetUp() override {
    setenv("TMPDIR", "/tmp", 1);
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("slipway-local-test"));
    for (const char* name : {"tmp", "cache", "home"}) {
      ASSERT_OK(MakeFolders(JoinPath(folder_.path(), name)));
    }
    environment_ = {{kMarkName, folder_.path()},
                    {"HOME", JoinPath(folder_.path(), "home")},
                    {"XDG_CACHE_HOME", JoinPath(folder_.path(), "cache")},
                    {"TMPDIR", JoinPath(folder_.path(), "tmp")},
                    {"SLIPWAY_LOCK_DIR", JoinPath(folder_.path(), "locks")},
                    {"SLIPWAY_SERVER", ""}};
  }
  void TearDown() override { EXPECT_THAT(AwaitNoProcess(Mark(), absl::Seconds(10)), IsEmpty()); }

  std::string Mark() const { return absl::StrCat(kMarkName, "=", folder_.path()); }

  CommandResult Slipway(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), CommandBinary());
    return RunCommand({.argv = std::move(arguments), .environment = environment_});
  }
  CommandResult RunDigit(int digit) const {
    const std::string image =
        RunfilePath(absl::StrCat("client/examples/digits/images/", digit, ".npy"));
    return Slipway({"run", RunfilePath(kDigits), "--input", "image=" + image, "--json"});
  }

  TemporaryFolder folder_;
  std::vector<std::pair<std::string, std::string>> environment_;
};

TEST_F(LocalMode, RunsAModelAndKeepsWhatItCompiled) {
  const CommandResult first = RunDigit(3);
  ASSERT_TRUE(first.status.ok()) << first.ToString();
  EXPECT_THAT(first.out, HasSubstr("\"largest_at\": 3"));
  const CommandResult compiled = Slipway({"compile", RunfilePath(kDigits), "--json"});
  ASSERT_TRUE(compiled.status.ok()) << compiled.ToString();
  EXPECT_THAT(compiled.out, HasSubstr("\"cached\": true"));
}

TEST_F(LocalMode, SeveralAtOnce) {
  std::vector<CommandResult> results(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i, &results] { results[static_cast<size_t>(i)] = RunDigit(i); });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i) {
    const CommandResult& result = results[static_cast<size_t>(i)];
    EXPECT_TRUE(result.status.ok()) << result.ToString();
    EXPECT_THAT(result.out, HasSubstr(absl::StrCat("\"largest_at\": ", i)));
  }
}

TEST_F(LocalMode, AKilledCommandTakesAllWithIt) {
  const std::string file = JoinPath(folder_.path(), "loop.slip");
  ASSERT_OK(WriteSlip(TestProgram(TestKernel::kLoop), file));
  SubprocessOptions options;
  options.argv = {CommandBinary(), "run", file};
  options.environment = environment_;
  options.stdout_stream = ChildStream::Tail();
  options.stderr_stream = ChildStream::Tail();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Subprocess> command, Subprocess::Start(options));
  // It says what it does once a server is there to tell it.
  while (command->OutputTail().empty() && !command->Poll().has_value()) std::this_thread::yield();
  EXPECT_FALSE(command->Poll().has_value()) << command->OutputTail();
  EXPECT_GE(ListProcesses(Mark()).size(), 3u);
  command->Kill();
  ASSERT_OK(command->Wait());
  EXPECT_THAT(AwaitNoProcess(Mark(), absl::Seconds(10)), IsEmpty());
}

TEST_F(LocalMode, CtrlCCancels) {
  const std::string file = JoinPath(folder_.path(), "loop.slip");
  ASSERT_OK(WriteSlip(TestProgram(TestKernel::kLoop), file));
  SubprocessOptions options;
  options.argv = {CommandBinary(), "run", file};
  options.environment = environment_;
  options.stdout_stream = ChildStream::Tail();
  options.stderr_stream = ChildStream::Tail();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Subprocess> command, Subprocess::Start(options));
  while (command->OutputTail().empty() && !command->Poll().has_value()) std::this_thread::yield();
  command->Signal(SIGINT);
  ASSERT_OK_AND_ASSIGN(const ExitStatus status, command->Wait(absl::Seconds(20)));
  EXPECT_EQ(status.exit_code, 1) << command->OutputTail();
  EXPECT_THAT(command->OutputTail(), HasSubstr("interrupted"));
}

}  // namespace
}  // namespace slipway::testing
