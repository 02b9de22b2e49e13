// Programs for a CPU with a GPU, through real processes: compiled by a worker, run by an agent over a libcuda without a GPU.
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/fake_gpu.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"
#include "tests/local_mode/local_command.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;

class CudaTest : public LocalCommandTest {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(const std::string libraries,
                         PutFakeGpu(tree_.Path("cache/slipway/agent")));
    libraries_ = libraries;
    setenv("LD_LIBRARY_PATH", libraries.c_str(), 1);
    config_ = tree_.Write("agent", "accelerator: cuda\n");
  }

  std::string libraries_;
  std::string config_;
};

TEST_F(CudaTest, ATrainedModelAgreesWithTheReferenceInEveryPrecision) {
  for (const std::string precision : {"f32", "tf32", "f16", "bf16"}) {
    SCOPED_TRACE(precision);
    const CommandResult run =
        Slipway({"run", Digits("digits.onnx"), "--target=x86-64-linux,cuda-sm80",
                 absl::StrCat("--precision=", precision), "--check", "--json",
                 absl::StrCat("--agent-config=", config_),
                 absl::StrCat("--input=image=", Digits("images/7.npy"))});
    ASSERT_TRUE(run.status.ok()) << run.ToString();
    ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(run.out));
    EXPECT_TRUE(json["check"]["passed"]) << run.ToString();
    if (precision != "f32") {
      EXPECT_THAT(run.err, HasSubstr(absl::StrCat("precision: ", precision, "\n")));
    }
  }
}

// Confined programs load the libraries, and keep what they measured for the next one.
TEST_F(CudaTest, AProfileTellsOfStepsThatLibrariesMade) {
  for (const char* name : {"libcublasLt.so.12", "libcudnn.so.9"}) {
    std::filesystem::copy_file(
        RunfilePath(absl::StrCat("core/runtime/drivers/cuda/testing/", name)),
        JoinPath(libraries_, name));
  }
  const std::string times = tree_.Path("cache/slipway/agent/accelerator/library_times");
  for (const auto& [when, wanted] : {std::pair("never", 0), {"always", 1}, {"always", 1}}) {
    SCOPED_TRACE(when);
    const std::string config =
        tree_.Write("agent", absl::StrCat("accelerator: cuda\nvendor-libraries: ", when, "\n"));
    const CommandResult bench =
        Slipway({"bench", Digits("digits.onnx"), "--target=x86-64-linux,cuda-sm80",
                 "--precision=f16", "--profile", "--json", "--samples=2", "--warmup=0",
                 absl::StrCat("--agent-config=", config)});
    ASSERT_TRUE(bench.status.ok()) << bench.ToString();
    ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(bench.out));
    std::map<std::string, int> made;
    for (const Json& step : json["steps"]) {
      if (step.contains("library")) ++made[step["library"]];
    }
    EXPECT_EQ(made["cublasLt 12.4.5"], wanted) << bench.out;
    EXPECT_EQ(made["cudnn 9.8.0"], wanted) << bench.out;
    EXPECT_EQ(std::filesystem::exists(times), wanted > 0);
  }
}

TEST_F(CudaTest, WithoutTensorCoresItIsF32) {
  const CommandResult compile =
      Slipway({"compile", Digits("digits.onnx"), "--target=x86-64-linux,cuda-sm75",
               "--precision=f16", "-o", tree_.Path("digits.slip")});
  ASSERT_TRUE(compile.status.ok()) << compile.ToString();
  EXPECT_THAT(compile.err, HasSubstr("precision: f32"));
  EXPECT_THAT(compile.out, HasSubstr("cuda-sm75 has no tensor cores for f16"));
}

}  // namespace
}  // namespace slipway::testing
