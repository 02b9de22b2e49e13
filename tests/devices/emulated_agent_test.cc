// Agents and runners of other architectures, run by an emulator, with this machine's server: a trained model, sessions, programs that are
// killed, and programs that are for others.
#include "tests/devices/emulated_agent.h"

#include <signal.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/client.h"
#include "client/session.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/tensor/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/process_list.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr char kDigits[] = "client/examples/digits/digits.onnx";

struct Board {
  std::string architecture;
  std::string target;
  // A processor that has what `target` asks for, and lacks the feature that `newer` asks for beside it.
  std::string old_processor;
  std::string newer;
  std::string lacks;
};

class EmulatedAgentTest : public ::testing::TestWithParam<Board> {
 protected:
  void SetUp() override { Start(/*processor=*/""); }
  void Start(const std::string& processor) {
    client_.reset();
    cluster_.reset();
    ASSERT_OK_AND_ASSIGN(const std::string agent,
                         WriteEmulatedAgent(GetParam().architecture, tree_.path(), processor));
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start({.tcp = true, .agent_binary = agent}));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }

  TempTree tree_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Boards, EmulatedAgentTest,
                         ::testing::Values(Board{"arm-32", "arm-32-linux-neon", "cortex-a9",
                                                 "arm-32-linux-fma-neon", "fma"},
                                           Board{"arm-64", "arm-64-linux", "cortex-a57",
                                                 "arm-64-linux-dotprod", "dotprod"}),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param.architecture, {{"-", "_"}});
                         });

TEST_P(EmulatedAgentTest, ReadsDigits) {
  ASSERT_OK_AND_ASSIGN(const Compilation compilation,
                       client_->Compile(RunfilePath(kDigits), {.target = GetParam().target}));
  for (int digit = 0; digit < 10; ++digit) {
    ASSERT_OK_AND_ASSIGN(
        const std::string npy,
        ReadFile(RunfilePath(absl::StrCat("client/examples/digits/images/", digit, ".npy")),
                 1 << 20));
    ASSERT_OK_AND_ASSIGN(const Tensor image, ParseNpy(npy));
    ASSERT_OK_AND_ASSIGN(const auto outputs,
                         client_->Run(compilation.artifact, {{"image", image}}, {}));
    const auto scores = outputs[0].tensor.values<float>();
    EXPECT_EQ(std::max_element(scores.begin(), scores.end()) - scores.begin(), digit);
  }
}

TEST_P(EmulatedAgentTest, RefusesByNameWhatItCannotRun) {
  Start(GetParam().old_processor);
  const Artifact other = TestProgram(TestKernel::kAdd);
  ASSERT_OK(client_->PutArtifact(other));
  EXPECT_THAT(client_->Run(other.digest(), {}, {.device = "agent0"}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("x86-64")));
  ASSERT_OK_AND_ASSIGN(const Compilation newer,
                       client_->Compile(RunfilePath(kDigits), {.target = GetParam().newer}));
  EXPECT_THAT(client_->Run(newer.artifact, {}, {.device = "agent0"}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(GetParam().lacks)));
  ASSERT_OK_AND_ASSIGN(const Compilation fits,
                       client_->Compile(RunfilePath(kDigits), {.target = GetParam().target}));
  EXPECT_OK(client_->Run(fits.artifact, {}, {.device = "agent0"}).status());
}

// What is read of the image of a seven.
absl::StatusOr<int64_t> Read(Session& session, const Digest& artifact, const Tensor& image) {
  SLIPWAY_ASSIGN_OR_RETURN(const RemoteProgram program, session.Load(artifact));
  SLIPWAY_ASSIGN_OR_RETURN(const RemoteTensor input, session.Put(image));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<RemoteTensor> outputs, program.Call({&input}));
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor scores, outputs[0].Get());
  const auto values = scores.values<float>();
  return std::max_element(values.begin(), values.end()) - values.begin();
}

TEST_P(EmulatedAgentTest, ASessionOutlivesAProgramThatIsKilled) {
  ASSERT_OK_AND_ASSIGN(const Compilation compilation,
                       client_->Compile(RunfilePath(kDigits), {.target = GetParam().target}));
  ASSERT_OK_AND_ASSIGN(const std::string npy,
                       ReadFile(RunfilePath("client/examples/digits/images/7.npy"), 1 << 20));
  ASSERT_OK_AND_ASSIGN(const Tensor image, ParseNpy(npy));
  ASSERT_OK_AND_ASSIGN(Session session,
                       Session::Open({.address = cluster_->address(), .device = "agent0"}));
  ASSERT_OK_AND_ASSIGN(const int64_t before, Read(session, compilation.artifact, image));
  EXPECT_EQ(before, 7);
  ASSERT_OK_AND_ASSIGN(const RemoteTensor lost, session.Put(image));
  int killed = 0;
  for (const RunningProcess& process : cluster_->Processes()) {
    const std::vector<std::string>& arguments = process.arguments;
    const bool is_runner =
        std::find(arguments.begin(), arguments.end(), "runner") != arguments.end();
    if (is_runner) killed += kill(process.pid, SIGKILL) == 0;
  }
  ASSERT_GE(killed, 1);
  // Whether the agent has seen the end before it is asked, or sees it by asking.
  EXPECT_THAT(lost.Get(), AnyOf(StatusIs(absl::StatusCode::kAborted),
                                StatusIs(absl::StatusCode::kFailedPrecondition,
                                         HasSubstr("killed by signal 9"))));
  ASSERT_OK_AND_ASSIGN(const int64_t after, Read(session, compilation.artifact, image));
  EXPECT_EQ(after, 7);
  EXPECT_OK(session.Close());
}

}  // namespace
}  // namespace slipway::testing
