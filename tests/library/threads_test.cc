// Exports of which several threads may work on a run: what a hook may do at worst, and the threads that come with them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/library/exported.h"
#include "tests/library/models.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Toolchain kGcc = {"gcc", {"gcc"}, {}, {}};
const Toolchain kClang = {"clang", {"clang-14"}, {"-fuse-ld=lld-14"}, {}};

// Products, convolutions and attention, of which tasks take scratch memory.
constexpr char kShared[] = R"(
  graph "shared" (%x: f32[2, 8, 24, 24]) -> (%y, %z) {
    const %w0: f32[16, 8, 3, 3] = splat 0.02
    const %w1: f32[24, 16, 3, 3] = splat -0.03
    const %v: f32[576, 64] = splat 0.01
    %c0 = Conv "conv0" (%x, %w0) {pads = [1, 1, 1, 1]}
    %r0 = Relu(%c0)
    %c1 = Conv "conv1" (%r0, %w1) {pads = [1, 1, 1, 1]}
    %y = Softmax(%c1) {axis = 3}
    const %s: i64[3] = {2, 24, 576}
    %t = Reshape(%c1, %s)
    %q = MatMul(%t, %v)
    %k = Transpose(%q) {perm = [0, 2, 1]}
    %a = MatMul(%q, %k)
    %p = Softmax(%a) {axis = 2}
    %z = MatMul(%p, %q)
  })";

// The same in the turns of a loop.
constexpr char kTurns[] = R"(
  graph "turns" (%x: f32[64, 320]) -> (%y, %all) {
    const %m: i64[] = {3}
    const %t: bool[] = {true}
    const %v: f32[320, 320] = splat 0.01
    %y, %all = Loop(%m, %t, %x, %v) {captures = 1,
      body = graph "body" (%turn, %true, %h, %w) -> (%true, %s, %s) {
        %p = MatMul(%h, %w)
        %s = Softmax(%p) {axis = 1}
      }}
  })";

class ThreadsTest : public ::testing::Test {
 protected:
  Exported ExportShared(const std::string& name, const std::string& target, int64_t threads,
                        const char* text = kShared) {
    LibraryOptions options;
    options.name = name;
    options.threads = threads;
    absl::StatusOr<Exported> exported = Export(TextModel(text), target, options, tree_);
    EXPECT_OK(exported);
    return *std::move(exported);
  }
  std::string Run(const std::string& command) {
    const CommandResult result = RunCommand({.argv = {"/bin/sh", "-ec", command}});
    EXPECT_TRUE(result.status.ok()) << command << ": " << result.ToString();
    return result.out;
  }

  TempTree tree_;
};

TEST_F(ThreadsTest, AnyOrderOfTurnsGivesTheSameBytes) {
  for (const int64_t threads : {2, 5}) {
    const Exported here = ExportShared(absl::StrCat("on_", threads), "x86-64-linux", threads);
    EXPECT_OK(Check({&here}, kGcc, tree_));
    EXPECT_OK(Check({&here}, kClang, tree_));
  }
  const Exported turns = ExportShared("turns", "x86-64-linux", 3, kTurns);
  EXPECT_OK(Check({&turns}, kGcc, tree_));
  EXPECT_OK(Check({&turns}, kClang, tree_));
  const Exported arm64 = ExportShared("arm_64", "arm-64-linux", 3);
  EXPECT_OK(Check({&arm64}, ClangFor("arm_64", "aarch64-linux-gnu", "qemu-aarch64-static"), tree_));
  const Exported arm32 = ExportShared("arm_32", "arm-32-linux-neon", 3);
  EXPECT_OK(Check({&arm32}, ClangFor("arm_32", "armv7-linux-gnueabihf", "qemu-arm-static"), tree_));
}

TEST_F(ThreadsTest, LibrariesWithAndWithoutThreadsAreOneProgram) {
  const Exported with = ExportShared("with", "x86-64-linux", 4);
  const Exported without = ExportShared("without", "x86-64-linux", 1);
  EXPECT_OK(Check({&with, &without}, kGcc, tree_));
  EXPECT_FALSE(tree_.Exists("without/without_threads.c"));
  EXPECT_THAT(tree_.Read("without/without.h"), Not(HasSubstr("parallel_for")));
  EXPECT_THAT(tree_.Read("without/Makefile"), Not(HasSubstr("pthread")));
  EXPECT_THAT(tree_.Read("with/with.h"), HasSubstr("#define WITH_THREADS 4\n"));
}

// What a user does first, on as many threads as there are, and on fewer.
TEST_F(ThreadsTest, TheExampleSharesLoopsAmongThreads) {
  const Exported library = ExportShared("shared", "x86-64-linux", 3);
  tree_.Write("shared/input", library.inputs);
  const std::string cd = absl::StrCat("cd ", library.folder, " && ");
  for (const char* compiler : {"gcc", "clang-14"}) {
    Run(absl::StrCat(cd, "make -s clean && make -s CC=", compiler,
                     " CFLAGS='-O2 -Wall -Wextra -Werror -pedantic'"));
    const std::string alone = Run(cd + "build/example --threads 1 input");
    EXPECT_THAT(alone, AllOf(HasSubstr("y "), HasSubstr("z ")));
    EXPECT_EQ(Run(cd + "build/example --threads 2 input"), alone);
    EXPECT_EQ(Run(cd + "build/example input"), alone);
    const CommandResult many =
        RunCommand({.argv = {"/bin/sh", "-c", cd + "build/example --threads 4 input"}});
    EXPECT_FALSE(many.status.ok());
    EXPECT_THAT(many.err, HasSubstr("4 threads of 1 to 3"));
  }
  Run(cd + "cmake -S . -B made > log 2>&1 && cmake --build made >> log 2>&1");
  Run(cd + "made/shared_example --threads 2 input");
  for (const char* header : {"shared.h", "shared_threads.h"}) {
    Run(absl::StrCat(cd, "echo '#include \"", header,
                     "\"' > t.cc && g++ -std=c++11 -Wall -Wextra -Werror -pedantic -fsyntax-only "
                     "t.cc"));
  }
}

// The library's own memory is watched, and that of the pool; kernels are not built for it.
TEST_F(ThreadsTest, ThreadsDoNotRace) {
  const Exported library = ExportShared("net", "x86-64-linux", 4);
  tree_.Write("net/input", library.inputs);
  const std::string watched =
      absl::StrCat("cd ", library.folder,
                   " && make -s && build/example --threads 1 input > alone && "
                   "CC='clang-14 -g -O1 -std=c99 -Wall -Wextra -Werror -fsanitize=thread -pthread "
                   "-fuse-ld=lld-14 -I.' && ");
  Run(absl::StrCat(watched,
                   "$CC example/main.c net.c net_threads.c net_kernels.o net_weights.S "
                   "-o watched && ./watched input > together && cmp alone together"));
  for (const char* looks : {"500", "0"}) {
    Run(absl::StrCat(watched,
                     "$CC -DNAME=net -DHEADER='\"net_threads.h\"' -DTHREADS=NET_THREADS "
                     "-DNET_POOL_LOOKS=",
                     looks, " ", RunfilePath("tests/library/pool_driver.c"),
                     " net_threads.c -o pool && ./pool"));
  }
}

}  // namespace
}  // namespace slipway::testing
