// Models as C libraries, built by gcc and clang and run with nothing around them, on this machine and as those of arm-64, arm-32 and riscv-64.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/library/control_models.h"
#include "tests/library/exported.h"
#include "tests/library/models.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Toolchain kGcc = {"gcc", {"gcc"}, {}, {}};
const Toolchain kClang = {"clang", {"clang-14"}, {"-fuse-ld=lld-14"}, {}};
// Of other architectures, by what they export for.
const std::pair<const char*, Toolchain> kEmulated[] = {
    {"arm-64-linux", ClangFor("arm_64", "aarch64-linux-gnu", "qemu-aarch64-static")},
    {"arm-32-linux-neon", ClangFor("arm_32", "armv7-linux-gnueabihf", "qemu-arm-static")},
    {"riscv-64-linux", GccForRiscv64()},
};

bool IsHere(const std::string& program) {
  return RunCommand({.argv = {"/bin/sh", "-c", absl::StrCat("command -v ", program)}}).status.ok();
}

class LibraryTest : public ::testing::Test {
 protected:
  // For this machine's own level, by each compiler, and for others.
  void ExpectRuns(const std::string& name, const ModelSource& source,
                  const CompilerOptions& compiler_options = {}) {
    SCOPED_TRACE(name);
    LibraryOptions options;
    options.name = name;
    options.model = "test.onnx";
    ASSERT_OK_AND_ASSIGN(const Exported here,
                         Export(source, "x86-64-linux", options, tree_, compiler_options));
    EXPECT_OK(Check({&here}, kGcc, tree_));
    options.weights_are_linked = false;
    options.name = name + "_file";
    ASSERT_OK_AND_ASSIGN(const Exported file,
                         Export(source, "x86-64-linux", options, tree_, compiler_options));
    EXPECT_OK(Check({&file}, kClang, tree_));
    options.weights_are_linked = true;
    for (const auto& [target, toolchain] : kEmulated) {
      if (!IsHere(toolchain.runner[0])) continue;
      options.name = absl::StrCat(name, "_", toolchain.name);
      ASSERT_OK_AND_ASSIGN(const Exported there,
                           Export(source, target, options, tree_, compiler_options));
      EXPECT_OK(Check({&there}, toolchain, tree_));
    }
  }
  std::string Run(const std::string& command) {
    const CommandResult result = RunCommand({.argv = {"/bin/sh", "-ec", command}});
    EXPECT_TRUE(result.status.ok()) << command << ": " << result.ToString();
    return result.out;
  }

  TempTree tree_;
};

TEST_F(LibraryTest, DigitsIsAtMost80Kilobytes) {
  std::vector<std::pair<const char*, Toolchain>> toolchains = {{"x86-64-v3-linux", kGcc},
                                                               {"x86-64-v3-linux", kClang}};
  for (const auto& emulated : kEmulated) {
    if (IsHere(emulated.second.runner[0])) toolchains.push_back(emulated);
  }
  for (const auto& [target, toolchain] : toolchains) {
    LibraryOptions options;
    options.name = absl::StrCat("digits_", toolchain.name);
    ASSERT_OK_AND_ASSIGN(const Exported digits, Export(DigitsModel(), target, options, tree_));
    ASSERT_OK(Check({&digits}, toolchain, tree_));
    struct stat program;
    ASSERT_EQ(stat(ProgramOf({&digits}, toolchain, tree_).c_str(), &program), 0);
    // The whole stripped program, which reads and writes besides.
    RecordProperty(options.name, static_cast<int>(program.st_size));
    std::cout << options.name << ": " << program.st_size << " bytes, of which weights "
              << digits.plan.weights_bytes << "; arena " << digits.plan.arena_bytes
              << " and scratch " << digits.plan.scratch_bytes << "\n";
    EXPECT_LE(program.st_size, 80 * 1000);
    EXPECT_TRUE(digits.plan.unbounded.empty());
  }
}

TEST_F(LibraryTest, ConvolutionalNetworks) {
  ExpectRuns("residual", TextModel(kResidual));
  ExpectRuns("alex", TextModel(R"(
    graph "alex" (%x: f32[1, 3, 35, 35]) -> (%y) {
      const %w0: f32[8, 3, 11, 11] = splat 0.01
      const %w1: f32[16, 4, 5, 5] = splat 0.02
      const %v0: f32[64, 32] = splat 0.02
      const %v1: f32[32, 10] = splat -0.1
      %c0 = Conv "conv1" (%x, %w0) {strides = [4, 4]}
      %r0 = Relu(%c0)
      %n0 = LRN(%r0) {alpha = 0.0001, beta = 0.75, bias = 1.0, size = 5}
      %p0 = MaxPool(%n0) {kernel_shape = [3, 3], strides = [2, 2]}
      %c1 = Conv "conv2" (%p0, %w1) {group = 2, pads = [2, 2, 2, 2]}
      %r1 = Relu(%c1)
      %p1 = MaxPool(%r1) {kernel_shape = [2, 2]}
      %f = Flatten(%p1)
      %h = MatMul(%f, %v0)
      %r2 = Relu(%h)
      %y = MatMul(%r2, %v1)
    })"));
}

TEST_F(LibraryTest, QuantizedNetworks) { ExpectRuns("quantized", TextModel(kQuantized)); }

TEST_F(LibraryTest, ProgramsOfCallsAndCopies) {
  // A kernel of its own memory, one that fails on bad indices, an output that is an input, one that is a constant.
  ExpectRuns("calls", TextModel(R"(
    graph "calls" (%x: f32[6, 5], %i: u8[3]) -> (%top, %where, %x_again, %constant, %picked) {
      const %k: i64[1] = {3}
      const %constant: f32[2] = {1.5, -2.0}
      %top, %where = TopK "top" (%x, %k)
      %x_again = Identity(%x)
      %picked = Cast(%i) {to = 1}
    })"));
}

TEST_F(LibraryTest, ControlFlow) {
  for (const ControlModel& model : kControlModels) ExpectRuns(model.name, TextModel(model.text));
}

// A chain of layers drawn by a seed.
std::string RandomModel(uint64_t seed) {
  std::mt19937_64 random(seed);
  int64_t channels = 1 + static_cast<int64_t>(random() % 5);
  int64_t size = 7 + static_cast<int64_t>(random() % 9);
  std::string text =
      absl::StrCat("graph \"r\" (%v0: f32[1, ", channels, ", ", size, ", ", size, "]) -> (%y) {\n");
  int next = 1;
  for (int layer = 0; layer < 5; ++layer) {
    const std::string from = absl::StrCat("%v", next - 1), to = absl::StrCat("%v", next);
    switch (random() % 7) {
      case 0:
      case 1: {
        const int64_t made = 1 + static_cast<int64_t>(random() % 19);
        absl::StrAppend(&text, "const %w", next, ": f32[", made, ", ", channels, ", 3, 3] = splat ",
                        random() % 2 == 0 ? "0.03" : "-0.02", "\n", to, " = Conv(", from, ", %w",
                        next, ") {pads = [1, 1, 1, 1]}\n");
        channels = made;
        break;
      }
      case 2:
        absl::StrAppend(&text, to, " = Relu(", from, ")\n");
        break;
      case 3:
        absl::StrAppend(&text, to, " = Sigmoid(", from, ")\n");
        break;
      case 4:
        absl::StrAppend(&text, to, " = AveragePool(", from, ") {kernel_shape = [2, 2]}\n");
        --size;
        break;
      case 5:
        absl::StrAppend(&text, to, " = Transpose(", from, ") {perm = [0, 1, 3, 2]}\n");
        break;
      default:
        absl::StrAppend(&text, to, " = Concat(", from, ", ", from, ") {axis = 1}\n");
        channels *= 2;
    }
    ++next;
  }
  return absl::StrCat(text, "%y = Softmax(%v", next - 1, ") {axis = 3}\n}");
}

TEST_F(LibraryTest, RandomNetworks) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const std::string text = RandomModel(seed);
    SCOPED_TRACE(text);
    LibraryOptions options;
    options.name = absl::StrCat("random_", seed);
    ASSERT_OK_AND_ASSIGN(const Exported library,
                         Export(TextModel(text), seed % 2 == 0 ? "x86-64-linux" : "x86-64-v2-linux",
                                options, tree_));
    EXPECT_OK(Check({&library}, seed % 3 == 0 ? kClang : kGcc, tree_));
  }
}

constexpr char kSmall[] = R"(
  graph "tiny" (%x: f32[1, 1, 6, 6]) -> (%y) {
    const %w: f32[8, 1, 3, 3] = splat 0.5
    %c = Conv "NODE" (%x, %w)
    %y = Relu(%c)
  })";

TEST_F(LibraryTest, SeveralAreOneProgram) {
  LibraryOptions a, b, c;
  a.name = "net";
  b.name = "net_2";
  c.name = "other";
  c.weights_are_linked = false;
  ASSERT_OK_AND_ASSIGN(const Exported first, Export(TextModel(kSmall), "x86-64-linux", a, tree_));
  ASSERT_OK_AND_ASSIGN(const Exported same, Export(TextModel(kSmall), "x86-64-linux", b, tree_));
  ASSERT_OK_AND_ASSIGN(const Exported third,
                       Export(TextModel(RandomModel(3)), "x86-64-linux", c, tree_));
  EXPECT_OK(Check({&first, &same, &third}, kGcc, tree_));
  EXPECT_OK(Check({&first, &same, &third}, kClang, tree_));
}

TEST_F(LibraryTest, HostileNamesStayNames) {
  const std::string hostile =
      "*/ int main(void){return 66;} /* \\\" ?\?/\\n %s%n `id` $(id) @name@ \\\\\\n#error\\x01";
  std::string text = absl::StrReplaceAll(kSmall, {{"NODE", hostile}});
  text = absl::StrReplaceAll(text, {{"%x", absl::StrCat("%\"", hostile, "\"")}});
  LibraryOptions options;
  options.name = "hostile";
  options.model = "*/ #error \"\n*/\\.onnx";
  ASSERT_OK_AND_ASSIGN(const Exported library,
                       Export(TextModel(text), "x86-64-linux", options, tree_));
  EXPECT_OK(Check({&library}, kGcc, tree_));
  Run(absl::StrCat("cd ", library.folder,
                   " && make -s CC=gcc CFLAGS='-O1 -Wall -Wextra -Werror' && build/example"));
}

// What a user does first.
TEST_F(LibraryTest, TheExampleRunsByMakeAndByCMake) {
  for (const bool is_linked : {true, false}) {
    LibraryOptions options;
    options.name = is_linked ? "linked" : "read";
    options.weights_are_linked = is_linked;
    ASSERT_OK_AND_ASSIGN(const Exported library,
                         Export(DigitsModel(), "x86-64-linux", options, tree_));
    tree_.Write(absl::StrCat(options.name, "/input"), library.inputs);
    const std::string cd = absl::StrCat("cd ", library.folder, " && ");
    for (const char* compiler : {"gcc", "clang-14"}) {
      Run(absl::StrCat(cd, "make -s clean && make -s CC=", compiler,
                       " CFLAGS='-O2 -Wall -Wextra -Werror -pedantic'"));
      const std::string out = Run(cd + "build/example --times input");
      EXPECT_THAT(out, AllOf(HasSubstr("scores "), HasSubstr(" us  ")));
    }
    Run(absl::StrCat(cd, "cmake -S . -B made > log 2>&1 && cmake --build made >> log 2>&1 && made/",
                     options.name, "_example input"));
    for (const char* standard : {"c++11", "c++20"}) {
      Run(absl::StrCat(cd, "echo '#include \"", options.name, ".h\"' > t.cc && g++ -std=", standard,
                       " -Wall -Wextra -Werror -pedantic -fsyntax-only t.cc"));
    }
  }
  // Other weights are not taken for the model's.
  tree_.FlipBit("read/read_weights.bin", 100);
  const CommandResult result =
      RunCommand({.argv = {"/bin/sh", "-c",
                           absl::StrCat("cd ", tree_.Path("read"), " && build/example input")}});
  EXPECT_FALSE(result.status.ok());
  EXPECT_THAT(result.err, HasSubstr("other weights"));
}

TEST_F(LibraryTest, WhatLibrariesDoNotHaveIsNamed) {
  LibraryOptions options;
  options.name = "net";
  const auto refused = [&](absl::string_view text) {
    return Export(TextModel(text), "x86-64-linux", options, tree_).status();
  };
  EXPECT_THAT(refused(kOpenExtent), StatusIs(absl::StatusCode::kFailedPrecondition,
                                             AllOf(HasSubstr("input \"x\" is f32[batch, 3]"),
                                                   HasSubstr("--dimension batch"))));
  EXPECT_THAT(refused(kEndedSlices),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("step \"until\" makes value"),
                             HasSubstr("known only when the program runs"))));
  EXPECT_THAT(refused(kComputedSlices),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("step \"times\" makes value")));
  EXPECT_THAT(refused(kFoundSize), StatusIs(absl::StatusCode::kUnimplemented,
                                            HasSubstr("finds sizes out while running")));
}

TEST_F(LibraryTest, ScratchMemoryThatIsMissingIsAnErrorOfTheStep) {
  LibraryOptions options;
  options.name = "top";
  options.scratch_bytes = 64;
  ASSERT_OK_AND_ASSIGN(const Exported library, Export(TextModel(R"(
    graph "g" (%x: f32[2, 500]) -> (%top, %where) {
      const %k: i64[1] = {3}
      %top, %where = TopK "top 3" (%x, %k)
    })"),
                                                      "x86-64-linux", options, tree_));
  ASSERT_EQ(library.plan.unbounded.size(), 1u);
  Run(absl::StrCat("cd ", library.folder, " && make -s"));
  const CommandResult result =
      RunCommand({.argv = {absl::StrCat(library.folder, "/build/example")}});
  EXPECT_FALSE(result.status.ok());
  EXPECT_THAT(result.err, AllOf(HasSubstr("a step wants more scratch memory"), HasSubstr("top 3")));
}

TEST_F(LibraryTest, FoldersInUseAreLeftAlone) {
  tree_.Write("used/file", "mine");
  const std::vector<LibraryFile> files = {{"a.c", {Blob::Own("int a;\n")}},
                                          {"b/c.c", {Blob::Own("")}}};
  EXPECT_THAT(WriteLibrary(files, tree_.Path("used")),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("it has \"file\"")));
  EXPECT_THAT(WriteLibrary(files, tree_.Path("used/file")),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("is no folder")));
  ASSERT_EQ(mkdir(tree_.Path("empty").c_str(), 0755), 0);
  EXPECT_OK(WriteLibrary(files, tree_.Path("empty")));
  EXPECT_OK(WriteLibrary(files, tree_.Path("new/deep")));
  EXPECT_EQ(tree_.Read("new/deep/a.c"), "int a;\n");
  // All or nothing.
  const std::vector<LibraryFile> broken = {{"a", {Blob::Own("")}}, {"a/b", {Blob::Own("")}}};
  EXPECT_FALSE(WriteLibrary(broken, tree_.Path("broken")).ok());
  EXPECT_FALSE(tree_.Exists("broken"));
}

}  // namespace
}  // namespace slipway::testing
