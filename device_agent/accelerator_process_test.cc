// Programs with a device beside the processor: PoCL's, and one that the agent was not told to let them use.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/runtime/test_programs/program_builder.h"
#include "core/wire/tensor_proto.h"
#include "device_agent/testing/agent_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using State = v1::RunAttemptState;

constexpr char kTwice[] =
    "kernel void twice(global const float* x, global float* y) {\n"
    "  size_t i = get_global_id(0);\n"
    "  y[i] = x[i] + x[i];\n"
    "}\n";

// y = 2 x of eight elements, by way of the device; so many GiB more are to be there.
Artifact Twice(const std::string& text, int gibibytes = 0) {
  ProgramBuilder builder;
  const uint32_t device = builder.AddDevice("opencl");
  const uint32_t here = builder.AddSpace(0);
  const uint32_t there = builder.AddSpace(device);
  const uint32_t code = builder.AddEntries(v1::Code::KIND_OPENCL_SOURCE, device, {"twice"}, text);
  const uint32_t x = builder.AddValue(v1::Buffer::CLASS_EXTERNAL, DataType::kFloat32, {8}, here);
  const uint32_t y = builder.AddValue(v1::Buffer::CLASS_EXTERNAL, DataType::kFloat32, {8}, here);
  const uint32_t from = builder.AddValue(v1::Buffer::CLASS_STATIC, DataType::kFloat32, {8}, there);
  const uint32_t to = builder.AddValue(v1::Buffer::CLASS_STATIC, DataType::kFloat32, {8}, there);
  for (int i = 0; i < gibibytes; ++i) {
    builder.AddValue(v1::Buffer::CLASS_STATIC, DataType::kUint8, {1 << 30}, there);
  }
  v1::Function& main = builder.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "y", y);
  ProgramBuilder::AddCopy(main, device, x, from);
  builder.AddLaunch(main, code, 0, {from}, {to}, {2}, 4);
  ProgramBuilder::AddCopy(main, device, to, y);
  absl::StatusOr<Artifact> artifact = builder.Build();
  EXPECT_OK(artifact.status());
  return *std::move(artifact);
}

class AcceleratorTest : public AgentProcess {
 protected:
  void ExpectTwice() {
    v1::RunAssignment assignment = Assign(Twice(kTwice));
    const Tensor x = Tensor::Of<float>({8}, {1, 2, 3, 4, 5, 6, 7, 8});
    *assignment.mutable_run()->add_inputs() = ToInlineProto("x", x);
    const std::optional<State> end = RunToEnd(assignment);
    ASSERT_TRUE(end.has_value());
    ASSERT_EQ(end->state(), State::SUCCEEDED) << end->ShortDebugString();
    ASSERT_OK_AND_ASSIGN(const Tensor y,
                         FromProto(end->run_result().outputs(0), GetTestProgramBlob));
    EXPECT_THAT(y.values<float>(), ::testing::ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
  }
  void ExpectFails(const v1::RunAssignment& assignment, absl::StatusCode code,
                   const std::string& message) {
    const std::optional<State> end = RunToEnd(assignment);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->state(), State::FAILED) << end->ShortDebugString();
    EXPECT_EQ(end->error().code(), static_cast<int>(code)) << end->ShortDebugString();
    EXPECT_THAT(end->error().message(), HasSubstr(message));
  }
};

TEST_F(AcceleratorTest, AnAgentThatWasNotToldToLetsNoProgramUseOne) {
  StartAgent();
  ExpectFails(Assign(Twice(kTwice)), absl::StatusCode::kFailedPrecondition,
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
  ExpectTwice();
  // What the device's compiler has made of the text is kept for the next runner.
  EXPECT_FALSE(std::filesystem::is_empty(JoinPath(cache, "accelerator/opencl")));
  ExpectFails(Assign(Twice("kernel void twice(global const float* x, global float* y) {\n"
                           "  y[0] = nobody_knows_me(x);\n"
                           "}\n")),
              absl::StatusCode::kInvalidArgument, "nobody_knows_me");
  ExpectTwice();
  ExpectFails(Assign(Twice("kernel void once(global const float* x, global float* y) {}\n")),
              absl::StatusCode::kInvalidArgument, "twice");
  ExpectFails(Assign(Twice(kTwice, /*gibibytes=*/60)), absl::StatusCode::kResourceExhausted,
              "opencl 0");
  ExpectTwice();
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
