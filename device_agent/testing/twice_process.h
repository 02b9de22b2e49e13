// An agent that is given programs which double eight numbers by way of a device.
#ifndef SLIPWAY_DEVICE_AGENT_TESTING_TWICE_PROCESS_H_
#define SLIPWAY_DEVICE_AGENT_TESTING_TWICE_PROCESS_H_

#include <optional>
#include <string>
#include <utility>

#include "core/artifact/artifact.h"
#include "core/runtime/test_programs/program_builder.h"
#include "core/wire/tensor_proto.h"
#include "device_agent/testing/agent_process.h"
#include "gmock/gmock.h"
#include "tests/common/status_matchers.h"

namespace slipway {

struct TwiceOptions {
  std::string device;  // Its target.
  v1::Code::Kind kind;
  std::string text;
  std::string entry = "twice";
  int gibibytes = 0;  // That are to be there besides.
};

// y = 2 x of eight elements, in two groups of four.
inline Artifact TwiceProgram(const TwiceOptions& options) {
  ProgramBuilder builder;
  const uint32_t device = builder.AddDevice(options.device);
  const uint32_t here = builder.AddSpace(0);
  const uint32_t there = builder.AddSpace(device);
  const uint32_t code = builder.AddEntries(options.kind, device, {options.entry}, options.text);
  const uint32_t x = builder.AddValue(v1::Buffer::CLASS_EXTERNAL, DataType::kFloat32, {8}, here);
  const uint32_t y = builder.AddValue(v1::Buffer::CLASS_EXTERNAL, DataType::kFloat32, {8}, here);
  const uint32_t from = builder.AddValue(v1::Buffer::CLASS_STATIC, DataType::kFloat32, {8}, there);
  const uint32_t to = builder.AddValue(v1::Buffer::CLASS_STATIC, DataType::kFloat32, {8}, there);
  for (int i = 0; i < options.gibibytes; ++i) {
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

class TwiceProcess : public AgentProcess {
 protected:
  std::optional<v1::RunAttemptState> RunTwice(const Artifact& artifact) {
    v1::RunAssignment assignment = Assign(artifact);
    *assignment.mutable_run()->add_inputs() =
        ToInlineProto("x", Tensor::Of<float>({8}, {1, 2, 3, 4, 5, 6, 7, 8}));
    return RunToEnd(assignment);
  }
  void ExpectTwice(const Artifact& artifact) {
    const std::optional<v1::RunAttemptState> end = RunTwice(artifact);
    ASSERT_TRUE(end.has_value());
    ASSERT_EQ(end->state(), v1::RunAttemptState::SUCCEEDED) << end->ShortDebugString();
    ASSERT_OK_AND_ASSIGN(const Tensor y,
                         FromProto(end->run_result().outputs(0), GetTestProgramBlob));
    EXPECT_THAT(y.values<float>(), ::testing::ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
  }
  void ExpectFails(const Artifact& artifact, absl::StatusCode code, const std::string& message) {
    const std::optional<v1::RunAttemptState> end = RunTwice(artifact);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->state(), v1::RunAttemptState::FAILED) << end->ShortDebugString();
    EXPECT_EQ(end->error().code(), static_cast<int>(code)) << end->ShortDebugString();
    EXPECT_THAT(end->error().message(), ::testing::HasSubstr(message));
  }
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_TESTING_TWICE_PROCESS_H_
