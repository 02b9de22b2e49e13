// slipway pack: what a C compiler of this machine makes runs like any other artifact, and what no runtime would take is
// refused with its reason.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/artifact/artifact.h"
#include "core/artifact/slip_file.h"
#include "core/tensor/npy.h"
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

constexpr char kAdd[] = R"(
#include "core/kernel_abi/kernel_source.h"

static int32_t add(void** args) {
  const float* x = (const float*)slipway_tensor(args, 0)->host;
  const float* b = (const float*)slipway_tensor(args, 1)->host;
  float* y = (float*)slipway_tensor(args, 2)->host;
  const int64_t columns = slipway_elements(args, 1);
  const int64_t n = slipway_elements(args, 2);
  // Compilers like to call memset here.
  for (int64_t i = 0; i < n; ++i) y[i] = 0;
  for (int64_t i = 0; i < n; ++i) y[i] += x[i] + b[i % columns];
  return SLIPWAY_OK;
}

static int32_t refuse(void** args) {
  slipway_runtime->error(slipway_call(args), "not today");
  return SLIPWAY_INVALID_ARGUMENT;
}

SLIPWAY_KERNELS({add, 3, 0}, {refuse, 2, 0})
)";

class PackTest : public LocalCommandTest {
 protected:
  CommandResult Pack(const std::string& path, std::vector<std::string> flags) {
    std::vector<std::string> arguments = {"pack", path, tree_.Path("out.slip")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return Command(arguments);
  }
  // Of the file, made by a C compiler with these arguments.
  std::string Build(const std::string& file, const std::string& source,
                    std::vector<std::string> arguments) {
    const std::string path = tree_.Write(absl::StrCat(file, ".c"), source);
    CommandOptions options;
    options.argv = {"cc", "-O1", "-fPIC",         "-ffreestanding", "-fno-stack-protector",
                    path, "-o",  tree_.Path(file)};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    const CommandResult result = RunCommand(options);
    EXPECT_TRUE(result.status.ok()) << result.ToString();
    return tree_.Path(file);
  }

  const std::vector<std::string> tensors_ = {"--input=x=f32[n,3]", "--input=b=f32[3]",
                                             "--output=y=f32[n,3]"};
};

TEST_F(PackTest, CSourceBecomesAProgramThatRuns) {
  std::vector<std::string> flags = tensors_;
  flags.push_back("--dimension=n=1..8");
  const CommandResult packed = Pack(tree_.Write("add.c", kAdd), flags);
  ASSERT_TRUE(packed.status.ok()) << packed.ToString();
  EXPECT_THAT(packed.out, AllOf(HasSubstr("add"), HasSubstr("wrote ")));

  const std::string x =
      tree_.Write("x.npy", *FormatNpy(Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
  const std::string b = tree_.Write("b.npy", *FormatNpy(Tensor::Of<float>({3}, {10, 20, 30})));
  const CommandResult run =
      Slipway({"run", tree_.Path("out.slip"), "--input", absl::StrCat("x=", x), "--input",
               absl::StrCat("b=", b), "--json"});
  ASSERT_TRUE(run.status.ok()) << run.ToString();
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(run.out));
  EXPECT_EQ(json["outputs"][0]["name"], "y");
  EXPECT_EQ(json["outputs"][0]["min"], 11);
  EXPECT_EQ(json["outputs"][0]["max"], 36);
  EXPECT_EQ(json["outputs"][0]["mean"], 23.5);
}

TEST_F(PackTest, ObjectsAndSharedObjectsDoAsWell) {
  ASSERT_TRUE(Pack(tree_.Write("add.c", kAdd), tensors_).status.ok());
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, ReadSlip(tree_.Path("out.slip")));
  const std::string code(artifact.blob(artifact.manifest().blobs()[0]).bytes());
  const CommandResult shared =
      Pack(tree_.Write("built.so", code),
           {"--kernel=1", "--input=x=f32[1]", "--output=y=f32[1]", "--name=second"});
  ASSERT_TRUE(shared.status.ok()) << shared.ToString();
  EXPECT_THAT(shared.out, HasSubstr("second"));

  std::vector<std::string> flags = tensors_;
  flags.insert(flags.end(), {"--cc=clang-14", "--cflag=-Wall", "--cflag=-Werror"});
  const CommandResult other_compiler = Pack(tree_.Path("add.c"), flags);
  EXPECT_TRUE(other_compiler.status.ok()) << other_compiler.ToString();

  constexpr char kOwnQuery[] = R"(
    typedef struct { int (*function)(void**); int arguments; int zero; } entry;
    typedef struct { unsigned version, count; const entry* kernels; } table;
    static int nothing(void** args) { return args == 0; }
    static const entry entries[] = {{nothing, 1, 0}};
    static const table all = {1, 1, entries};
    const table* slipway_program_query(unsigned version, const void* imports) {
      return imports != 0 && version == 1 ? &all : 0;
    })";
  const CommandResult object = Pack(Build("own.o", kOwnQuery, {"-c"}), {"--output=y=f32[1]"});
  EXPECT_TRUE(object.status.ok()) << object.ToString();
  const CommandResult source = Pack(tree_.Path("own.o.c"), {"--output=y=f32[1]"});
  EXPECT_TRUE(source.status.ok()) << source.ToString();
}

TEST_F(PackTest, SaysWhyNoRuntimeWouldTakeIt) {
  const auto refuses = [this](const CommandResult& result, const std::string& says) {
    EXPECT_EQ(result.status.exit_code, 1) << result.ToString();
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_FALSE(tree_.Exists("out.slip"));
  };
  const std::vector<std::string> one = {"--output=y=f32[1]"};
  constexpr char kQuery[] = "const void* slipway_program_query(unsigned v, const void* i) { ";
  refuses(Pack(Build("none.so", "int other(void) { return 0; }", {"-shared", "-nostdlib"}), one),
          "does not export slipway_program_query; SLIPWAY_KERNELS");
  refuses(Pack(Build("abi.so", absl::StrCat(kQuery, "return 0; }"), {"-shared", "-nostdlib"}), one),
          "is not built for kernel ABI 1");
  refuses(Pack(Build("two.so",
                     absl::StrCat("static const unsigned t[4] = {2, 1}; ", kQuery, "return t; }"),
                     {"-shared", "-nostdlib"}),
               one),
          "is not built for kernel ABI 1, but for 2");
  refuses(
      Pack(Build("crash.so", absl::StrCat(kQuery, "__builtin_trap(); }"), {"-shared", "-nostdlib"}),
           one),
      "the process that loaded it ended: killed by signal");
  refuses(Pack(Build("undefined.so",
                     absl::StrCat("float sine(float); int peel(int); ", kQuery,
                                  "return peel(1) + (char*)(long)sine(1); }"),
                     {"-shared", "-nostdlib", "-Wl,-z,lazy"}),
               one),
          "it has undefined symbols: ");
  refuses(Pack(Build("libc.so", absl::StrCat(kQuery, "return 0; }"),
                     {"-shared", "-nostdlib", "-Wl,--no-as-needed", "-lc"}),
               one),
          "it needs libc.so.6; code needs no libraries");
  refuses(Pack(tree_.Write("text.so", std::string(4096, 't')), one), "invalid ELF header");
  refuses(
      Pack(tree_.Write("sine.c", "float sinf(float); float f(float x) { return sinf(x); }"), one),
      "sinf");
  refuses(Pack(tree_.Write("bad.c", "int f( {"), one), "building \"");
  refuses(Pack(tree_.Write("add.c", kAdd), {"--input=x=f32[3]", "--output=y=f32[3]"}),
          "kernel 0 takes 3 tensors, but 1 inputs and 1 outputs are described");
  std::vector<std::string> flags = tensors_;
  flags.push_back("--cc=no-such-compiler");
  refuses(Pack(tree_.Path("add.c"), flags), "there is no C compiler \"no-such-compiler\"");
}

TEST_F(PackTest, WrongCallsNameTheFlag) {
  const std::string source = tree_.Write("add.c", kAdd);
  const auto is_wrong = [](const CommandResult& result, const std::string& says) {
    EXPECT_EQ(result.status.exit_code, 2) << result.ToString();
    EXPECT_THAT(result.err, HasSubstr(says));
  };
  is_wrong(Pack(source, {"--input=x=f32[3]"}), "no \"--output\"");
  is_wrong(Pack(source, {"--output=y"}), "flag \"--output\": \"y\" is no tensor");
  is_wrong(Pack(source, {"--input=x=f32[-1]", "--output=y=f32[1]"}), "flag \"--input\"");
  is_wrong(Pack(source, {"--output=y=f32[1]", "--dimension=n"}), "SYMBOL=N or SYMBOL=MIN..MAX");
  is_wrong(Pack(source, {"--output=y=f32[1]", "--target=arm-64-linux"}), "cannot be looked into");
  is_wrong(Command({"pack", source, "out.txt", "--output=y=f32[1]"}), "does not end in .slip");
  is_wrong(Pack(tree_.Path("none.c"), {"--output=y=f32[1]"}), "no file");
}

}  // namespace
}  // namespace slipway::testing
