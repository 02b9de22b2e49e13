// ONNX's own cases through server, compile worker and an agent of another architecture, run by an emulator. Debian's package libonnx-testdata has
// them; skipped without it.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"
#include "tests/conformance/expect_cases.h"
#include "tests/conformance/run_cases.h"
#include "tests/devices/emulated_agent.h"

namespace slipway::testing {
namespace {

constexpr char kCases[] = "/usr/share/libonnx-testdata/data/";

struct Board {
  std::string architecture;
  std::string target;
};

// Runs the cases of a folder whose names contain `which`; as many as `expected` must pass, and none fail.
void RunCasesOf(const Board& board, const std::string& folder, const std::string& which,
                size_t expected) {
  SCOPED_TRACE(folder);
  ASSERT_OK_AND_ASSIGN(const std::vector<BackendCase> cases,
                       FindBackendCases(kCases + folder, which));
  const TempTree tree;
  ASSERT_OK_AND_ASSIGN(const std::string agent,
                       WriteEmulatedAgent(board.architecture, tree.path()));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster,
                       Cluster::Start({.agent_binary = agent}));
  const std::vector<CaseResult> results =
      RunCases(cases,
               [&](const BackendCase& one) {
                 return RunBackendCase(one, *MakeServerEngine(cluster->address(), board.target),
                                       Tolerance());
               },
               {.jobs = 4});
  ExpectCasesPass(results, expected);
  EXPECT_OK(cluster->StopAll());
}

class EmulatedCasesTest : public ::testing::TestWithParam<Board> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kCases)) GTEST_SKIP() << kCases << " is not installed";
  }
};

INSTANTIATE_TEST_SUITE_P(Boards, EmulatedCasesTest,
                         ::testing::Values(Board{"arm-32", "arm-32-linux-neon"},
                                           Board{"arm-64", "arm-64-linux"}),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param.architecture, {{"-", "_"}});
                         });

// Kernels of every sort: lowered, linked in, with extents found while running, with bodies.
TEST_P(EmulatedCasesTest, Few) {
  RunCasesOf(GetParam(), "node",
             "test_(add$|relu|matmul_2d|conv_with|softmax_axis_1|nonzero|unique_sorted_without|if$|"
             "loop11|maxpool_2d_default|gru_defaults|strnormalizer_nostop|cast_STRING_to_FLOAT$)",
             14);
}

TEST_P(EmulatedCasesTest, All) {
  // No value is wrong. What is missing is refused by the compiler, whatever it compiles for: programs that a server's client asks for
  // know nothing of the elements of sequences that they are given.
  RunCasesOf(GetParam(), "node", "", 907);
  RunCasesOf(GetParam(), "pytorch-operator", "", 35);
  RunCasesOf(GetParam(), "pytorch-converted", "", 80);
  RunCasesOf(GetParam(), "simple", "", 22);
}

}  // namespace
}  // namespace slipway::testing
