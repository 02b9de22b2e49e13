// --check: what the device computes is held against the model, evaluated by a worker; the speed of wrong answers is not told.
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
using ::testing::Not;

// y = 2 x, and a little more in element 5 where it is wrong.
constexpr char kDouble[] = R"(
#include "core/kernel_abi/kernel_source.h"

static int32_t twice(void** args) {
  const float* x = (const float*)slipway_tensor(args, 0)->host;
  float* y = (float*)slipway_tensor(args, 1)->host;
  for (int64_t i = 0; i < slipway_elements(args, 1); ++i) y[i] = x[i] + x[i];
  y[5] += OFF;
  return SLIPWAY_OK;
}

SLIPWAY_KERNELS({twice, 2, 0})
)";

constexpr char kModel[] = R"(graph "double" opset 28 (%x: f32[64]) -> (%y) {
  %y = Add(%x, %x)
}
)";

using CheckTest = LocalCommandTest;

TEST_F(CheckTest, WhatIsCompiledAgreesWithItsModel) {
  const std::string model = Digits("digits.onnx");
  const std::string image = absl::StrCat("--input=image=", Digits("images/7.npy"));
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{},
                                             {"--precision=bf16"},
                                             {"--precision=int8", "--examples", Digits("images")},
                                             {"--keep=*"}}) {
    std::vector<std::string> arguments = {"run", model, image, "--check", "--json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const CommandResult run = Slipway(arguments);
    ASSERT_TRUE(run.status.ok()) << run.ToString();
    ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(run.out));
    EXPECT_TRUE(json["check"]["passed"]);
    EXPECT_EQ(json["check"]["outputs"].size(), json["outputs"].size());
  }
  // Inputs that are not given are the same on both sides, and the speed is told.
  const CommandResult bench = Slipway({"bench", model, "--check", "--seed=5", "--samples=5"});
  ASSERT_TRUE(bench.status.ok()) << bench.ToString();
  EXPECT_THAT(bench.out, AllOf(HasSubstr("p50"), HasSubstr("checked: 1 output agrees")));
  // In 8 bits it does not agree to seven digits.
  const CommandResult strict = Slipway({"run", model, image, "--check", "--tolerance=1e-7",
                                        "--precision=int8", "--examples", Digits("images")});
  EXPECT_EQ(strict.status.exit_code, 1) << strict.ToString();
  EXPECT_THAT(strict.err, HasSubstr("output \"scores\" is wrong in"));
}

TEST_F(CheckTest, TheSpeedOfWrongAnswersIsNotTold) {
  const std::string model = tree_.Write("double.graph", kModel);
  const std::vector<std::string> tensors = {"--input=x=f32[64]", "--output=y=f32[64]"};
  for (const auto& [name, off] : {std::pair{"right", "0.0f"}, std::pair{"wrong", "1e-2f"}}) {
    const std::string source =
        tree_.Write(absl::StrCat(name, ".c"), absl::StrCat("#define OFF ", off, "\n", kDouble));
    const CommandResult packed =
        Command({"pack", source, tree_.Path(absl::StrCat(name, ".slip")), tensors[0], tensors[1]});
    ASSERT_TRUE(packed.status.ok()) << packed.ToString();
  }
  const std::string right = tree_.Path("right.slip");
  const std::string wrong = tree_.Path("wrong.slip");
  const CommandResult passed =
      Slipway({"bench", right, "--check-against", model, "--samples=5", "--json"});
  ASSERT_TRUE(passed.status.ok()) << passed.ToString();
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(passed.out));
  EXPECT_TRUE(json["check"]["passed"]);
  EXPECT_EQ(json["check"]["outputs"][0]["largest_error"], 0.0);

  const CommandResult refused = Slipway({"bench", wrong, "--check-against", model});
  EXPECT_EQ(refused.status.exit_code, 1) << refused.ToString();
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("output \"y\" is wrong in 1 of 64 elements, most at [5]"),
                    Not(HasSubstr("p50"))));
  const CommandResult run = Slipway({"run", wrong, "--check-against", model});
  EXPECT_EQ(run.status.exit_code, 1) << run.ToString();
  EXPECT_THAT(run.out, HasSubstr("WRONG"));
  // Whoever allows so much gets it.
  EXPECT_TRUE(Slipway({"run", wrong, "--check-against", model, "--tolerance=0.1"}).status.ok());
}

TEST_F(CheckTest, SaysWhatItNeeds) {
  const std::string model = tree_.Write("double.graph", kModel);
  const std::string slip = tree_.Write("some.slip", "no artifact");
  const auto is_wrong = [this](const std::vector<std::string>& arguments, const char* says) {
    const CommandResult result = Slipway(arguments);
    EXPECT_EQ(result.status.exit_code, 2) << result.ToString();
    EXPECT_THAT(result.err, HasSubstr(says));
  };
  is_wrong({"run", slip, "--check"}, "needs the model: \"--check-against MODEL\"");
  is_wrong({"run", model, "--check-against", model}, "for artifacts");
  is_wrong({"run", slip, "--check-against", slip}, "compiled already");
  is_wrong({"run", model, "--tolerance=1"}, "is for \"--check\"");
  is_wrong({"bench", model, "--check", "--tolerance=nan"}, "not \"nan\"");
  is_wrong({"bench", model, "--check", "--tolerance=-1"}, "not \"-1\"");
  is_wrong({"bench", model, "--check", "--detach"}, "--detach");
}

}  // namespace
}  // namespace slipway::testing
