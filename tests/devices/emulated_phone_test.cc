// Phones and boards on which nothing is installed: an agent of this machine brings a bare runner there, which an emulator runs.
#include "tests/devices/emulated_phone.h"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
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
using Code = absl::StatusCode;

constexpr char kDigits[] = "client/examples/digits/digits.onnx";

struct Phone {
  const char* name;
  const char* architecture;
  const char* processor;  // Qemu's.
  const char* target;
  const char* newer_target;
  const char* lacks;  // What that has besides.
};

constexpr Phone kPhones[] = {
    {"Arm64", "arm-64", "cortex-a57", "arm-64-linux", "arm-64-linux-dotprod", "dotprod"},
    {"Arm32", "arm-32", "cortex-a9", "arm-32-linux-neon", "arm-32-linux-fma-neon", "fma"},
    {"Riscv64", "riscv-64", "", "riscv-64-linux", "riscv-64-linux-v", "'v'"},
};

class EmulatedPhoneTest : public ::testing::TestWithParam<Phone> {
 protected:
  void SetUp() override { Attach({}); }
  void Attach(std::vector<std::string> flags) {
    ASSERT_OK_AND_ASSIGN(
        const std::string prefix,
        WriteEmulatedPhone(GetParam().architecture, tree_.path(), GetParam().processor));
    flags.insert(flags.end(), {"--exec-prefix", prefix});
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start({.agent_flags = flags, .tcp = true}));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }
  absl::StatusOr<Compilation> Compile(const std::string& target = GetParam().target) {
    return client_->Compile(RunfilePath(kDigits), {.target = target});
  }
  static absl::StatusOr<Tensor> Image(int digit) {
    SLIPWAY_ASSIGN_OR_RETURN(
        const std::string npy,
        ReadFile(RunfilePath(absl::StrCat("client/examples/digits/images/", digit, ".npy")),
                 1 << 20));
    return ParseNpy(npy);
  }
  static int64_t Largest(const Tensor& scores) {
    const auto values = scores.values<float>();
    return std::max_element(values.begin(), values.end()) - values.begin();
  }
  // Processes of bare runners there.
  std::vector<RunningProcess> Runners() const {
    std::vector<RunningProcess> runners = ListProcesses(absl::StrCat("HOME=", Home()));
    const auto is_other = [](const RunningProcess& process) {
      return !std::any_of(process.arguments.begin(), process.arguments.end(),
                          [](const std::string& argument) {
                            return absl::StrContains(argument, "/slipway-bare-runner-");
                          });
    };
    runners.erase(std::remove_if(runners.begin(), runners.end(), is_other), runners.end());
    return runners;
  }
  std::string Home() const { return JoinPath(tree_.path(), "home"); }

  TempTree tree_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Phones, EmulatedPhoneTest, ::testing::ValuesIn(kPhones),
                         [](const auto& info) { return info.param.name; });

TEST_P(EmulatedPhoneTest, ReadsDigitsWithOneSmallFile) {
  ASSERT_OK_AND_ASSIGN(const Compilation compilation, Compile());
  for (int digit = 0; digit < 10; ++digit) {
    ASSERT_OK_AND_ASSIGN(const Tensor image, Image(digit));
    ASSERT_OK_AND_ASSIGN(const auto outputs, client_->Run(compilation.artifact, {{"image", image}},
                                                          {.threads = 1 + digit % 2}));
    EXPECT_EQ(Largest(outputs[0].tensor), digit);
  }
  uint64_t bytes = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(Home())) {
    if (file.is_regular_file()) bytes += file.file_size();
  }
  EXPECT_GT(bytes, 0u);
  EXPECT_LE(bytes, 300u << 10);
}

TEST_P(EmulatedPhoneTest, IsMeasuredByItsOwnClock) {
  ASSERT_OK_AND_ASSIGN(const Compilation compilation, Compile());
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult result,
                       client_->Benchmark(compilation.artifact, {}, {.samples = 5}));
  EXPECT_EQ(result.samples_ns.size(), 5u);
  EXPECT_EQ(result.iterations_per_sample, 1);
  EXPECT_EQ(result.device_target, GetParam().target);
  EXPECT_TRUE(result.stamps.empty());
}

// By a program that it is sent; how much an emulator does says nothing.
TEST_P(EmulatedPhoneTest, TellsWhatItDoesAtMost) {
  cluster_.reset();
  Attach({"--measure"});
  Device phone;
  for (int i = 0; phone.peaks.empty() && i < 600; ++i) {
    absl::SleepFor(absl::Milliseconds(100));
    ASSERT_OK_AND_ASSIGN(const std::vector<Device> devices, client_->ListDevices());
    if (!devices.empty()) phone = devices[0];
  }
  ASSERT_FALSE(phone.peaks.empty());
  for (const MachinePeaks& peaks : phone.peaks) {
    ASSERT_EQ(peaks.arithmetic.size(), 1u);
    EXPECT_EQ(peaks.arithmetic[0].type, "f32");
    EXPECT_GT(peaks.arithmetic[0].operations_per_second, 0);
    EXPECT_EQ(peaks.reading.back().level, "memory");
    for (const ReadingPeak& level : peaks.reading) EXPECT_GT(level.bytes_per_second, 0);
  }
  ASSERT_TRUE(phone.inventory.has_value());
  EXPECT_FALSE(phone.inventory->kernel.empty());
}

TEST_P(EmulatedPhoneTest, RefusesByNameWhatItCannotRun) {
  const Artifact other = TestProgram(TestKernel::kAdd);
  ASSERT_OK(client_->PutArtifact(other));
  EXPECT_THAT(client_->Run(other.digest(), {}, {.device = "agent0"}),
              StatusIs(Code::kFailedPrecondition, HasSubstr("x86-64")));
  ASSERT_OK_AND_ASSIGN(const Compilation newer, Compile(GetParam().newer_target));
  EXPECT_THAT(client_->Run(newer.artifact, {}, {.device = "agent0"}),
              StatusIs(Code::kFailedPrecondition, HasSubstr(GetParam().lacks)));
  ASSERT_OK_AND_ASSIGN(const Compilation fits, Compile());
  EXPECT_OK(client_->Run(fits.artifact, {}, {.device = "agent0"}).status());
}

TEST_P(EmulatedPhoneTest, ASessionOutlivesARunnerThatIsKilled) {
  ASSERT_OK_AND_ASSIGN(const Compilation compilation, Compile());
  ASSERT_OK_AND_ASSIGN(const Tensor image, Image(7));
  ASSERT_OK_AND_ASSIGN(Session session,
                       Session::Open({.address = cluster_->address(), .device = "agent0"}));
  const auto read = [&]() -> absl::StatusOr<int64_t> {
    SLIPWAY_ASSIGN_OR_RETURN(const RemoteProgram program, session.Load(compilation.artifact));
    SLIPWAY_ASSIGN_OR_RETURN(const RemoteTensor input, session.Put(image));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<RemoteTensor> outputs, program.Call({&input}));
    SLIPWAY_ASSIGN_OR_RETURN(const Tensor scores, outputs[0].Get());
    return Largest(scores);
  };
  ASSERT_OK_AND_ASSIGN(const int64_t before, read());
  EXPECT_EQ(before, 7);
  ASSERT_OK_AND_ASSIGN(const RemoteProgram program, session.Load(compilation.artifact));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor input, session.Put(image));
  int killed = 0;
  for (const RunningProcess& process : Runners()) killed += kill(process.pid, SIGKILL) == 0;
  ASSERT_GE(killed, 1);
  EXPECT_THAT(program.Call({&input}).status(),
              AnyOf(StatusIs(Code::kAborted), StatusIs(Code::kUnavailable),
                    StatusIs(Code::kFailedPrecondition)));
  absl::StatusOr<int64_t> after = read();
  // The runner that was there ahead was killed, too, which may show when it is taken.
  if (absl::IsUnavailable(after.status()) || absl::IsAborted(after.status())) after = read();
  ASSERT_OK(after.status());
  EXPECT_EQ(*after, 7);
  EXPECT_OK(session.Close());
}

}  // namespace
}  // namespace slipway::testing
