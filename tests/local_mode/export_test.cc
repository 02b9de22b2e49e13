// slipway export: through a server like every compilation, to a library that reads digits.
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"
#include "tests/local_mode/local_command.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;

class ExportTest : public LocalCommandTest {
 protected:
  // What the library's example program reads an image as: the place of the largest of its scores.
  int ReadAs(const std::string& folder, int digit) {
    const std::string image = Digits(absl::StrCat("images/", digit, ".npy"));
    const CommandResult result =
        RunCommand({.argv = {"/bin/sh", "-ec",
                             absl::StrCat("cd ", folder, " && make -s && tail -c 256 ", image,
                                          " > input && build/example input")}});
    EXPECT_TRUE(result.status.ok()) << result.ToString();
    const std::vector<std::string> words = absl::StrSplit(result.out, ' ');
    int largest = 1;
    for (size_t i = 1; i < words.size(); ++i) {
      if (std::atof(words[i].c_str()) > std::atof(words[static_cast<size_t>(largest)].c_str())) {
        largest = static_cast<int>(i);
      }
    }
    EXPECT_EQ(words.size(), 11u) << result.out;
    return largest - 1;
  }
};

TEST_F(ExportTest, ALibraryReadsDigits) {
  const std::string folder = tree_.Path("digits");
  const CommandResult exported = Slipway({"export", Digits("digits.onnx"), "-o", folder});
  ASSERT_TRUE(exported.status.ok()) << exported.ToString();
  EXPECT_THAT(exported.out, HasSubstr("library digits of digits.onnx for "));
  EXPECT_THAT(exported.out, HasSubstr("wrote " + folder));
  for (const int digit : {0, 7}) EXPECT_EQ(ReadAs(folder, digit), digit);

  const CommandResult again = Slipway({"export", Digits("digits.onnx"), "-o", folder});
  EXPECT_EQ(again.status.exit_code, 2) << again.ToString();
  EXPECT_THAT(again.err, HasSubstr("is not empty"));
  const CommandResult slip =
      Slipway({"compile", Digits("digits.onnx"), "-o", tree_.Path("digits.slip")});
  EXPECT_TRUE(slip.status.ok()) << "after an export of the same model: " << slip.ToString();
  EXPECT_TRUE(Slipway({"run", tree_.Path("digits.slip")}).status.ok());
}

TEST_F(ExportTest, AModuleReadsDigits) {
  const std::string folder = tree_.Path("page");
  const CommandResult exported = Slipway(
      {"export", Digits("digits.onnx"), "--target=wasm-32-wasi-simd128", "-o", folder, "--json"});
  ASSERT_TRUE(exported.status.ok()) << exported.ToString();
  ASSERT_OK_AND_ASSIGN(const Json report, ParseJson(exported.out));
  EXPECT_EQ(report["form"], "module");
  const CommandResult read = RunCommand(
      {.argv = {
           "/usr/bin/node", "--input-type=module", "-e",
           absl::StrCat("import { readFileSync } from 'node:fs';\n"
                        "import { load } from '",
                        folder,
                        "/index.js';\n"
                        "const pixels = readFileSync('",
                        Digits("images/7.npy"),
                        "').subarray(-256);\n"
                        "const program = await load();\n"
                        "const image = new Float32Array(new Uint8Array(pixels).buffer);\n"
                        "const { scores } = program.run({ [program.inputs[0].name]: image });\n"
                        "console.log(scores.indexOf(Math.max(...scores)));")}});
  EXPECT_TRUE(read.status.ok()) << read.ToString();
  EXPECT_EQ(read.out, "7\n");

  const CommandResult threads =
      Slipway({"export", Digits("digits.onnx"), "-o", tree_.Path("threads"),
               "--target=wasm-32-wasi-simd128-threads"});
  EXPECT_TRUE(threads.status.ok()) << threads.ToString();

  const std::vector<std::string> model = {"export", Digits("digits.onnx"), "-o", tree_.Path("no")};
  const auto refused = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = model;
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const CommandResult result = Slipway(arguments);
    EXPECT_FALSE(result.status.ok());
    return result.err;
  };
  EXPECT_THAT(refused({"--target=arm-64-linux,opencl"}), HasSubstr("nothing is exported for"));
  EXPECT_THAT(refused({"--target=wasm-32-wasi", "--weights=section"}), HasSubstr("are a file"));
  EXPECT_THAT(refused({"--target=wasm-32-wasi", "--threads=2"}), HasSubstr("\"--threads\""));
  EXPECT_THAT(refused({"--threads=65"}), HasSubstr("\"--threads\""));
  // No device here runs such code.
  const CommandResult run =
      Slipway({"run", Digits("digits.onnx"), "--target=wasm-32-wasi-simd128"});
  EXPECT_FALSE(run.status.ok());
  EXPECT_THAT(run.err, HasSubstr("wasm-32-wasi-simd128"));
}

TEST_F(ExportTest, OnSeveralThreadsToo) {
  const std::string folder = tree_.Path("shared");
  const CommandResult exported = Slipway(
      {"export", Digits("digits.onnx"), "--threads=2", "--name=shared", "-o", folder, "--json"});
  ASSERT_TRUE(exported.status.ok()) << exported.ToString();
  ASSERT_OK_AND_ASSIGN(const Json report, ParseJson(exported.out));
  EXPECT_EQ(report["threads"], 2);
  EXPECT_EQ(ReadAs(folder, 7), 7);
}

TEST_F(ExportTest, In8BitsToo) {
  const std::string folder = tree_.Path("small");
  const CommandResult exported =
      Slipway({"export", Digits("digits.onnx"), "--precision=int8", "--examples", Digits("images"),
               "--weights=file", "--name=small", "-o", folder, "--json"});
  ASSERT_TRUE(exported.status.ok()) << exported.ToString();
  ASSERT_OK_AND_ASSIGN(const Json report, ParseJson(exported.out));
  EXPECT_EQ(report["name"], "small");
  EXPECT_EQ(report["unbounded_steps"], 0);
  EXPECT_EQ(ReadAs(folder, 7), 7);
}

}  // namespace
}  // namespace slipway::testing
