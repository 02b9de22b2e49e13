// Programs for a CPU with an OpenCL device, through real processes: compiled by a worker, run by an agent that uses the device.
// PoCL computes, on this CPU; its LLVM and Halide's are in different processes, as always.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"
#include "tests/local_mode/local_command.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kTarget[] = "--target=x86-64-linux,opencl";

class OpenClTest : public LocalCommandTest {
 protected:
  void ExpectAgrees(const std::string& model, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run", model, kTarget, "--check", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult run = Slipway(arguments);
    ASSERT_TRUE(run.status.ok()) << run.ToString();
    ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(run.out));
    EXPECT_TRUE(json["check"]["passed"]) << run.ToString();
  }
};

TEST_F(OpenClTest, ATrainedModelAgreesWithTheReference) {
  ExpectAgrees(Digits("digits.onnx"), {absl::StrCat("--input=image=", Digits("images/7.npy"))});
}

// Each kind of loops, what the device does not have, and what only says where things lie.
TEST_F(OpenClTest, EachKindOfLoopsAgreesWithTheReference) {
  const std::string model = tree_.Write(
      "kinds.graph",
      R"(graph "kinds" opset 28 (%x: f32[2, 6, 9, 7], %w: f32[4, 6, 3, 3], %m: f32[5, 14]) -> (%sum, %soft, %joined, %sorted, %whole, %half, %flat) {
  %conv = Conv(%x, %w) {pads = [1, 1, 1, 1]}
  %relu = Relu(%conv)
  %pool = MaxPool(%relu) {kernel_shape = [2, 2], strides = [2, 2]}
  %sum = GlobalAveragePool(%pool)
  %t = Transpose(%m) {perm = [1, 0]}
  %product = MatMul(%m, %t)
  %soft = Softmax(%product)
  %joined = Concat(%soft, %product) {axis = 1}
  const %k: i64[1] = {2}
  %sorted, %places = TopK(%product, %k)
  %whole = ReduceMean(%joined)
  %cast = Cast(%product) {to = 11}
  %half = Mul(%cast, %cast)
  %scaled = Sigmoid(%sorted)
  %flat = Flatten(%scaled)
}
)");
  ExpectAgrees(model);
  const CommandResult compile =
      Slipway({"compile", model, kTarget, "-o", tree_.Path("kinds.slip")});
  ASSERT_TRUE(compile.status.ok()) << compile.ToString();
  EXPECT_THAT(compile.out, AllOf(HasSubstr("kernels are the device's"),
                                 HasSubstr("stays with the host: not every device has f64"),
                                 HasSubstr("stays with the host: its kernel is the host's alone")));
}

}  // namespace
}  // namespace slipway::testing
