// Programs with a device beside the processor: PoCL's, and one that the agent was not told to let them use.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "device_agent/testing/twice_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr char kTwice[] =
    "kernel void twice(global const float* x, global float* y) {\n"
    "  size_t i = get_global_id(0);\n"
    "  y[i] = x[i] + x[i];\n"
    "}\n";

Artifact Twice(const std::string& text, int gibibytes = 0) {
  return TwiceProgram({.device = "opencl",
                       .kind = v1::Code::KIND_OPENCL_SOURCE,
                       .text = text,
                       .gibibytes = gibibytes});
}

using AcceleratorTest = TwiceProcess;

TEST_F(AcceleratorTest, AnAgentThatWasNotToldToLetsNoProgramUseOne) {
  StartAgent();
  ExpectFails(Twice(kTwice), absl::StatusCode::kFailedPrecondition,
              "opencl: programs of this agent are confined to the processor");
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

TEST_F(AcceleratorTest, ProgramsComputeThereAndBadOnesEndAlone) {
  const std::string cache = JoinPath(folder_.path(), "cache");
  StartAgent({"--accelerator", "opencl", "--runner-memory", "16GiB", "--cache-dir", cache});
  const std::optional<v1::AgentState> state =
      server_->WaitFor([](const v1::AgentState& told) { return told.devices_size() == 1; });
  ASSERT_TRUE(state.has_value());
  EXPECT_THAT(state->devices(0).target(), EndsWith(",opencl"));
  ExpectTwice(Twice(kTwice));
  // What the device's compiler has made of the text is kept for the next runner.
  EXPECT_FALSE(std::filesystem::is_empty(JoinPath(cache, "accelerator/opencl")));
  ExpectFails(Twice("kernel void twice(global const float* x, global float* y) {\n"
                    "  y[0] = nobody_knows_me(x);\n"
                    "}\n"),
              absl::StatusCode::kInvalidArgument, "nobody_knows_me");
  ExpectTwice(Twice(kTwice));
  ExpectFails(Twice("kernel void once(global const float* x, global float* y) {}\n"),
              absl::StatusCode::kInvalidArgument, "twice");
  ExpectFails(Twice(kTwice, /*gibibytes=*/60), absl::StatusCode::kResourceExhausted, "opencl 0");
  ExpectTwice(Twice(kTwice));
  // Programs of the processor alone work as ever.
  ExpectSucceeds(Assign(TestKernel::kAdd));
}

// What an agent asks before it starts; a machine without vendors' libraries is one whose loader finds none.
TEST_F(AcceleratorTest, AMachineWithoutSuchADeviceSaysWhatToInstall) {
  SubprocessOptions options;
  options.argv = {"device_agent/slipway-agent", "accelerators", "opencl"};
  options.environment = {{"OCL_ICD_VENDORS", folder_.path()}};
  options.stderr_stream = ChildStream::Tail();
  const std::unique_ptr<Subprocess> asked = *Subprocess::Start(options);
  ASSERT_OK_AND_ASSIGN(const ExitStatus end, asked->Wait(absl::Seconds(30)));
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(asked->OutputTail(),
              AllOf(HasSubstr("no device of 0 platforms"), HasSubstr("install")));
}

TEST_F(AcceleratorTest, KindsThatAreNotKnownAreRefusedByName) {
  for (const auto& [flags, message] :
       {std::pair(std::vector<std::string>{"--accelerator", "metal"},
                  "wanted, each once; there are no drivers for others yet"),
        std::pair(std::vector<std::string>{"--accelerator", "opencl", "--exec-prefix", "ssh b"},
                  "are not used yet")}) {
    const std::unique_ptr<Subprocess> agent = *Subprocess::Start(AgentOptions(flags));
    ASSERT_OK_AND_ASSIGN(const ExitStatus end, agent->Wait(absl::Seconds(30)));
    EXPECT_FALSE(end.ok());
    EXPECT_THAT(agent->OutputTail(), HasSubstr(message));
  }
}

}  // namespace
}  // namespace slipway
