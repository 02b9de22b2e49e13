// What is done for a machine with a GPU, from packing to the table, where a libcuda without a GPU stands for its driver: there only the hardware
// is new.
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/fake_gpu.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t kMaxBytes = int64_t{1} << 30;
constexpr char kCases[] = "/usr/share/libonnx-testdata/data/node";

class SuiteTest : public ::testing::Test {
 protected:
  // One archive for all tests.
  static void SetUpTestSuite() {
    ASSERT_OK_AND_ASSIGN(TemporaryFolder folder, TemporaryFolder::Create("gpu-suite"));
    folder_ = new TemporaryFolder(std::move(folder));
    std::vector<std::string> flags = {"--target=x86-64-linux,cuda-sm80", "--models=tiny_2"};
    if (std::filesystem::exists(kCases)) {
      flags.insert(flags.end(), {absl::StrCat("--onnx=", kCases),
                                 "--filter=^test_(add|gather_2d_indices|nonzero_example)$"});
    }
    const CommandResult packed = Pack("suite.tar.gz", std::move(flags));
    ASSERT_TRUE(packed.status.ok()) << packed.ToString();
    if (std::filesystem::exists(kCases)) {
      EXPECT_THAT(packed.out, HasSubstr("left out: test_nonzero_example: "));
    }
    const CommandResult unpacked = Run({"/bin/tar", "-xf", Path("suite.tar.gz"), "-C", Path("")});
    ASSERT_TRUE(unpacked.status.ok()) << unpacked.ToString();
    ASSERT_OK_AND_ASSIGN(libraries_, PutFakeGpu(Path("cache/slipway/agent")));
  }
  static void TearDownTestSuite() { delete folder_; }

  static CommandResult Pack(const std::string& archive, std::vector<std::string> flags) {
    std::vector<std::string> argv = {"/usr/bin/python3", RunfilePath("tests/gpu/suite/pack.py"),
                                     Path(archive),      "--commit=a-test",
                                     "--make-suite",     RunfilePath("tests/gpu/suite/make_suite"),
                                     "--scripts",        Scripts()};
    for (const char* binary : {"tests/gpu/suite/run_case", "tests/gpu/suite/driver_tests",
                               "client/slipway", "server/slipwayd", "device_agent/slipway-agent"}) {
      argv.insert(argv.end(), {"--binary", RunfilePath(binary)});
    }
    argv.emplace_back("--");
    argv.insert(argv.end(), flags.begin(), flags.end());
    return Run(std::move(argv));
  }

  static std::string Path(const std::string& name) { return JoinPath(folder_->path(), name); }
  static std::string Scripts() {
    return std::filesystem::path(RunfilePath("tests/gpu/run")).parent_path().string();
  }
  static CommandResult Run(std::vector<std::string> argv, const std::string& fake = "",
                           const std::string& more_libraries = "") {
    std::vector<std::pair<std::string, std::string>> environment = {
        {"LD_LIBRARY_PATH", libraries_ + more_libraries},
        {"TMPDIR", "/tmp"},
        {"HOME", folder_->path()},
        {"PATH", "/usr/bin:/bin"}};
    if (!fake.empty()) environment.emplace_back("SLIPWAY_FAKE_CUDA", fake);
    return RunCommand({.argv = std::move(argv),
                       .environment = std::move(environment),
                       .timeout = absl::Minutes(5)});
  }

  // Runs the script on the unpacked suite, and reads what it leaves.
  static CommandResult RunSuite(std::vector<std::string> flags, Json& report,
                                const std::string& fake = "",
                                const std::string& more_libraries = "",
                                const std::string& folder = Path("")) {
    std::vector<std::string> argv = {"/usr/bin/python3",
                                     JoinPath(folder, "slipway-gpu/run"),
                                     "--out",
                                     Path("result.json"),
                                     "--cache",
                                     JoinPath(folder, "cache"),
                                     "--seconds=0.05",
                                     "--jobs=2"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    CommandResult run = Run(std::move(argv), fake, more_libraries);
    const absl::StatusOr<std::string> text = ReadFile(Path("result.json"), kMaxBytes);
    EXPECT_OK(text.status()) << run.ToString();
    if (text.ok()) report = *ParseJson(*text);
    return run;
  }

  // How often each verdict came in a part.
  static std::map<std::string, int> Verdicts(const Json& report, const std::string& part) {
    std::map<std::string, int> verdicts;
    for (const Json& one : report["cases"]) {
      if (one["part"] == part) ++verdicts[one["verdict"]];
    }
    return verdicts;
  }

  static TemporaryFolder* folder_;
  static std::string libraries_;
};
TemporaryFolder* SuiteTest::folder_ = nullptr;
std::string SuiteTest::libraries_;

using Counts = std::map<std::string, int>;

TEST_F(SuiteTest, EachPartRunsAndIsTold) {
  Json report;
  const CommandResult run = RunSuite({}, report);
  EXPECT_TRUE(run.status.ok()) << run.ToString();
  EXPECT_EQ(report["suite"]["target"], "x86-64-linux,cuda-sm80");
  EXPECT_EQ(report["suite"]["commit"], "a-test");
  EXPECT_EQ(report["machine"]["devices"][0], "sm80 CUDA 12.4 Fake GPU");
  EXPECT_THAT(std::string(report["machine"]["gpus"][0]), StartsWith("Fake H100"));
  EXPECT_EQ(report["machine"]["states"].size(), 2u);  // Before and after.
  EXPECT_EQ(report["peaks"]["arithmetic"].size(), 4u);
  EXPECT_GT(report["peaks"]["arithmetic"]["bf16"], 0);
  EXPECT_GT(report["peaks"]["reading"]["memory"], 0);
  EXPECT_GT(report["peaks"]["copying"]["to_host"], 0);
  const Counts driver = Verdicts(report, "driver");
  EXPECT_EQ(driver.size(), 1u);
  EXPECT_GE(driver.at("passed"), 15);
  EXPECT_GE(Verdicts(report, "graphs").at("passed"), 23 + 3 * 20);
  EXPECT_EQ(Verdicts(report, "agent"), (Counts{{"passed", 4}}));
  if (std::filesystem::exists(kCases)) {
    EXPECT_EQ(Verdicts(report, "onnx"), (Counts{{"passed", 2}}));
    EXPECT_TRUE(report["left_out"].contains("test_nonzero_example"));
  }
  EXPECT_EQ(Verdicts(report, "models"), (Counts{{"passed", 3}}));
  for (const Json& one : report["cases"]) {
    if (one["part"] != "models") continue;
    EXPECT_EQ(one["like"], "tiny_2");
    const std::string precision = one["precision"];
    EXPECT_EQ(one["name"], precision == "f32" ? "tiny_2" : "tiny_2_" + precision);
    EXPECT_LT(one["share"], precision == "f32" ? 1e-4 : 1e-2);
    // Three kernels, each of a microsecond of the fake's clock, between two copies.
    EXPECT_EQ(one["kernels_ns"], 3000);
    EXPECT_GE(one["device_ns"], 3000);
    EXPECT_GT(one["host_ns"], 0);
    EXPECT_GT(one["flops"], 0);
  }
  EXPECT_THAT(run.out, HasSubstr("tiny_2"));
}

// A device of 9.0, which programs in an agent's confinement see, too: they inherit no variable that says so.
TEST_F(SuiteTest, WarpGroupsMultiplyForAnAgent) {
  const CommandResult packed =
      Pack("hopper.tar.gz", {"--target=x86-64-linux,cuda-sm90a", "--models=none"});
  ASSERT_TRUE(packed.status.ok()) << packed.ToString();
  ASSERT_OK(MakeFolders(Path("hopper")));
  const CommandResult unpacked =
      Run({"/bin/tar", "-xf", Path("hopper.tar.gz"), "-C", Path("hopper")});
  ASSERT_TRUE(unpacked.status.ok()) << unpacked.ToString();
  ASSERT_OK_AND_ASSIGN(const std::string libraries,
                       PutFakeGpu(Path("hopper/cache/slipway/agent"), "capability=90"));
  const std::string usual = std::exchange(libraries_, libraries);
  Json report;
  const CommandResult run = RunSuite({"--parts=graphs,agent", "--only=elementwise|batch_f16"},
                                     report, "", "", Path("hopper"));
  libraries_ = usual;
  EXPECT_TRUE(run.status.ok()) << run.ToString();
  EXPECT_EQ(report["machine"]["devices"][0], "sm90 CUDA 12.4 Fake GPU");
  EXPECT_EQ(Verdicts(report, "graphs").size(), 1u);
  EXPECT_EQ(Verdicts(report, "agent"), (Counts{{"passed", 2}}));
}

TEST_F(SuiteTest, StepsByLibrariesAreCheckedAndTimed) {
  Json report;
  const std::string libraries =
      ":" +
      std::filesystem::path(RunfilePath("core/runtime/drivers/cuda/testing/libcublasLt.so.12"))
          .parent_path()
          .string();
  const CommandResult run = RunSuite({"--parts=models", "--only=tiny_2_f16$", "--libraries=always"},
                                     report, "", libraries);
  ASSERT_TRUE(run.status.ok()) << run.ToString();
  ASSERT_EQ(report["cases"].size(), 1u);
  const Json& one = report["cases"][0];
  EXPECT_EQ(one["library_steps"], 2);
  ASSERT_EQ(one["libraries"].size(), 2u);
  // A launch of the program's own. With the library's there are some that round: planes, weights and the result are turned besides.
  const struct {
    const char* library;
    int library_ns;
  } wanted[] = {{"cudnn 9.8.0", 4000}, {"cublasLt 12.4.5", 2000}};
  for (size_t i = 0; i < 2; ++i) {
    const Json& step = one["libraries"][i];
    EXPECT_EQ(step["used"], true);
    EXPECT_EQ(step["library"], wanted[i].library);
    EXPECT_EQ(step["own_ns"], 1000);
    EXPECT_EQ(step["library_ns"], wanted[i].library_ns);
    EXPECT_GT(step["flops"], 0);
  }
  EXPECT_THAT(run.out, HasSubstr("300 % (2 of 2 by it)"));
}

TEST_F(SuiteTest, WeightsAreMadeOnTheMachine) {
  for (const auto& [name, key] : {std::pair{"tiny_2", "constant "}, {"tiny_2_tf32", "laid_out "}}) {
    ASSERT_OK_AND_ASSIGN(
        const std::string text,
        ReadFile(Path(std::string("slipway-gpu/cases/") + name + "/case"), kMaxBytes));
    const size_t at = text.find(key);
    ASSERT_NE(at, std::string::npos) << text;
    const std::string hex = text.substr(at + 9, 64);
    EXPECT_FALSE(std::filesystem::exists(Path("slipway-gpu/blobs/" + hex)));
  }
}

TEST_F(SuiteTest, WhatGoesWrongIsALineAndTheOthersGoOn) {
  Json report;
  const CommandResult run =
      RunSuite({"--parts=graphs,models,peaks", "--only=elementwise|product|tiny_2$"}, report,
               "cuLaunchKernel=719");
  EXPECT_EQ(run.status.exit_code, 1) << run.ToString();
  EXPECT_EQ(Verdicts(report, "graphs"), (Counts{{"failed", 3}}));
  EXPECT_EQ(Verdicts(report, "models"), (Counts{{"failed", 1}}));
  EXPECT_EQ(Verdicts(report, "peaks"), (Counts{{"failed", 1}}));
  EXPECT_FALSE(report.contains("peaks"));
  EXPECT_THAT(std::string(report["cases"][0]["reason"]), HasSubstr("CUDA_ERROR_LAUNCH_FAILED"));
  EXPECT_THAT(run.out, HasSubstr("CUDA_ERROR_LAUNCH_FAILED"));
}

TEST_F(SuiteTest, WhatHangsOrIsWrongIsToldApart) {
  ASSERT_OK_AND_ASSIGN(const std::string output,
                       ReadFile(Path("slipway-gpu/cases/elementwise/output_0.npy"), kMaxBytes));
  // A case whose expected numbers are others.
  std::string wrong = output;
  wrong[wrong.size() - 1] ^= 1;
  const std::string file = Path("slipway-gpu/cases/elementwise/output_0.npy");
  ASSERT_OK(WriteFileAtomically(file, wrong, /*durable=*/false));
  Json report;
  RunSuite({"--parts=graphs", "--only=elementwise"}, report);
  EXPECT_EQ(Verdicts(report, "graphs"), (Counts{{"failed", 1}}));
  EXPECT_THAT(std::string(report["cases"][0]["reason"]), HasSubstr("output 0"));
  ASSERT_OK(WriteFileAtomically(file, output, /*durable=*/false));
  RunSuite({"--parts=graphs", "--only=elementwise", "--deadline=0.001"}, report);
  EXPECT_EQ(Verdicts(report, "graphs"), (Counts{{"hung", 1}}));
  RunSuite({"--parts=graphs", "--only=elementwise", "--minutes=0"}, report);
  EXPECT_EQ(Verdicts(report, "graphs"), (Counts{{"skipped", 1}}));
}

TEST_F(SuiteTest, AMachineWithoutADriverIsTold) {
  std::filesystem::rename(libraries_, libraries_ + "-away");
  Json report;
  const CommandResult run = RunSuite({"--parts=graphs", "--only=elementwise"}, report);
  std::filesystem::rename(libraries_ + "-away", libraries_);
  EXPECT_EQ(run.status.exit_code, 1);
  EXPECT_EQ(Verdicts(report, "machine"), (Counts{{"failed", 1}}));
  EXPECT_THAT(run.out, HasSubstr("install NVIDIA's driver"));
}

}  // namespace
}  // namespace slipway::testing
