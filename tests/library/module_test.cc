// Models as WebAssembly modules, run in Node by the runner that comes with them.
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/library/module_files.h"
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

constexpr char kVectors[] = "wasm-32-wasi-simd128";
constexpr char kScalar[] = "wasm-32-wasi";
constexpr char kThreads[] = "wasm-32-wasi-simd128-threads";

class ModuleTest : public ::testing::Test {
 protected:
  void ExpectRuns(const std::string& name, const ModelSource& source) {
    for (const char* target : {kVectors, kScalar, kThreads}) {
      SCOPED_TRACE(absl::StrCat(name, " for ", target));
      LibraryOptions options;
      options.name = target == kScalar    ? name + "_scalar"
                     : target == kThreads ? name + "_threads"
                                          : name;
      options.model = "test.onnx";
      ASSERT_OK_AND_ASSIGN(const Exported module, Export(source, target, options, tree_));
      EXPECT_OK(CheckModule(module, tree_));
    }
  }
  absl::Status ExportError(absl::string_view text) {
    LibraryOptions options;
    options.name = "refused";
    return Export(TextModel(text), kVectors, options, tree_).status();
  }

  TempTree tree_;
};

TEST_F(ModuleTest, DigitsIsAtMost80Kilobytes) {
  ExpectRuns("digits", DigitsModel());
  size_t all = 0;
  for (const char* file :
       {"model.wasm", "weights.bin", "plan.json", "slipway.js", "instance.js", "index.js"}) {
    const size_t bytes = tree_.Read(absl::StrCat("digits/", file)).size();
    std::cout << file << ": " << bytes << " bytes\n";
    all += bytes;
  }
  // What runs it included, before any compression.
  EXPECT_LE(all, 80 * 1000);
}

TEST_F(ModuleTest, Networks) {
  ExpectRuns("residual", TextModel(kResidual));
  ExpectRuns("quantized", TextModel(kQuantized));
}

TEST_F(ModuleTest, ProgramsOfCallsAndCopies) {
  // A kernel of its own memory, an output that is an input, one that is a constant.
  ExpectRuns("calls", TextModel(R"(
    graph "calls" (%x: f32[6, 5], %i: u8[3], %b: bool[4]) -> (%top, %where, %x_again, %constant, %picked, %not) {
      const %k: i64[1] = {3}
      const %constant: f32[2] = {1.5, -2.0}
      %top, %where = TopK "top" (%x, %k)
      %x_again = Identity(%x)
      %picked = Cast(%i) {to = 1}
      %not = Not(%b)
    })"));
}

// Whose reduction takes products of 64 by 64 bits, which WebAssembly does not have.
TEST_F(ModuleTest, AnglesOfAnySize) {
  ExpectRuns("angles", TextModel(R"(
    graph "angles" (%x: f32[40]) -> (%sines, %cosines) {
      const %k: f64[] = {1e300}
      %wide = Cast(%x) {to = 11}
      %large = Mul(%wide, %k)
      %s = Sin(%large)
      %c = Cos(%large)
      %sines = Cast(%s) {to = 1}
      %cosines = Cast(%c) {to = 1}
    })"));
}

TEST_F(ModuleTest, HostileNamesStayNames) {
  const std::string hostile =
      "*/ process.exit(66); /* \\\" ${1} ` </script> __proto__ \\\\\\n\\x01";
  std::string text = R"(
    graph "tiny" (%x: f32[1, 1, 6, 6], %p: f32[2]) -> (%y, %q) {
      const %w: f32[8, 1, 3, 3] = splat 0.5
      %c = Conv "NODE" (%x, %w)
      %y = Relu(%c)
      %q = Neg(%p)
    })";
  text = absl::StrReplaceAll(
      text,
      {{"NODE", hostile}, {"%x", absl::StrCat("%\"", hostile, "\"")}, {"%q", "%\"__proto__\""}});
  ExpectRuns("hostile", TextModel(text));
}

TEST_F(ModuleTest, ControlFlow) {
  for (const ControlModel& model : kControlModels) ExpectRuns(model.name, TextModel(model.text));
}

// What the runner refuses, in Node's own test runner.
TEST_F(ModuleTest, TheRunnerRefusesWhatIsWrong) {
  LibraryOptions options;
  options.name = "digits";
  ASSERT_OK_AND_ASSIGN(const Exported digits, Export(DigitsModel(), kVectors, options, tree_));
  options.name = "picks";
  ASSERT_OK_AND_ASSIGN(const Exported picks, Export(TextModel(R"(
    graph "picks" (%x: f32[200, 200], %i: i64[3], %b: bool[2]) -> (%d, %picked, %n) {
      const %k: i64[1] = {3}
      %d = Det "determinant" (%x)
      %picked = GatherElements "pick" (%k, %i)
      %n = Not(%b)
    })"),
                                                    kVectors, options, tree_));
  options.name = "decides";
  ASSERT_OK_AND_ASSIGN(const Exported decides,
                       Export(TextModel(kDecides), kVectors, options, tree_));
  const CommandResult result =
      RunCommand({.argv = {"node", "--test", RunfilePath("tests/library/runner_test.mjs")},
                  .environment = {{"DIGITS", digits.folder},
                                  {"PICKS", picks.folder},
                                  {"DECIDES", decides.folder},
                                  {"PATH", "/usr/bin:/bin"}}});
  EXPECT_TRUE(result.status.ok()) << result.ToString() << result.out;
}

// What goes wrong on other threads than the program's own, by a module of C.
TEST_F(ModuleTest, ThreadsFailAsTheProgram) {
  LibraryOptions options;
  options.name = "digits";
  ASSERT_OK_AND_ASSIGN(const Exported digits, Export(DigitsModel(), kThreads, options, tree_));
  const std::string object = tree_.Path("faults.o");
  const std::string module = tree_.Path("faults.wasm");
  const CommandResult compiled =
      RunCommand({.argv = {"clang-14", "--target=wasm32-unknown-unknown", "-ffreestanding",
                           "-matomics", "-mbulk-memory", "-O2", "-I", RunfilePath("."), "-c", "-o",
                           object, RunfilePath("tests/library/faults.c")},
                  .environment = {{"PATH", "/usr/bin:/bin"}}});
  ASSERT_TRUE(compiled.status.ok()) << compiled.ToString();
  const CommandResult linked = RunCommand(
      {.argv = {"wasm-ld-14", "-o", module, "--no-entry", "--import-memory", "--shared-memory",
                "--max-memory=4294967296", "--export-table", "--export=__heap_base",
                "--export=__stack_pointer", "--no-check-features", "--stack-first", "-z",
                "stack-size=1048576", object},
       .environment = {{"PATH", "/usr/bin:/bin"}}});
  ASSERT_TRUE(linked.status.ok()) << linked.ToString();
  const CommandResult result = RunCommand(
      {.argv = {"node", "--test", RunfilePath("tests/library/module_threads_test.mjs")},
       .environment = {{"LIBRARY", digits.folder}, {"FAULTS", module}, {"PATH", "/usr/bin:/bin"}}});
  EXPECT_TRUE(result.status.ok()) << result.ToString() << result.out;
}

TEST_F(ModuleTest, WhatModulesDoNotHaveIsNamed) {
  EXPECT_THAT(ExportError(kOpenExtent), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                 AllOf(HasSubstr("input \"x\" is f32[batch, 3]"),
                                                       HasSubstr("--dimension batch"))));
  for (const char* text : {kEndedSlices, kComputedSlices}) {
    EXPECT_THAT(ExportError(text), StatusIs(absl::StatusCode::kUnimplemented,
                                            HasSubstr("known only when the program runs")));
  }
  EXPECT_THAT(ExportError(kFoundSize), StatusIs(absl::StatusCode::kUnimplemented,
                                                HasSubstr("finds sizes out while running")));
}

TEST_F(ModuleTest, MoreMemoryThanThereIsIsRefused) {
  LibraryPlan plan;
  plan.is_module = true;
  plan.target = kVectors;
  plan.object = Blob::Own("module");
  plan.arena_bytes = int64_t{1} << 32;
  EXPECT_THAT(RenderModule(plan, {}).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("WebAssembly has 4")));
  plan.arena_bytes = int64_t{1} << 31;
  EXPECT_OK(RenderModule(plan, {}).status());
}

}  // namespace
}  // namespace slipway::testing
