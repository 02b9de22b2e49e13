// The driver over a socket to the real bare runner.
#include "core/runtime/drivers/attached/attached_driver.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/artifact/artifact.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/runtime/load_program.h"
#include "core/runtime/program.h"
#include "core/runtime/test_programs/hand_written_programs.h"
#include "core/runtime/test_programs/small_kernels.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/runtime/testing/driver_test_suite.h"
#include "core/tensor/comparison.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

constexpr size_t kGreetingBytes = 35;
constexpr int64_t kMemoryBytes = int64_t{1} << 30;

// A runner, and what its host has of it.
struct Runner {
  std::unique_ptr<Subprocess> process;
  slipway_bare_hello hello = {};
  std::shared_ptr<BareStream> stream;
};

std::string Receive(int stream, size_t bytes) {
  std::string data(bytes, '\0');
  size_t received = 0;
  while (received < bytes) {
    const ssize_t got = read(stream, &data[received], bytes - received);
    if (got <= 0) break;
    received += static_cast<size_t>(got);
  }
  return data;
}

Runner StartRunner(std::function<void(const BareEnd&)> ended = {},
                   int64_t memory_bytes = kMemoryBytes) {
  int sockets[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  UniqueFd ours(sockets[0]);
  const UniqueFd theirs(sockets[1]);
  SubprocessOptions options;
  options.argv = {"core/bare_runner/slipway-bare-runner", "as-can", absl::StrCat(memory_bytes)};
  options.stdin_stream = ChildStream::Fd(theirs.get());
  options.stdout_stream = ChildStream::Fd(theirs.get());
  Runner runner;
  runner.process = *Subprocess::Start(options);
  const size_t bytes = kGreetingBytes + sizeof(slipway_bare_hello);
  const std::string greeting = Receive(ours.get(), bytes);
  runner.hello = *ParseBareHello(absl::string_view(greeting).substr(kGreetingBytes));
  runner.stream = std::make_shared<BareStream>(std::move(ours), std::move(ended));
  return runner;
}

// With its runner, which ends with it.
std::shared_ptr<ComputeDevice> OpenDevice() {
  auto runner = std::make_shared<Runner>(StartRunner());
  std::shared_ptr<ComputeDevice> device =
      *(*MakeAttachedDriver(std::move(runner->stream), runner->hello))->Open(0);
  ComputeDevice* const raw = device.get();
  return {raw, [runner, device](ComputeDevice*) mutable {
            device.reset();
            runner.reset();
          }};
}

DriverUnderTest Attached() {
  DriverUnderTest test;
  test.name = "Attached";
  test.open = OpenDevice;
  test.code = SmallKernelCode();
  test.code_bytes = std::string(SmallKernelBytes());
  test.add = static_cast<uint32_t>(SmallKernel::kAdd);
  test.fail = static_cast<uint32_t>(SmallKernel::kFail);
  test.unknown_kind = v1::Code::KIND_PTX;
  test.has_host_visible_memory = false;
  return test;
}

INSTANTIATE_TEST_SUITE_P(Attached, DriverTest, ::testing::Values(Attached()),
                         [](const auto& info) { return info.param.name; });

class AttachedDriverTest : public ::testing::Test {
 protected:
  AttachedDriverTest() : runner_(StartRunner()) {
    drivers_.push_back(*MakeAttachedDriver(runner_.stream, runner_.hello));
  }

  absl::StatusOr<std::unique_ptr<Program>> Load(const Artifact& artifact) {
    absl::StatusOr<std::vector<std::shared_ptr<ComputeDevice>>> devices =
        OpenDevices(artifact.manifest(), drivers_);
    if (!devices.ok()) return devices.status();
    return Program::Load(artifact, *std::move(devices));
  }
  absl::Status RunOnce(const Artifact& artifact, const ProgramContextOptions& options = {}) {
    const auto program = Load(artifact);
    if (!program.ok()) return program.status();
    const auto context = (*program)->NewContext(options);
    if (!context.ok()) return context.status();
    const Tensor x = Tensor::Zeros(DataType::kFloat32, {2, 8});
    std::vector<Tensor> outputs(1);
    return (*context)->Run({x}, absl::MakeSpan(outputs));
  }

  Runner runner_;
  Drivers drivers_;
};

class AttachedConstantsTest : public ::testing::Test {
 protected:
  AttachedConstantsTest()
      : runner_(StartRunner({}, 64 << 20)),
        driver_(*MakeAttachedDriver(runner_.stream, runner_.hello)),
        device_(*driver_->Open(0)) {}

  absl::StatusOr<DeviceMemory> Take(absl::string_view key, std::string& bytes) {
    return device_->TakeConstant(key, HostBytes(bytes), MemoryKind::kLocal);
  }
  std::string Read(const DeviceMemory& memory) {
    std::string bytes(static_cast<size_t>(memory.bytes), '\0');
    EXPECT_OK(device_->Copy({device_.get(), memory}, {nullptr, HostBytes(bytes)}, memory.bytes));
    return bytes;
  }
  static DeviceMemory HostBytes(std::string& bytes) {
    return {0, reinterpret_cast<uint8_t*>(bytes.data()), static_cast<int64_t>(bytes.size())};
  }

  Runner runner_;
  std::unique_ptr<Driver> driver_;
  std::shared_ptr<ComputeDevice> device_;
};

TEST_F(AttachedConstantsTest, AreSentOnceAndKeptWhenTheirProgramIsGone) {
  std::string bytes(1000, 'a');
  ASSERT_OK_AND_ASSIGN(const DeviceMemory first, Take("key", bytes));
  EXPECT_EQ(Read(first), bytes);
  // Who has the same key has the same bytes: these would be others if they were sent.
  std::string others(1000, 'b');
  ASSERT_OK_AND_ASSIGN(const DeviceMemory second, Take("key", others));
  EXPECT_EQ(second.address, first.address);
  device_->ReturnConstant(first);
  device_->ReturnConstant(second);
  ASSERT_OK_AND_ASSIGN(const DeviceMemory again, Take("key", others));
  EXPECT_EQ(Read(again), bytes);
  ASSERT_OK_AND_ASSIGN(const DeviceMemory other, Take("other", others));
  EXPECT_EQ(Read(other), others);
}

TEST_F(AttachedConstantsTest, MakeRoomForWhatIsNeeded) {
  std::string large(24 << 20, 'a');
  ASSERT_OK_AND_ASSIGN(const DeviceMemory first, Take("first", large));
  device_->ReturnConstant(first);
  ASSERT_OK_AND_ASSIGN(const DeviceMemory held, Take("held", large));
  // There is no room for another one beside both.
  ASSERT_OK_AND_ASSIGN(const DeviceMemory memory, device_->Allocate(24 << 20, MemoryKind::kLocal));
  EXPECT_EQ(Read(held), large);
  EXPECT_THAT(device_->Allocate(24 << 20, MemoryKind::kLocal), StatusIs(Code::kResourceExhausted));
  device_->Free(memory);
  device_->ReturnConstant(held);
}

TEST_F(AttachedDriverTest, DescribesTheMachineAsItDescribesItself) {
  ASSERT_OK_AND_ASSIGN(const Target target, TargetOfBare(runner_.hello));
  EXPECT_EQ(target, HostTarget());
  slipway_bare_hello other = runner_.hello;
  other.machine = 8;
  EXPECT_THAT(TargetOfBare(other), StatusIs(Code::kUnimplemented));
  other.protocol = SLIPWAY_BARE_PROTOCOL + 1;
  EXPECT_THAT(ParseBareHello(BytesOf(other)), StatusIs(Code::kFailedPrecondition));
  EXPECT_THAT(ParseBareHello(BytesOf(runner_.hello).substr(0, 200)),
              StatusIs(Code::kInvalidArgument));
}

// All that a manifest can say of one device.
TEST_F(AttachedDriverTest, RunsWhatProgramsCanSay) {
  int ran = 0;
  for (HandWrittenProgram& written : HandWrittenPrograms()) {
    SCOPED_TRACE(written.name);
    ASSERT_OK_AND_ASSIGN(const Artifact artifact, written.builder.Build());
    const auto program = Load(artifact);
    if (artifact.manifest().target().devices.size() > 1) {
      EXPECT_THAT(program, StatusIs(Code::kUnimplemented));
      continue;
    }
    ASSERT_OK(program.status());
    ++ran;
    for (const bool profile : {false, true}) {
      ASSERT_OK_AND_ASSIGN(const auto context, (*program)->NewContext({}));
      for (int run = 0; run < 2; ++run) {
        std::vector<Tensor> outputs(written.outputs.size());
        ASSERT_OK(
            context->Run(written.inputs, absl::MakeSpan(outputs), CallOptions{.profile = profile}));
        for (size_t i = 0; i < outputs.size(); ++i) {
          EXPECT_OK(CheckClose(outputs[i], written.outputs[i], {})) << i;
        }
      }
      EXPECT_TRUE(context->worked_ns().has_value());
    }
  }
  EXPECT_GE(ran, 5);
}

TEST_F(AttachedDriverTest, TellsOfFailuresAsTheProcessorHereDoes) {
  for (const TestKernel kernel : {TestKernel::kFail, TestKernel::kEatMemory}) {
    const Artifact artifact = TestProgram(kernel);
    ASSERT_OK_AND_ASSIGN(const auto here, LoadProgram(artifact));
    const ProgramContextOptions options = {.scratch_bytes = int64_t{64} << 20};
    ASSERT_OK_AND_ASSIGN(const auto context, here->NewContext(options));
    std::vector<Tensor> outputs(1);
    const absl::Status expected =
        context->Run({Tensor::Zeros(DataType::kFloat32, {2, 8})}, absl::MakeSpan(outputs));
    const absl::Status status = RunOnce(artifact, options);
    EXPECT_EQ(status.code(), expected.code());
    EXPECT_THAT(std::string(status.message()), HasSubstr("step 0 'Kernel'"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("failed with result"));
  }
  EXPECT_OK(RunOnce(TestProgram(TestKernel::kAdd)));
}

TEST_F(AttachedDriverTest, RefusesCodeOfOtherVersionsAndNone) {
  EXPECT_THAT(RunOnce(TestProgram(TestKernel::kAdd, TestAbi::kNoQuery)),
              StatusIs(Code::kInvalidArgument, HasSubstr("slipway_program_query")));
  EXPECT_THAT(RunOnce(TestProgram(TestKernel::kAdd, TestAbi::kOtherAbi)),
              StatusIs(Code::kInvalidArgument, HasSubstr("kernel ABI")));
  EXPECT_OK(RunOnce(TestProgram(TestKernel::kAdd)));
}

TEST_F(AttachedDriverTest, HasAClockOfItsOwn) {
  ASSERT_OK_AND_ASSIGN(const auto program, Load(TestProgram(TestKernel::kSlow)));
  ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
  EXPECT_EQ(context->worked_ns(), 0);
  Tensor x = Tensor::Zeros(DataType::kFloat32, {2, 8});
  x.mutable_values<float>()[0] = 1;
  std::vector<Tensor> outputs(1);
  ASSERT_OK(context->Run({x}, absl::MakeSpan(outputs)));
  // A million turns of a loop that nobody can leave out.
  const int64_t worked = *context->worked_ns();
  EXPECT_GT(worked, 100'000);
  ASSERT_OK(context->Run({x}, absl::MakeSpan(outputs), {.profile = true}));
  EXPECT_LE(context->step_timings()[0].duration_ns, *context->worked_ns() - worked);
  EXPECT_GT(context->step_timings()[0].duration_ns, 100'000);
}

TEST_F(AttachedDriverTest, SaysHowARunnerEnded) {
  EXPECT_THAT(RunOnce(TestProgram(TestKernel::kCrash)),
              StatusIs(Code::kAborted, HasSubstr("killed by signal 11")));
  EXPECT_THAT(RunOnce(TestProgram(TestKernel::kAdd)),
              StatusIs(Code::kAborted, HasSubstr("killed by signal 11")));
}

// Two steps go there as one list.
TEST_F(AttachedDriverTest, TellsInWhichStepARunnerEnded) {
  std::atomic<uint32_t> position = kNoStep;
  uint32_t in_step = kNoStep;
  const Runner runner = StartRunner([&](const BareEnd&) { in_step = position; });
  drivers_.clear();
  drivers_.push_back(*MakeAttachedDriver(runner.stream, runner.hello));
  EXPECT_OK(RunOnce(TestProgram(TestKernel::kAdd), {.position = &position}));
  EXPECT_EQ(position, kNoStep);
  ASSERT_OK_AND_ASSIGN(const auto device, drivers_[0]->Open(0));
  ASSERT_OK_AND_ASSIGN(const MemoryInfo memory, device->memory_info());
  EXPECT_GT(memory.most_used, 16 << 10);
  EXPECT_LT(memory.most_used, 2 << 20);
  EXPECT_THAT(RunOnce(TestProgram(TestKernel::kCrash), {.position = &position}),
              StatusIs(Code::kAborted));
  EXPECT_EQ(in_step, 0u);
}

TEST_F(AttachedDriverTest, SaysThatADeviceIsLost) {
  ASSERT_OK_AND_ASSIGN(const auto program, Load(TestProgram(TestKernel::kAdd)));
  runner_.process->Kill();
  EXPECT_THAT(RunOnce(TestProgram(TestKernel::kAdd)), StatusIs(Code::kUnavailable));
}

// Of a device that says what it likes.
TEST(BareStreamTest, TakesNothingThatWasNotAsked) {
  const auto answer = [](const std::string& bytes) {
    int sockets[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    UniqueFd theirs(sockets[1]);
    EXPECT_EQ(write(theirs.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    shutdown(theirs.get(), SHUT_WR);
    int ends = 0;
    BareStream stream{UniqueFd(sockets[0]), [&](const BareEnd&) { ++ends; }};
    const absl::Status status = stream.Ask(SLIPWAY_BARE_FACTS, {}).status();
    EXPECT_EQ(stream.Tell(SLIPWAY_BARE_FACTS, {}), status);
    EXPECT_EQ(ends, 1);
    return status;
  };
  const auto message = [](uint32_t kind, uint32_t bytes, const slipway_bare_reply& reply) {
    return absl::StrCat(BytesOf(slipway_bare_header{kind, bytes}), BytesOf(reply));
  };
  EXPECT_THAT(answer(""), StatusIs(Code::kUnavailable));
  EXPECT_THAT(answer(message(SLIPWAY_BARE_READ, 24, {})),
              StatusIs(Code::kUnavailable, HasSubstr("what was not asked")));
  EXPECT_THAT(answer(message(SLIPWAY_BARE_FACTS, 23, {})), StatusIs(Code::kUnavailable));
  EXPECT_THAT(answer(message(SLIPWAY_BARE_FACTS, UINT32_MAX, {})), StatusIs(Code::kUnavailable));
  EXPECT_THAT(answer(message(SLIPWAY_BARE_FACTS, 100, {})), StatusIs(Code::kUnavailable));
  EXPECT_THAT(answer(message(SLIPWAY_BARE_END, 24, {.flags = 9})),
              StatusIs(Code::kAborted, HasSubstr("signal 9")));
}

}  // namespace
}  // namespace slipway
