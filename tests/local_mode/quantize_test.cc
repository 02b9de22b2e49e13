// slipway quantize and --precision: a model that was trained stays right in 8 bits, and examples that are none are refused.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/tensor/npy.h"
#include "core/tensor/tensor.h"
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

class QuantizeTest : public LocalCommandTest {
 protected:
  std::string WriteExample(const std::string& name, const Tensor& tensor) {
    return tree_.Write(name + ".npy", *FormatNpy(tensor));
  }
};

TEST_F(QuantizeTest, ATrainedModelStaysRight) {
  const std::string slip = tree_.Path("digits8.slip");
  const CommandResult quantized = Slipway({"quantize", Digits("digits.onnx"), "--examples",
                                           Digits("images"), "--output", slip, "--json"});
  ASSERT_TRUE(quantized.status.ok()) << quantized.ToString();
  ASSERT_OK_AND_ASSIGN(const Json report, ParseJson(quantized.out));
  EXPECT_EQ(report["examples"], 10);
  EXPECT_EQ(report["integer_products"], 3);
  EXPECT_TRUE(report["float_products"].empty());
  const Json& scores = report["outputs"][0];
  EXPECT_EQ(scores["agreement"], 1.0);
  EXPECT_GT(scores["signal_to_noise_db"], 30);
  // In f32 it would be equal.
  EXPECT_GT(scores["largest_absolute"], 0);
  EXPECT_LT(scores["largest_relative"], 0.03);

  const CommandResult run =
      Slipway({"run", slip, absl::StrCat("--input=image=", Digits("images/7.npy"))});
  EXPECT_TRUE(run.status.ok()) << run.ToString();
  EXPECT_THAT(run.out, HasSubstr("largest at 7"));
}

TEST_F(QuantizeTest, EveryVerbTakesThePrecision) {
  const CommandResult compiled =
      Slipway({"compile", Digits("digits.onnx"), "--precision=int8", "--examples",
               Digits("images/3.npy"), "--print-after=FoldQuantization"});
  ASSERT_TRUE(compiled.status.ok()) << compiled.ToString();
  EXPECT_THAT(compiled.out,
              AllOf(HasSubstr("slipway.IntegerConv"), HasSubstr("3 in 8 bits, 0 in f32")));
  const CommandResult run =
      Slipway({"run", Digits("digits.onnx"), "--precision=int8", "--examples",
               Digits("images/3.npy"), absl::StrCat("--input=image=", Digits("images/3.npy"))});
  EXPECT_TRUE(run.status.ok()) << run.ToString();
  EXPECT_THAT(run.out, HasSubstr("largest at 3"));
}

TEST_F(QuantizeTest, RefusesExamplesThatAreNone) {
  Tensor nan = Tensor::Zeros(DataType::kFloat32, {1, 1, 8, 8});
  nan.mutable_values<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {WriteExample("shape", Tensor::Zeros(DataType::kFloat32, {1, 1, 8, 9})), "f32[1, 1, 8, 9]"},
      {WriteExample("type", Tensor::Zeros(DataType::kInt64, {1, 1, 8, 8})), "i64[1, 1, 8, 8]"},
      {WriteExample("nan", nan), "input \"image\" holds a number that is not finite"},
      {tree_.Write("no.npy", "nothing"), "no.npy"},
      {tree_.Write("no.npz", "nothing"), "no.npz"},
      {tree_.Write("no.txt", "nothing"), "neither in .npy nor in .pb"},
  };
  for (const auto& [path, message] : cases) {
    const CommandResult refused = Slipway({"quantize", Digits("digits.onnx"), "--examples", path});
    EXPECT_EQ(refused.status.exit_code, 2) << refused.ToString();
    EXPECT_THAT(refused.err, AllOf(HasSubstr(message), HasSubstr(path)));
  }
}

// Images without anything on them say nothing of what others hold, but are no error.
TEST_F(QuantizeTest, ZerosAreAnExample) {
  const std::string zeros = WriteExample("zeros", Tensor::Zeros(DataType::kFloat32, {1, 1, 8, 8}));
  const CommandResult quantized = Slipway({"quantize", Digits("digits.onnx"), "--examples", zeros});
  EXPECT_TRUE(quantized.status.ok()) << quantized.ToString();
  EXPECT_THAT(quantized.out, HasSubstr("3 in 8 bits, 0 in f32"));
}

}  // namespace
}  // namespace slipway::testing
